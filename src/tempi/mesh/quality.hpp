// SPDX-License-Identifier: Apache-2.0
// Size and shape of cells, from their vertices (the straight simplex; mid-edge nodes are not looked at).
#pragma once

#include <cstdint>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

// Radius of the largest ball in the cell [m]: half the length of a line, area / half perimeter, 3 volume / surface.
double inradius(const Mesh& mesh, CellId cell);

// Fingerprint of points and cells (FNV-1a, 64 bits): tells whether two runs had the same mesh.
std::uint64_t fingerprint(const Mesh& mesh);

}  // namespace tempi
