// SPDX-License-Identifier: Apache-2.0
// A dual number a + b eps with eps^2 = 0: evaluated with it, a function delivers its derivative exactly.
// Functions are found by argument-dependent lookup, as kernels that are templates over the scalar expect.
#pragma once

#include <cmath>

namespace tempi::test {

struct Dual {
  double value = 0.0;
  double slope = 0.0;

  constexpr Dual() = default;
  constexpr explicit Dual(double v, double s = 0.0) : value(v), slope(s) {}
};

constexpr Dual operator+(Dual a, Dual b) { return Dual(a.value + b.value, a.slope + b.slope); }
constexpr Dual operator-(Dual a, Dual b) { return Dual(a.value - b.value, a.slope - b.slope); }
constexpr Dual operator-(Dual a) { return Dual(-a.value, -a.slope); }
constexpr Dual operator*(Dual a, Dual b) { return Dual(a.value * b.value, a.value * b.slope + a.slope * b.value); }
constexpr Dual operator/(Dual a, Dual b) {
  return Dual(a.value / b.value, (a.slope - a.value / b.value * b.slope) / b.value);
}
constexpr bool operator<(Dual a, Dual b) { return a.value < b.value; }
inline Dual log1p(Dual a) { return Dual(std::log1p(a.value), a.slope / (1.0 + a.value)); }

}  // namespace tempi::test
