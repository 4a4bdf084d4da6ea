// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/newton.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
  equations.correct = [&](const Eigen::VectorXd& R) -> Eigen::VectorXd { return R / (2.0 * z); };
  const auto guess = [](double x) { return Eigen::VectorXd(Eigen::VectorXd::Constant(1, x)); };
  const std::vector<Eigen::VectorXd> guesses = {guess(-1.0), guess(1.0)};
  EXPECT_NEAR(solve_newton(equations, guesses, 0.0).z(0), std::sqrt(2.0), 1e-14);
}

// f(z) = 0 from z = 1; how many slopes and corrections that took.
struct Counted {
  int matrices = 0;
  Index corrections = 0;
  double z = 0.0;
};
Counted solve(double (*f)(double), double (*slope)(double), double sought = 1e-14) {
  Counted counted;
  double z = 0.0, A = 0.0;
  StepEquations equations;
  equations.evaluate = [&](const Eigen::VectorXd& x) { return std::isfinite(z = x(0)); };
  equations.residual = [&] { return Eigen::VectorXd(Eigen::VectorXd::Constant(1, f(z))); };
  equations.scale = [] { return 1.0; };
  equations.sought = sought;
  equations.linearise = [&] {
    A = -slope(z);
    ++counted.matrices;
    return A != 0.0;
  };
  equations.correct = [&](const Eigen::VectorXd& R) -> Eigen::VectorXd { return R / A; };
  const StepSolution solution = solve_newton(equations, std::array{Eigen::VectorXd(Eigen::VectorXd::Ones(1))}, 0.0);
  counted.corrections = solution.iterations;
  counted.z = solution.z(0);
  return counted;
}

TEST(SolveNewton, KeepsAMatrixWhileItLeavesNoMoreThanATenth) {
  // z^2 = 1.1: with the slope at 1 a correction leaves |1 - z| = 0.05 of what there was.
  const auto near = [](double sought) {
    return solve([](double z) { return 1.1 - z * z; }, [](double z) { return -2.0 * z; }, sought);
  };
  const Counted kept = near(1e-14);
  EXPECT_EQ(kept.matrices, 1);
  EXPECT_GE(kept.corrections, 8);
  EXPECT_LE(kept.corrections, 12);
  EXPECT_NEAR(kept.z, std::sqrt(1.1), 1e-14);
  EXPECT_GT(near(0.0).matrices, 1);  // whoever wants the last digits gets new ones for them
  // z^2 = 2: with the slope at 1 it would be 0.4, with that at 1.5 it is 0.06.
  const Counted renewed = solve([](double z) { return 2.0 - z * z; }, [](double z) { return -2.0 * z; });
  EXPECT_GE(renewed.matrices, 2);
  EXPECT_LE(renewed.matrices, 3);
  EXPECT_NEAR(renewed.z, std::sqrt(2.0), 1e-14);
}

// Equations met again are not solved again; others that begin alike are.
TEST(SolveNewton, KnowsTheEquationsItSolvedLast) {
  LastSolution last;
  int matrices = 0;
  const auto root = [&](double square, double t0) {
    double z = 0.0;
    StepEquations equations;
    equations.evaluate = [&](const Eigen::VectorXd& x) { return std::isfinite(z = x(0)); };
    equations.residual = [&] { return Eigen::VectorXd(Eigen::VectorXd::Constant(1, square - z * z)); };
    equations.scale = [] { return 1.0; };
    equations.linearise = [&] { return ++matrices > 0; };
    equations.correct = [&](const Eigen::VectorXd& R) -> Eigen::VectorXd { return R / 2.0; };
    const StepSolution solution =
        solve_newton(equations, std::array{Eigen::VectorXd(Eigen::VectorXd::Ones(1))}, t0, &last);
    EXPECT_EQ(solution.z(0), z);  // the last that was evaluated
    return z;
  };
  const double first = root(1.1, 0.0);
  EXPECT_EQ(matrices, 1);
  EXPECT_EQ(root(1.1, 0.0), first);
  EXPECT_EQ(matrices, 1);
  EXPECT_NEAR(root(1.05, 0.0), std::sqrt(1.05), 1e-14);  // the same guess and time, another residual
  EXPECT_EQ(matrices, 2);
  EXPECT_EQ(root(1.1, 0.0), first);
  EXPECT_EQ(matrices, 3);
  EXPECT_EQ(root(1.1, 0.5), first);
  EXPECT_EQ(matrices, 4);
}

// Where the first guess has no value there is nothing to know equations by, though another has led to a solution.
TEST(SolveNewton, SolvesAgainWhereTheFirstGuessHadNoValue) {
  LastSolution last;
  const auto is_known = [&](bool first_has_value) {
    double z = 0.0;
    StepEquations equations;
    equations.evaluate = [&](const Eigen::VectorXd& x) { return (z = x(0)) != 1.0 || first_has_value; };
    equations.residual = [&] { return Eigen::VectorXd(Eigen::VectorXd::Constant(1, 2.0 - z * z)); };
    equations.scale = [] { return 2.0; };
    equations.correct = [&](const Eigen::VectorXd& R) -> Eigen::VectorXd { return R / (2.0 * z); };
    const auto at = [](double x) { return Eigen::VectorXd(Eigen::VectorXd::Constant(1, x)); };
    const StepSolution solution = solve_newton(equations, std::array{at(1.0), at(1.5)}, 0.0, &last);
    EXPECT_NEAR(solution.z(0), std::sqrt(2.0), 1e-14);
    return solution.known;
  };
  for (const bool first_has_value : {false, false, true}) EXPECT_FALSE(is_known(first_has_value));
  EXPECT_TRUE(is_known(true));
}

TEST(SparseFactors, AreThoseOfTheMatrixLastGiven) {
  for (const auto kind :
       {SparseFactors::Kind::positive, SparseFactors::Kind::symmetric, SparseFactors::Kind::general}) {
    SparseFactors factors(kind);
    const Eigen::VectorXd b = Eigen::VectorXd::Ones(2);
    for (const double last : {2.0, 2.0, 5.0, 0.0, 5.0, 2.0}) {  // again, another, a singular one, the one before that
      SparseFactors::Matrix A(2, 2);
      A.insert(0, 0) = 4.0;
      A.insert(1, 1) = last;
      A.makeCompressed();
      ASSERT_EQ(factors.factorise(A), last != 0.0);
      A.coeffRef(0, 0) = 1e9;  // what becomes of it does not matter
      if (last == 0.0) continue;
      EXPECT_LT((factors.solve(b) - Eigen::Vector2d(0.25, 1.0 / last)).norm(), 1e-15);
    }
  }
}

}  // namespace
}  // namespace tempi
