// SPDX-License-Identifier: Apache-2.0
// A dual number a + b eps with eps^2 = 0: evaluated with it, a function delivers its derivative exactly. Over doubles,
// or over packs of them. Functions are found by argument-dependent lookup, as templates over the scalar expect.
#pragma once

#include <cmath>

namespace tempi {

template <class T>
struct Dual {
  T value{};
  T slope{};

  constexpr Dual() = default;
  constexpr explicit Dual(double v) : value(v), slope(0.0) {}
  constexpr Dual(T v, T s) : value(v), slope(s) {}

  friend constexpr Dual operator+(const Dual& a, const Dual& b) { return {a.value + b.value, a.slope + b.slope}; }
  friend constexpr Dual operator-(const Dual& a, const Dual& b) { return {a.value - b.value, a.slope - b.slope}; }
  friend constexpr Dual operator-(const Dual& a) { return {-a.value, -a.slope}; }
  friend constexpr Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.value * b.slope + a.slope * b.value};
  }
  friend constexpr Dual operator/(const Dual& a, const Dual& b) {
    const T ratio = a.value / b.value;
    return {ratio, (a.slope - ratio * b.slope) / b.value};
  }
  friend constexpr bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
};

template <class T>
Dual<T> sqrt(const Dual<T>& a) {
  using std::sqrt;
  const T root = sqrt(a.value);
  return {root, a.slope / (root + root)};
}
template <class T>
Dual<T> round(const Dual<T>& a) {
  using std::round;
  return {round(a.value), T(0.0)};
}
template <class T>
Dual<T> log1p(const Dual<T>& a) {
  using std::log1p;
  return {log1p(a.value), a.slope / (T(1.0) + a.value)};
}
template <class T>
Dual<T> expm1(const Dual<T>& a) {
  using std::expm1;
  const T value = expm1(a.value);
  return {value, (value + T(1.0)) * a.slope};
}
template <class T>
Dual<T> atan2(const Dual<T>& y, const Dual<T>& x) {
  using std::atan2;
  return {atan2(y.value, x.value), (x.value * y.slope - y.value * x.slope) / (x.value * x.value + y.value * y.value)};
}

}  // namespace tempi
