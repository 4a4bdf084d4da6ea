// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/closest_points.hpp"

#include <algorithm>

namespace tempi {

ClosestPoints closest_points(SimplexPair pair, std::span<const std::array<double, 3>> x) {
  std::array<std::array<double, 3>, 4> places;
  std::copy_n(x.begin(), pair.size(), places.begin());
  return with_simplices(pair, [&]<int first, int second>() { return closest_points_of<first, second>(places); });
}

}  // namespace tempi
