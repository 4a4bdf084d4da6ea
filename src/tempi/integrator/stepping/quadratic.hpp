// SPDX-License-Identifier: Apache-2.0
// Roots of what moves uniformly or uniformly accelerated.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace tempi {

// The least s > 0 at which f0 + f1 s + f2 s^2 = 0; infinite where there is none. Without cancellation.
inline double first_positive_root(double f0, double f1, double f2) {
  constexpr double never = std::numeric_limits<double>::infinity();
  if (f2 == 0.0) return -f0 / f1 > 0.0 ? -f0 / f1 : never;
  const double discriminant = f1 * f1 - 4.0 * f2 * f0;
  if (discriminant < 0.0) return never;
  const double q = -0.5 * (f1 + std::copysign(std::sqrt(discriminant), f1));
  double first = never;
  for (const double s : {q / f2, f0 / q})
    if (s > 0.0) first = std::min(first, s);
  return first;
}

}  // namespace tempi
