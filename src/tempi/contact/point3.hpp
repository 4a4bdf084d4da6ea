// SPDX-License-Identifier: Apache-2.0
// Places and directions in space whose components are numbers T: doubles, packs of them, such that carry derivatives.
#pragma once

#include <array>

#include "tempi/core/cross.hpp"

namespace tempi {

template <class T>
using Point3 = std::array<T, 3>;

template <class T>
Point3<T> operator-(const Point3<T>& a, const Point3<T>& b) {
  return {T(a[0] - b[0]), T(a[1] - b[1]), T(a[2] - b[2])};
}
template <class T>
T dot(const Point3<T>& a, const Point3<T>& b) {
  return T(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

}  // namespace tempi
