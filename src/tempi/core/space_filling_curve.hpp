// SPDX-License-Identifier: Apache-2.0
// Places along a Hilbert curve: points near each other in space come near each other in the order of their keys.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tempi {

// One key per point (`dim` = 1, 2 or 3 coordinates each, finite) within the points' bounding box; equal for points
// closer than 2^-20 of its longest side.
std::vector<std::uint64_t> hilbert_keys(std::span<const double> points, int dim);

}  // namespace tempi
