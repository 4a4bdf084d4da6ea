// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace tempi {

// x cross p; of vectors in a plane only the last component can differ from zero.
template <class T>
constexpr std::array<T, 3> cross(const std::array<T, 3>& x, const std::array<T, 3>& p) {
  return {T(x[1] * p[2] - x[2] * p[1]), T(x[2] * p[0] - x[0] * p[2]), T(x[0] * p[1] - x[1] * p[0])};
}

}  // namespace tempi
