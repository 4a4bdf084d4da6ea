// SPDX-License-Identifier: Apache-2.0
// A running sum whose rounding error does not grow with the number of terms (Neumaier's compensated summation).
// For what is booked millions of times: impulses and work. Loses its point under -ffast-math.
#pragma once

#include <cmath>

namespace tempi {

class CompensatedSum {
 public:
  CompensatedSum& operator+=(double x) {
    const double sum = sum_ + x;
    correction_ += std::abs(sum_) >= std::abs(x) ? (sum_ - sum) + x : (x - sum) + sum_;
    sum_ = sum;
    return *this;
  }
  double value() const { return sum_ + correction_; }
  friend bool operator==(const CompensatedSum&, const CompensatedSum&) = default;

 private:
  double sum_ = 0.0, correction_ = 0.0;
};

}  // namespace tempi
