// SPDX-License-Identifier: Apache-2.0
// What an eigenvalue of M^-1 K says about explicit steps.
#pragma once

#include <cmath>
#include <limits>

namespace tempi {

// 2 / omega [s] of the largest eigenvalue omega^2; infinite where nothing is stiff, NaN where it is none.
inline double step_of_eigenvalue(double largest) {
  if (std::isnan(largest)) return largest;
  return largest > 0.0 ? 2.0 / std::sqrt(largest) : std::numeric_limits<double>::infinity();
}

inline constexpr double step_rounding = 1e-9;  // a step at its limit to rounding counts as stable

}  // namespace tempi
