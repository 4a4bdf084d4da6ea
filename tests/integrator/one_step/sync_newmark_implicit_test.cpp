// SPDX-License-Identifier: Apache-2.0
// Newmark's family, held to what is known of it: exact amplification, order, stability, and the potential in which it
// is velocity Verlet.
#include "tempi/integrator/one_step/sync_newmark_implicit.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "support/sync.hpp"
#include "tempi/pair/pair_sum.hpp"

namespace tempi::test {
namespace {

MakeStepper newmark(double beta, double gamma) {
  return [=](const Model& model, double h) { return std::make_unique<SyncNewmarkImplicit>(model, h, beta, gamma); };
}

TEST(NewmarkImplicit, IsOfOrder2ForGammaOfOneHalf) {
  for (const double beta : {0.0, 1.0 / 6.0, 0.25, 0.4}) {
    SCOPED_TRACE(beta);
    const auto [u, v] = orders_on_the_chain(newmark(beta, 0.5), 0.15);
    EXPECT_NEAR(u, 2.0, 0.1);
    EXPECT_NEAR(v, 2.0, 0.1);
  }
}

TEST(NewmarkImplicit, IsOfOrder1ForOtherGamma) {
  for (const double gamma : {0.4, 0.6, 1.0}) {
    SCOPED_TRACE(gamma);
    const auto [u, v] = orders_on_the_chain(newmark(0.3, gamma), 0.02);
    EXPECT_NEAR(u, 1.0, 0.1);
    EXPECT_NEAR(v, 1.0, 0.1);
  }
}

// An oscillator: q_j = q_0 cos(j theta), cos theta = 1 - x^2/2 / (1 + beta x^2), x = omega h.
TEST(NewmarkImplicit, TurnsAnOscillatorByItsOwnAngle) {
  const auto model = line_of_masses({1.0, 0.6}, 0.0);
  const double omega = std::sqrt(2.0 * (1.0 / 1.0 + 1.0 / 0.6));
  for (const double beta : {0.0, 1.0 / 6.0, 0.25, 0.5})
    for (const double x : {0.3, 1.0, 1.9}) {
      SCOPED_TRACE(fmt::format("beta {}, omega h {}", beta, x));
      const double theta = std::acos(1.0 - 0.5 * x * x / (1.0 + beta * x * x));
      SyncNewmarkImplicit method(*model, x / omega, beta, 0.5);
      State state = reference_state(*model);
      state.displacement = {0.03, -0.05};
      for (int j = 1; j <= 50; ++j) {
        method.advance_to(state, j * x / omega);
        const State at = method.synchronized(state, j * x / omega).state;
        EXPECT_NEAR(at.displacement[0], 0.03 * std::cos(j * theta), 1e-12);
        EXPECT_NEAR(at.displacement[1], -0.05 * std::cos(j * theta), 1e-12);
      }
    }
}

TEST(NewmarkImplicit, OfBetaZeroIsExplicitNewmark) {
  const Body body =
      make_body_with(triangle_mesh(CellType::triangle3, 3, 0.12, 21), NeoHookean{{1.3, 0.7}}, 1.2,
                     [](const Mesh& m, Model::Parts& parts) {
                       parts.supports = one_support(m, moving("left", nodes_of(m, "left"), {"0.02*sin(3*t)", "0"}, 2));
                       add_force(parts, make_gravity(m, cells_of(parts), {}, formulas({"0.1", "-0.3*cos(t)"}, 2)));
                     });
  const double h = 0.5 * smallest(own_steps(*body.model, 1.0));
  SyncNewmark leapfrog(*body.model, h);
  SyncNewmarkImplicit method(*body.model, h, 0.0, 0.5);
  State a = moving_state(body, 0.1, 0.02, 5), b = a;
  for (int j = 1; j <= 100; ++j) {
    leapfrog.advance_to(a, j * h);
    method.advance_to(b, j * h);
    const State x = leapfrog.synchronized(a, j * h).state, y = method.synchronized(b, j * h).state;
    EXPECT_LT(largest_difference(x.displacement, y.displacement), 1e-13);
    EXPECT_LT(largest_difference(x.velocity, y.velocity), 1e-13);
  }
}

// The trapezoidal rule keeps quadratic energies exactly, at any step.
TEST(NewmarkImplicit, OfOneQuarterKeepsTheEnergyOfALinearModelAt50TimesTheLimit) {
  const Body body = chain();
  const double h = 50.0 * stable_limit(*body.model);
  SyncNewmarkImplicit method(*body.model, h, 0.25, 0.5);
  State state = smooth_motion(body);
  const Balance balance = run_and_balance(*body.model, method, state, 1000 * h, 200);
  EXPECT_LT(balance.energy().band, 1e-9);  // forces of (omega h)^2 = 1e4 are rounded in each of 1000 steps
}

TEST(NewmarkImplicit, OfSmallBetaIsUnstableBeyondItsLimit) {
  const auto model = line_of_masses({1.0, 1.0, 0.6}, 0.0);
  const double limit = stable_limit(*model) / std::sqrt(1.0 - 4.0 * 0.1);  // omega h = 1 / sqrt(1/4 - beta)
  for (const double part : {0.99, 1.01}) {
    SyncNewmarkImplicit method(*model, part * limit, 0.1, 0.5);
    State state = moving_masses(*model);
    double farthest = 0.0;  // particles that pass through each other may come back
    for (int j = 1; j <= 300; ++j) {
      method.advance_to(state, (j + 0.5) * part * limit);
      farthest = std::max(farthest, std::abs(state.displacement[1] - state.displacement[0]));
    }
    EXPECT_EQ(farthest < 10.0, part < 1.0) << farthest;
  }
}

// In x = q - beta h^2 a and v it is velocity Verlet in an invariant potential.
// All pairs as one term with a stiffness in pieces: Newton's method needs as few evaluations as with separate pairs.
TEST(NewmarkImplicit, SolvesSumsOfPairsAsItSolvesPairs) {
  std::vector<double> reference;
  for (int i = 0; i < 27; ++i)
    for (const int c : {i % 3, i / 3 % 3, i / 9}) reference.push_back(1.1 * c);
  const auto run = [&](bool together, double step) {
    Model::Parts parts;
    parts.reference = reference;
    parts.mass.assign(27, 1.0);
    parts.shares = MassShares::balanced;
    const LennardJones law{1.0, 1.0, 2.0};
    std::vector<NodeId> nodes;
    for (Index a = 0; a < 27; ++a) nodes.push_back(make_id<NodeId>(a));
    if (together)
      parts.add(make_pair_sum(reference, 3, parts.mass, nodes, law));
    else
      parts.add(make_pairs(reference, 3, parts.mass, all_pairs(27), law));
    const Model model(std::move(parts));
    SyncNewmarkImplicit newmark(model, step, 0.25, 0.5);
    State state = reference_state(model);
    for (std::size_t i = 0; i < state.velocity.size(); ++i) state.velocity[i] = 0.3 * std::sin(3.0 * double(i));
    newmark.advance_to(state, 20.5 * step);
    return std::pair(newmark.measures().front().second, state);
  };
  for (const double step : {0.02, 0.1}) {
    const auto [evaluations, motion] = run(true, step);
    const auto [separate, expected] = run(false, step);
    EXPECT_LE(evaluations, 1.1 * separate) << step;
    EXPECT_LT(largest_difference(motion.displacement, expected.displacement), 1e-9) << step;
  }
}

TEST(NewmarkImplicit, KeepsTheAngularMomentumOfItsOwnPositions) {
  const auto model = spring_model(3.0);
  const double h = 0.5 * stable_limit(*model);
  for (const double beta : {0.1, 0.25}) {
    SyncNewmarkImplicit method(*model, h, beta, 0.5);
    State state = spinning_springs(*model);
    double least = 1e9, most = -1e9;
    for (int j = 0; j <= 300; ++j) {
      const Snapshot now = method.synchronized(state, j * h);
      State moved = now.state;
      for (std::size_t i = 0; i < now.force.size(); ++i)
        moved.displacement[i] -= beta * h * h * now.force[i] / model->mass()[i / 2];
      const double L = momenta(*model, moved).angular[2];
      least = std::min(least, L), most = std::max(most, L);
      method.advance_to(state, (j + 1) * h);
    }
    EXPECT_LT(most - least, 1e-12) << beta;
  }
}

TEST(NewmarkImplicit, KeepsAngularMomentumItselfForBetaZeroOnly) {
  const auto model = spring_model(3.0);
  const double h = 0.5 * stable_limit(*model);
  for (const double beta : {0.0, 0.25}) {
    SyncNewmarkImplicit method(*model, h, beta, 0.5);
    State state = spinning_springs(*model);
    const Balance balance = run_and_balance(*model, method, state, 2000 * h, 500);
    EXPECT_LT(balance.linear_momentum().error, 1e-13);
    if (beta == 0.0) {
      EXPECT_LT(balance.angular_momentum().error, 1e-12);
    } else {
      EXPECT_GT(balance.angular_momentum().error, 1e-4);
      EXPECT_LT(balance.angular_momentum().error, 0.1);
    }
  }
}

TEST(NewmarkImplicit, KeepsEnergyInABandForGammaOfOneHalfOnly) {
  const auto model = spring_model(3.0);
  const double h = 0.3 * stable_limit(*model);
  for (const double gamma : {0.5, 0.55}) {
    SyncNewmarkImplicit method(*model, h, 0.28, gamma);
    State state = spinning_springs(*model);
    const Balance::Energy energy = run_and_balance(*model, method, state, 3000 * h, 1000).energy();
    if (gamma == 0.5) {
      EXPECT_LT(energy.band, 0.05);
      EXPECT_LT(std::abs(energy.drift), 0.01);  // chaotic: 0.0042 to 0.0078 by where rounding leaves each step
    } else {
      EXPECT_LT(energy.drift, -0.02);
    }
  }
}

// A^T form(q1) A = form(q0): canonical in q for beta = 0 only, in x = q - beta h^2 a for every beta.
TEST(NewmarkImplicit, IsSymplecticInItsOwnPositions) {
  const auto model = line_of_masses({1.0, 1.0, 0.6}, 5.0);
  const double h = 0.5 * stable_limit(*model);  // omega h = 1
  const State start = moving_masses(*model);
  AssembledStiffness stiffness(*model);
  for (const double beta : {0.0, 0.25})
    for (const double gamma : {0.5, 0.6}) {
      SCOPED_TRACE(fmt::format("beta {}, gamma {}", beta, gamma));
      const int steps = 3;
      SyncNewmarkImplicit method(*model, h, beta, gamma);
      State state = start;
      method.advance_to(state, steps * h);
      state = method.synchronized(state, steps * h).state;
      const auto dx_dq = [&](const std::vector<double>& u) {
        const Eigen::VectorXd inverse = Eigen::Map<const Eigen::VectorXd>(model->mass().data(), 3).cwiseInverse();
        return Eigen::MatrixXd(Eigen::MatrixXd::Identity(3, 3) +
                               beta * h * h * inverse.asDiagonal() * Eigen::MatrixXd(stiffness(u, 0.0)));
      };
      const Eigen::MatrixXd A = tangent_of(newmark(beta, gamma), *model, start, h, steps);
      const Eigen::MatrixXd own = A.transpose() * form(dx_dq(state.displacement)) * A - form(dx_dq(start.displacement));
      const double canonical = symplectic_defect(newmark(beta, gamma), *model, start, h, steps);
      EXPECT_EQ(own.cwiseAbs().maxCoeff() < 1e-7, gamma == 0.5) << own;
      EXPECT_EQ(canonical < 1e-7, gamma == 0.5 && beta == 0.0) << canonical;
      EXPECT_TRUE(beta == 0.0 || canonical > 1e-3) << canonical;
      EXPECT_EQ(method.claims().symplectic, canonical < 1e-7);
    }
}

TEST(NewmarkImplicit, RunsBackForGammaOfOneHalfOnly) {
  const auto model = spring_model(3.0);
  const double h = 0.5 * stable_limit(*model);
  const State start = spinning_springs(*model);
  EXPECT_LT(miss_after_running_back(newmark(0.25, 0.5), *model, start, h, 200), 1e-11);
  EXPECT_LT(miss_after_running_back(newmark(0.0, 0.5), *model, start, h, 200), 1e-11);
  EXPECT_GT(miss_after_running_back(newmark(0.3, 0.6), *model, start, h, 200), 1e-3);
}

TEST(NewmarkImplicit, RefusesParametersOutsideTheirRange) {
  const auto model = spring_model(0.0);
  EXPECT_THROW(SyncNewmarkImplicit(*model, 0.1, -0.01, 0.5), InputError);
  EXPECT_THROW(SyncNewmarkImplicit(*model, 0.1, 0.51, 0.5), InputError);
  EXPECT_THROW(SyncNewmarkImplicit(*model, 0.1, 0.25, 1.1), InputError);
  EXPECT_THROW(SyncNewmarkImplicit(*model, 0.0, 0.25, 0.5), InputError);
}

}  // namespace
}  // namespace tempi::test
