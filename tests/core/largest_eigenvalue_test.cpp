// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/largest_eigenvalue.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <random>

namespace tempi {
namespace {

using Matrix = Eigen::MatrixXd;

// Q diag(values) Q^T of an orthogonal Q.
Matrix with_eigenvalues(const Eigen::VectorXd& values, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const Matrix A = Matrix::NullaryExpr(values.size(), values.size(), [&] { return normal(random); });
  const Matrix Q = Eigen::HouseholderQR<Matrix>(A).householderQ();
  const Matrix S = Q * values.asDiagonal() * Q.transpose();
  return 0.5 * (S + S.transpose());
}

TEST(LargestEigenvalue, is_the_one_a_matrix_was_made_of) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::uniform_int_distribution<int> rows(1, 30), scale(-200, 200), again(1, 4);
  for (int k = 0; k < 3000; ++k) {
    const int n = rows(random);
    const double unit = std::pow(10.0, scale(random));
    Eigen::VectorXd values = Eigen::VectorXd::NullaryExpr(n, [&] { return uniform(random); });
    if (k % 3 == 0) values = values.cwiseMax(0.0);             // as stiffnesses are
    if (k % 5 == 0) values.array() = values.array().pow(3.0);  // over orders of magnitude
    values *= unit;
    const double largest = values.maxCoeff(), size = values.cwiseAbs().maxCoeff();
    for (int i = 0; i < std::min(n, again(random)); ++i) values(i) = largest;  // as symmetric elements have them
    EXPECT_NEAR(largest_eigenvalue(with_eigenvalues(values, random)), largest, 3e-14 * size) << n << " rows";
  }
}

TEST(LargestEigenvalue, of_what_falls_apart) {
  EXPECT_EQ(largest_eigenvalue(Matrix(Matrix::Zero(9, 9))), 0.0);
  EXPECT_EQ(largest_eigenvalue(Matrix(-2.0 * Matrix::Identity(30, 30))), -2.0);
  EXPECT_EQ(largest_eigenvalue(Matrix(Matrix::Constant(1, 1, 7.0))), 7.0);
  const Eigen::Vector4d diagonal(3.0, 1.0, 1.0, 3.0);
  EXPECT_NEAR(largest_eigenvalue_of_tridiagonal(diagonal, Eigen::Vector3d(0.0, 1.0, 0.0)), 3.0, 1e-15);
  EXPECT_NEAR(largest_eigenvalue_of_tridiagonal(diagonal, Eigen::Vector3d(0.0, 3.0, 0.0)), 4.0, 1e-15);
}

TEST(LargestEigenvalue, is_no_number_where_a_component_is_none) {
  Matrix A = Matrix::Identity(6, 6);
  A(3, 2) = A(2, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(largest_eigenvalue(A)));
  A(3, 2) = A(2, 3) = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(largest_eigenvalue(A)));
}

}  // namespace
}  // namespace tempi
