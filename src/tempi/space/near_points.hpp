// SPDX-License-Identifier: Apache-2.0
// The kernel of neighbour searches: which of some points are within a distance of one.
//
// Differences of positions are brought between nearest images by  d - L round(d / L),  with L = 1/L = 0 along an axis
// that does not repeat.
#pragma once

#include <array>
#include <cstdint>

#include "tempi/core/ids.hpp"

namespace tempi {

struct PackedBox {
  std::array<double, 3> length{}, inverse{};
};

// Points in a cell, by component. Room for one more pack behind the last.
struct CellPoints {
  const double *x, *y, *z;
  const std::int32_t* ids;
};
// Writes the ids of those of `count` points that are within the distance sqrt(reach2) of `point`; returns how many.
// `found` needs room for one more pack.
using NearKernel = Index (*)(const CellPoints& points, Index count, const double* point, double reach2,
                             const PackedBox& box, std::int32_t* found);

// Of the instruction set with packs of W doubles; of the one in use.
template <int W>
NearKernel near_kernel_of();
NearKernel near_kernel();

}  // namespace tempi
