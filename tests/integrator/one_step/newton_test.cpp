// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/newton.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tempi {
namespace {

// The third and the fourth of six are joined to each other only.
TEST(SingularComponents, AreThoseThatNothingHolds) {
  SparseFactors::Matrix A(6, 6);
  for (const int i : {0, 1, 4, 5}) A.coeffRef(i, i) = 2.0 + 0.1 * i;
  A.coeffRef(2, 2) = A.coeffRef(3, 3) = 1.0;  // joined to each other only
  A.coeffRef(2, 3) = A.coeffRef(3, 2) = -1.0;
  A.coeffRef(0, 1) = A.coeffRef(1, 0) = -0.5;
  A.makeCompressed();
  std::vector<Index> found = singular_components(A, 2);
  std::ranges::sort(found);
  EXPECT_EQ(found, (std::vector<Index>{2, 3}));
  EXPECT_EQ(singular_components(A, 10).size(), 6U);
}

// The first of the guesses that leads to a solution is taken; what is left is below what was sought.
TEST(SolveNewton, GoesOnFromTheNextGuess) {
  double z = 0.0;
  StepEquations equations;
  equations.evaluate = [&](const Eigen::VectorXd& x) { return (z = x(0)) > 0.0; };  // nothing at or below zero
  equations.residual = [&] { return Eigen::VectorXd(Eigen::VectorXd::Constant(1, 2.0 - z * z)); };
  equations.scale = [] { return 2.0; };
  equations.correct = [&](const Eigen::VectorXd& R) { return std::optional(Eigen::VectorXd(R / (2.0 * z))); };
  const auto guess = [](double x) { return Eigen::VectorXd(Eigen::VectorXd::Constant(1, x)); };
  const std::vector<Eigen::VectorXd> guesses = {guess(-1.0), guess(1.0)};
  EXPECT_NEAR(solve_newton(equations, guesses, 0.0).z(0), std::sqrt(2.0), 1e-14);
}

}  // namespace
}  // namespace tempi
