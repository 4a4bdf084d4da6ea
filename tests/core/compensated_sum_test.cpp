// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/compensated_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/meshes.hpp"

namespace tempi {
namespace {

double compensated(const std::vector<double>& values) {
  CompensatedSum sum;
  for (const double v : values) sum += v;
  return sum.value();
}

TEST(CompensatedSum, of_nothing_is_zero) { EXPECT_EQ(CompensatedSum().value(), 0.0); }

// The case that defeats Kahan's summation and not Neumaier's.
TEST(CompensatedSum, keeps_a_small_term_between_two_large_ones) {
  EXPECT_EQ(compensated({1.0, 1e100, 1.0, -1e100}), 2.0);
}

// 1e6 terms of 2^-53 each are lost one by one in a plain sum.
TEST(CompensatedSum, keeps_what_a_plain_sum_loses_term_by_term) {
  std::vector<double> values(1000001, 0x1p-53);
  values[0] = 1.0;
  double plain = 0.0;
  for (const double v : values) plain += v;
  EXPECT_EQ(plain, 1.0);
  EXPECT_EQ(compensated(values), 1.0 + 1e6 * 0x1p-53);
}

// Integers over a power of two sum exactly in long double: the error must stay at one rounding however many terms.
TEST(CompensatedSum, error_does_not_grow_with_the_number_of_terms) {
  test::Random random(5);
  std::vector<double> values(100000);
  long double exact = 0.0L;
  for (double& v : values) exact += v = std::ldexp(static_cast<double>(random.below(Index{1} << 45)), -20);
  EXPECT_NEAR(compensated(values), static_cast<double>(exact), 2e-16 * static_cast<double>(exact));
}

TEST(CompensatedSum, is_equal_only_to_one_with_the_same_correction) {
  CompensatedSum a, b;
  a += 1.0;
  b += 1.0;
  EXPECT_EQ(a, b);
  b += 1e-30;
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace tempi
