// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

namespace tempi {

// Ascending, each value once. (std::ranges::unique is more than clang 14 understands of this standard library.)
template <class T>
void make_distinct(std::vector<T>& values) {
  if (!std::ranges::is_sorted(values)) std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace tempi
