// SPDX-License-Identifier: Apache-2.0
// Size and shape of cells. Sizes are those of the straight simplex of the vertices.
#pragma once

#include <cstdint>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

// Radius of the largest ball in the cell [m]: half the length of a line, area / half perimeter, 3 volume / surface.
double inradius(const Mesh& mesh, CellId cell);

// Whether the mid-edge nodes lie in the middle of straight edges, to 1e-12 of the longest edge. True for linear cells.
bool is_straight(const Mesh& mesh, CellId cell);

double longest_edge(const Mesh& mesh, CellId cell);  // between vertices [m]

// Fingerprint of points and cells: tells whether two runs had the same mesh.
std::uint64_t fingerprint(const Mesh& mesh);

}  // namespace tempi
