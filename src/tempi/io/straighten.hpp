// SPDX-License-Identifier: Apache-2.0
// Cells of second order on curved geometry that come out folded: where an arc takes more of a cell than it can bend.
#pragma once

#include "tempi/mesh/mesh.hpp"

namespace tempi {

// Puts the mid-edge nodes of cells (6-node triangles, 10-node tetrahedra) whose Jacobian determinant is not above a
// twentieth of the straight cell's at vertices, mid-edges and quadrature points in the middle of their edges; again,
// until no such cell is left. How many are straight now is a warning of the mesh.
void straighten_folded(MeshData& mesh);

}  // namespace tempi
