// SPDX-License-Identifier: Apache-2.0
// The order of mid-edge nodes, judged by geometry: each should lie near the middle of its own edge. File formats
// disagree about this order and programs disagree about the formats; a wrong order gives no error, only wrong forces.
//
// For all cells of a type together the order as read is compared with the other one in use (10-node tetrahedra: the
// last two nodes swapped; 6-node triangles: node i opposite vertex i; 3-node lines: the middle node second), and the
// better one is taken. Then every cell must agree with it. A mid-edge node may lie up to 0.4 edge lengths off the
// middle (a circular arc of 150 degrees); beyond a quarter the mapping of the element degenerates in most shapes.
#pragma once

#include <string>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

// Throws InputError naming `file`, the cell's label and its centroid if a cell fits neither order, or not its type's.
void settle_mid_node_order(MeshData& mesh, const std::string& file);

}  // namespace tempi
