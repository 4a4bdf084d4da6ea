// SPDX-License-Identifier: Apache-2.0
#include "tempi/simd/matrix_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tempi {
namespace {

// Against sums in long double, to the rounding of as many terms; what was in C does not matter.
TEST(MatrixProduct, is_the_sum_of_products_for_any_size) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const MatrixProduct multiply = matrix_product();
  for (const Index n : {1, 2, 3, 7, 8, 9, 16, 31, 48, 63, 64, 65, 130}) {
    const auto size = static_cast<std::size_t>(n * n);
    std::vector<double> A(size), B(size), C(size, std::numeric_limits<double>::quiet_NaN());
    for (double& a : A) a = normal(random);
    for (double& b : B) b = normal(random);
    multiply(-2.5, A.data(), B.data(), n, C.data());
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        long double sum = 0.0L, of_magnitudes = 0.0L;
        for (Index k = 0; k < n; ++k) {
          const long double term =
              static_cast<long double>(A[static_cast<std::size_t>(i + k * n)]) * B[static_cast<std::size_t>(k + j * n)];
          sum += term;
          of_magnitudes += std::abs(term);
        }
        const long double limit = 2.5L * of_magnitudes * static_cast<long double>(n + 2) * 1.2e-16L;
        EXPECT_LE(std::abs(C[static_cast<std::size_t>(i + j * n)] + 2.5L * sum), limit) << n << " rows";
      }
  }
}

}  // namespace
}  // namespace tempi
