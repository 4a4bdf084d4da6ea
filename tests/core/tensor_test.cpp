// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/tensor.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/meshes.hpp"
#include "tempi/core/dual.hpp"

namespace tempi {
namespace {

using Derivative = Dual<double>;

template <int D>
Mat<double, D> random_matrix(test::Random& random, double size) {
  Mat<double, D> m;
  for (double& v : m.a) v = random.uniform(-size, size);
  return m;
}

// det(I + H) - 1 - tr H in long double, by the Leibniz formula for det.
template <int D>
long double beyond_linear(const Mat<double, D>& H) {
  const auto f = [&](int i, int j) { return static_cast<long double>(H(i, j)) + (i == j ? 1.0L : 0.0L); };
  if constexpr (D == 1) {
    return f(0, 0) - 1.0L - H(0, 0);
  } else if constexpr (D == 2) {
    return f(0, 0) * f(1, 1) - f(0, 1) * f(1, 0) - 1.0L - H(0, 0) - H(1, 1);
  } else {
    const long double det = f(0, 0) * f(1, 1) * f(2, 2) + f(0, 1) * f(1, 2) * f(2, 0) + f(0, 2) * f(1, 0) * f(2, 1) -
                            f(0, 2) * f(1, 1) * f(2, 0) - f(0, 1) * f(1, 0) * f(2, 2) - f(0, 0) * f(1, 2) * f(2, 1);
    return det - 1.0L - H(0, 0) - H(1, 1) - H(2, 2);
  }
}

template <class T>
class Tensor : public testing::Test {};
template <int D>
struct Dimension {
  static constexpr int value = D;
};
using Dimensions = testing::Types<Dimension<1>, Dimension<2>, Dimension<3>>;
TYPED_TEST_SUITE(Tensor, Dimensions);

TYPED_TEST(Tensor, cofactor_times_transpose_is_the_determinant) {
  constexpr int D = TypeParam::value;
  test::Random random(1);
  for (int trial = 0; trial < 50; ++trial) {
    const auto F = random_matrix<D>(random, 2.0);
    const auto product = cofactor(F) * transpose(F);
    const double J = determinant(F);
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) EXPECT_NEAR(product(i, j), i == j ? J : 0.0, 1e-13);
  }
}

TYPED_TEST(Tensor, cofactor_is_the_derivative_of_the_determinant) {
  constexpr int D = TypeParam::value;
  test::Random random(2);
  const auto F = random_matrix<D>(random, 2.0);
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      Mat<Derivative, D> moved;
      for (std::size_t k = 0; k < F.a.size(); ++k) moved.a[k] = Derivative(F.a[k]);
      moved(i, j).slope = 1.0;
      EXPECT_NEAR(determinant(moved).slope, cofactor(F)(i, j), 1e-14);
    }
}

TYPED_TEST(Tensor, determinant_of_a_product_is_the_product_of_determinants) {
  constexpr int D = TypeParam::value;
  test::Random random(3);
  const auto A = random_matrix<D>(random, 2.0), B = random_matrix<D>(random, 2.0);
  EXPECT_NEAR(determinant(A * B), determinant(A) * determinant(B), 1e-13 * 8.0);
  EXPECT_EQ(determinant(identity<double, D>()), 1.0);
}

TYPED_TEST(Tensor, inner_product_is_the_trace_of_the_transposed_product) {
  constexpr int D = TypeParam::value;
  test::Random random(4);
  const auto A = random_matrix<D>(random, 1.0), B = random_matrix<D>(random, 1.0);
  EXPECT_NEAR(inner(A, B), trace(transpose(A) * B), 1e-14);
  EXPECT_NEAR(trace(A * B), trace(B * A), 1e-14);
}

// Where J - 1 is of order one, long double loses nothing that matters; the sum of at most 5 terms rounds to 1e-15.
TYPED_TEST(Tensor, determinant_beyond_linear_completes_the_determinant) {
  constexpr int D = TypeParam::value;
  test::Random random(5);
  for (int trial = 0; trial < 50; ++trial) {
    const auto H = random_matrix<D>(random, 0.8);
    EXPECT_NEAR(determinant_beyond_linear(H), static_cast<double>(beyond_linear(H)), 3e-15);
  }
}

// At strains of 1e-5 the second-order part is 1e-10 of the determinant: long double still gives it to 1e-9, a
// difference of doubles to 1e-6 only.
TYPED_TEST(Tensor, determinant_beyond_linear_keeps_its_digits_at_small_strain) {
  constexpr int D = TypeParam::value;
  test::Random random(6);
  for (int trial = 0; trial < 50; ++trial) {
    const auto H = random_matrix<D>(random, 1e-5);
    EXPECT_NEAR(determinant_beyond_linear(H), static_cast<double>(beyond_linear(H)), 1e-18);
  }
}

// Exactly homogeneous in 2-D: scaling by a power of two must scale every bit.
TEST(Tensor2, determinant_beyond_linear_is_the_determinant_of_the_gradient) {
  test::Random random(7);
  const auto H = random_matrix<2>(random, 1.0);
  EXPECT_EQ(determinant_beyond_linear(0x1p-30 * H), 0x1p-60 * determinant_beyond_linear(H));
}

}  // namespace
}  // namespace tempi
