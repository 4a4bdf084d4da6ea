// SPDX-License-Identifier: Apache-2.0
// The kernel of near_points.hpp. Include in near_points_*.cpp, and in kernels that want the nearest image, only: once
// per instruction set.
#pragma once

#include "tempi/simd/pack_functions.hpp"
#include "tempi/space/near_points.hpp"

namespace tempi {

template <class P>
inline P nearest_image(P d, double length, double inverse) {
  return d - P(length) * round(d * P(inverse));
}

template <int W>
[[gnu::flatten]] Index near_points(const CellPoints& points, Index count, const double* point, double reach2,
                                   const PackedBox& box, std::int32_t* found) {
  using P = Pack<W>;
  Index size = 0;
  for (Index k = 0; k < count; k += W) {
    const std::array<P, 3> at = {P::read(points.x + k), P::read(points.y + k), P::read(points.z + k)};
    P r2(0.0);
    for (std::size_t c = 0; c < 3; ++c) {
      const P w = nearest_image(at[c] - P(point[c]), box.length[c], box.inverse[c]);
      r2 = r2 + w * w;
    }
    const auto near = (r2.v <= P(reach2).v) & first_lanes<W>(count - k);
    size += compress<W>(points.ids + k, near, found + size);
  }
  return size;
}

template <int W>
NearKernel near_kernel_of() {
  return near_points<W>;
}

}  // namespace tempi
