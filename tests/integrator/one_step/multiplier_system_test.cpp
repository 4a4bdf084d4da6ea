// SPDX-License-Identifier: Apache-2.0
// J_1 W J_0^T lambda = r solved as it is and bordered, beside the dense matrix.
#include "tempi/integrator/one_step/multiplier_system.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "support/measure.hpp"

namespace tempi::test {
namespace {

using Matrix = MultiplierSystem::Matrix;

// Of `constraints` that each touch a component of their own, and all of them the first three: a star; or a chain.
Matrix gradients(Index constraints, bool star, std::uint64_t seed) {
  Random random(seed);
  std::vector<Eigen::Triplet<double>> entries;
  for (Index c = 0; c < constraints; ++c) {
    entries.emplace_back(c + 3, c, random.uniform(1.5, 3.0));
    for (Index i = 0; i < 3; ++i) entries.emplace_back(star ? i : c + i, c, random.uniform(-0.4, 0.4));
  }
  Matrix Jt(constraints + 3, constraints);
  Jt.setFromTriplets(entries.begin(), entries.end());
  return Jt;
}

TEST(MultiplierSystem, HasTheSolutionOfTheDenseMatrix) {
  for (const bool star : {true, false})
    for (const bool symmetric : {true, false}) {
      SCOPED_TRACE(testing::Message() << star << symmetric);
      const Index m = 120;
      const Matrix J0t = gradients(m, star, 1), J1t = symmetric ? J0t : gradients(m, star, 2);
      Random random(3);
      Eigen::VectorXd W(m + 3), r(m);
      for (double& w : W) w = 1e20 * random.uniform(0.1, 4.0);
      W(1) = 0.0;  // held
      if (star) W(40) = 0.0;
      for (double& value : r) value = random.uniform(-1.0, 1.0);
      MultiplierSystem system(symmetric, J0t);
      EXPECT_EQ(system.is_bordered(), star);
      const Matrix by_impulse = W.asDiagonal() * J0t;
      ASSERT_TRUE(system.factorise(J1t, by_impulse));
      const Eigen::MatrixXd dense = Eigen::MatrixXd(J1t).transpose() * Eigen::MatrixXd(by_impulse);
      const Eigen::VectorXd exact = dense.fullPivLu().solve(r), solved = system.solve(r);
      EXPECT_LT((solved - exact).norm(), 1e-11 * exact.norm());
    }
}

TEST(MultiplierSystem, TellsThatItIsSingular) {
  Matrix Jt = gradients(120, true, 1);
  const Eigen::VectorXd W = Eigen::VectorXd::Ones(Jt.rows());
  MultiplierSystem system(true, Jt);
  ASSERT_TRUE(system.is_bordered());
  EXPECT_TRUE(system.factorise(Jt, W.asDiagonal() * Jt));
  for (const Index c : {7, 8}) {  // one is the other
    Jt.coeffRef(c + 3, c) = 0.0;
    for (Index i = 0; i < 3; ++i) Jt.coeffRef(i, c) = static_cast<double>(i + 1);
  }
  EXPECT_FALSE(system.factorise(Jt, W.asDiagonal() * Jt));
}

}  // namespace
}  // namespace tempi::test
