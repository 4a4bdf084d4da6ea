// SPDX-License-Identifier: Apache-2.0
// How often steps of each length were taken, in quarters of powers of two: 2^e (1 + k/4) to 2^e (1 + (k + 1)/4).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "tempi/integrator/integrator.hpp"

namespace tempi {

class StepCounts {
 public:
  void add(double step) {  // >= 0 [s]
    // A double's exponent and the first two bits behind its point are the number of its quarter.
    const auto quarter = static_cast<Index>(std::bit_cast<std::uint64_t>(step) >> 50) - 4 * (1023 + lowest);
    ++counts_[static_cast<std::size_t>(std::clamp<Index>(quarter + 1, 0, size - 1))];
  }

  // From the shortest to the longest there was; what is shorter than 2^-100 s is in a first one from 0.
  Integrator::StepHistogram histogram(std::string of) const {
    std::size_t first = 0, last = counts_.size();
    while (last > 0 && counts_[last - 1] == 0) --last;
    while (first < last && counts_[first] == 0) ++first;
    Integrator::StepHistogram found{std::move(of), {}, {&counts_[0] + first, &counts_[0] + last}};
    for (std::size_t i = first; i <= last && first < last; ++i)
      found.edges.push_back(
          i == 0 ? 0.0
                 : std::ldexp(1.0 + 0.25 * static_cast<double>((i - 1) % 4), lowest + static_cast<int>((i - 1) / 4)));
    return found;
  }

 private:
  static constexpr int lowest = -100;
  static constexpr Index size = 4 * 150 + 1;
  std::array<Index, size> counts_{};
};

}  // namespace tempi
