// SPDX-License-Identifier: Apache-2.0
// Every method against motions known in closed form: an oscillator's own phase at finite steps, the pendulum's period,
// an ellipse; and a gas in a periodic box.
#include <gtest/gtest.h>

#include <complex>

#include "support/adaptive_methods.hpp"
#include "support/constrained.hpp"
#include "support/every_method.hpp"
#include "support/motions.hpp"

namespace tempi::test {
namespace {

double order_claimed(const Method& method, const Motion& motion) {
  return method.make(*motion.model, uniform_steps(*motion.model, 0.01))->claims().order;
}

State state_at(const Method& method, const Motion& motion, double h, double t) {
  const auto integrator = method.make(*motion.model, uniform_steps(*motion.model, h));
  State state = motion.start;
  integrator->advance_to(state, t);
  return integrator->synchronized(state, t).state;
}

// At 1, 2 ... 6.
std::vector<State> states_of(const Method& method, const Motion& motion, double h) {
  const auto integrator = method.make(*motion.model, uniform_steps(*motion.model, h));
  State state = motion.start;
  std::vector<State> states;
  for (int t = 1; t <= 6; ++t) {
    integrator->advance_to(state, t);
    states.push_back(integrator->synchronized(state, t).state);
  }
  return states;
}
// Orders of positions and velocities, by their largest errors at these times.
std::array<double, 2> orders_of(const Method& method, const Motion& motion, double largest_step,
                                const std::vector<State>& exact) {
  std::vector<double> steps, errors_u, errors_v;
  for (const double factor : {1.0, 1.5, 2.0, 3.0}) {
    steps.push_back(largest_step / factor);
    const std::vector<State> states = states_of(method, motion, steps.back());
    double u = 0.0, v = 0.0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      u = std::max(u, largest_difference(states[i].displacement, exact[i].displacement));
      v = std::max(v, largest_difference(states[i].velocity, exact[i].velocity));
    }
    errors_u.push_back(u), errors_v.push_back(v);
  }
  const std::array orders = {slope(steps, errors_u), slope(steps, errors_v)};
  testing::Test::RecordProperty("order", fmt::format("{:.3f} {:.3f} {:.2g}", orders[0], orders[1], errors_u.back()));
  return orders;
}

class KnownMotion : public testing::TestWithParam<Method> {};

// ---- the oscillator: one step is a matrix, of trace 2 cos theta and determinant 1 where the phase turns by theta ----

struct Turn {
  double trace, determinant;
};

// x = omega h. Of the midpoint actions from their discrete Euler-Lagrange equations, of Gauss's rules from the diagonal
// Pade approximants of exp(ix), of Lobatto's by eliminating the inner nodes (tan^2(theta/2) of the even and odd parts),
// of Newmark's and Runge-Kutta's from their amplification matrices.
Turn turn_of(const std::string& name, double x) {
  const double x2 = x * x;
  const auto of_stiffness = [](double stiffness) { return Turn{2.0 - stiffness, 1.0}; };  // 2 (1 - cos theta)
  const auto of_alpha = [&](double alpha) { return of_stiffness(x2 / (1.0 + alpha * (1.0 - alpha) * x2)); };
  const auto of_angle = [](double theta) { return Turn{2.0 * std::cos(theta), 1.0}; };
  if (name == "midpoint 0.5" || name == "gauss 2" || name == "energy momentum" ||
      name == "domains implicit and explicit")
    return of_alpha(0.5);
  if (name == "midpoint 0.3") return of_alpha(0.3);
  if (name == "symmetric midpoint 0.25") return of_alpha(0.25);
  if (name == "avi implicit 0.5") return of_stiffness(x2 / (1.0 + 0.25 * x2));
  if (name == "gauss 4") return of_angle(2.0 * std::atan2(0.5 * x, 1.0 - x2 / 12.0));
  if (name == "gauss 6") return of_angle(2.0 * std::atan2(0.5 * x - x * x2 / 120.0, 1.0 - 0.1 * x2));
  if (name == "lobatto 4") return {2.0 * (48.0 - 22.0 * x2 + x2 * x2) / (48.0 + 2.0 * x2), 1.0};
  if (name == "lobatto 6") {
    const double tan2 = x2 * (60.0 - x2) * (30.0 - x2) / ((10.0 - x2) * (720.0 - 84.0 * x2 + x2 * x2));
    return {2.0 * (1.0 - tan2) / (1.0 + tan2), 1.0};
  }
  if (name == "newmark 0.25 0.5") return of_stiffness(x2 / (1.0 + 0.25 * x2));
  if (name == "newmark 0.3025 0.6") {
    const double y = x2 / (1.0 + 0.3025 * x2);
    return {2.0 - 1.1 * y, 1.0 - 0.1 * y};
  }
  if (name == "rk4") {
    const std::complex<double> growth(1.0 - x2 / 2.0 + x2 * x2 / 24.0, x - x * x2 / 6.0);
    return {2.0 * growth.real(), std::norm(growth)};
  }
  return of_stiffness(x2);  // the leapfrog: whatever is explicit
}

// z_{j+1} - trace z_j + determinant z_{j-1} = 0 for positions and velocities.
double miss(const Method& method, double x, const Turn& turn) {
  const double mass = 0.6, stiffness = 1.7, omega = std::sqrt(stiffness / mass), h = x / omega;
  const Motion motion = oscillator(mass, stiffness, 0.3, 0.2 * omega);
  const auto integrator = method.make(*motion.model, {h});
  State state = motion.start;
  std::vector<std::array<double, 2>> z;
  for (int j = 1; j <= 60; ++j) {
    integrator->advance_to(state, j * h);
    const State at = integrator->synchronized(state, j * h).state;
    z.push_back({at.displacement[0], at.velocity[0] / omega});
  }
  double worst = 0.0;
  for (std::size_t j = 1; j + 1 < z.size(); ++j)
    for (std::size_t i = 0; i < 2; ++i)
      worst = std::max(worst, std::abs(z[j + 1][i] - turn.trace * z[j][i] + turn.determinant * z[j - 1][i]));
  return worst;
}

TEST_P(KnownMotion, TurnsAnOscillatorByItsOwnPhase) {
  for (const double x : {0.1, 1.0, 1.9}) {
    const double found = miss(GetParam(), x, turn_of(GetParam().name, x));
    RecordProperty(plain(fmt::format("at_{}", x)), fmt::format("{:.2g}", found));
    EXPECT_LT(found, 1e-12) << "omega h = " << x;
    if (x > 0.5) {
      EXPECT_GT(miss(GetParam(), x, {2.0 * std::cos(x), 1.0}), 1e-7) << x;  // control: the exact phase is another
    }
  }
}

// ---- the pendulum ----

// Let go at 1 rad: T = 4 K(sin(1/2)). At 1.25 T it is straight down; it comes there late by 1.25 times the error.
double period_error(const Method& method, double steps_a_period) {
  const double T = 4.0 * std::comp_ellint_1(std::sin(0.5));
  const State at = state_at(method, pendulum(1.0, 0.0), T / steps_a_period, 1.25 * T);
  return std::abs(at.displacement[0] / at.velocity[0]) / (1.25 * T);
}

TEST_P(KnownMotion, HasThePeriodOfThePendulum) {
  const double order = order_claimed(GetParam(), pendulum(1.0, 0.0));
  std::vector<double> steps, errors;
  for (const double factor : {1.0, 1.5, 2.0, 3.0}) {
    const double n = factor * (order == 1 ? 800.0 : order == 2 ? 80.0 : order == 4 ? 40.0 : 12.0);
    steps.push_back(1.0 / n), errors.push_back(period_error(GetParam(), n));
  }
  RecordProperty("period", fmt::format("{:.3f} {:.2g}", slope(steps, errors), errors.back()));
  EXPECT_NEAR(slope(steps, errors), order, 0.1);
  EXPECT_LT(errors.back(), 1e-3);  // the period of small swings, 2 pi, is off by 0.06
}

// ---- the ellipse ----

TEST_P(KnownMotion, ApproachesTheEllipseWithItsOrderAndKeepsItsMomentum) {
  Motion motion = Ellipse::motion();
  const double order = order_claimed(GetParam(), motion);
  std::vector<State> exact(6, motion.start);
  for (std::size_t i = 0; i < 6; ++i)
    std::tie(exact[i].displacement, exact[i].velocity) = Ellipse::at(static_cast<double>(i + 1));
  const double largest_step = order == 1 ? 2e-3 : order == 2 ? 0.02 : order == 4 ? 0.025 : 0.08;
  for (const double found : orders_of(GetParam(), motion, largest_step, exact)) EXPECT_NEAR(found, order, 0.1);

  const auto integrator = GetParam().make(*motion.model, {0.02});
  const Claims claims = integrator->claims();
  const Balance balance = run_and_balance(*motion.model, *integrator, motion.start, 20.0, 100);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_EQ(balance.angular_momentum().error < 1e-12, claims.angular_momentum == Conservation::exact)
      << balance.angular_momentum().error;
}

TEST(Ellipse, BeginsWhereItsMotionDoes) {
  const Motion motion = Ellipse::motion();
  EXPECT_LT(largest_difference(Ellipse::at(0.0).first, motion.start.displacement), 1e-15);
  EXPECT_LT(largest_difference(Ellipse::at(0.0).second, motion.start.velocity), 1e-15);
  EXPECT_LT(largest_difference(Ellipse::at(2.0 * std::numbers::pi).first, motion.start.displacement), 1e-14);
}

// ---- a periodic box ----

constexpr double L = 6.0, time_in_box = 6.0;
Box box_of(bool periodic) { return periodic ? Box({L, L, std::nullopt}) : Box(); }

// Soft particles in the plane that go through the walls of their box, and meet each other's images there. Where the
// nearest image changes the force is 1e-11.
Motion gas(bool periodic, bool bound = false) {
  const auto X = random_cloud(2, 6, 0.5 * L, 1.0, 3);
  Model::Parts parts = particles(2, X, {1.0, 0.8, 1.2, 0.6, 1.1, 0.9});
  parts.add(
      make_pairs(X, 2, parts.mass, all_pairs(6), user_law("0.8*exp(-3*X^2)"), box_of(periodic), Company::wandering));
  if (bound)
    add(parts, make_distances(points_of(parts), std::vector<NodePair>{{NodeId{0}, NodeId{1}}, {NodeId{2}, NodeId{3}}}));
  Motion motion{std::make_unique<Model>(std::move(parts)), {}};
  motion.start = reference_state(*motion.model);
  Random random(4);
  for (std::size_t i = 0; i < 12; ++i) {
    double& v = motion.start.velocity[i];
    v = random.uniform(-1.5, 1.5);
    if (bound && (i / 2 == 1 || i / 2 == 3)) v = motion.start.velocity[i - 2];  // those bound to each other move alike
  }
  return motion;
}

// A square lattice with its diagonals, bound to its own images, that drifts.
Motion crystal(bool periodic) {
  const double spacing = L / 3.0;
  std::vector<double> X;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) X.insert(X.end(), {spacing * i, spacing * j});
  Model::Parts parts = particles(2, X, std::vector<double>(9, 1.0));
  for (const auto& [dx, dy] : {std::pair{1, 0}, {0, 1}, {1, 1}, {2, 1}}) {
    std::vector<NodePair> pairs;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i)
        pairs.push_back({make_id<NodeId>(3 * j + i), make_id<NodeId>(3 * ((j + dy) % 3) + (i + dx) % 3)});
    add_pairs(parts, pairs, Morse{0.5, 1.0, spacing * std::hypot(dx == 2 ? 1.0 : dx, dy)}, box_of(periodic));
  }
  Motion motion{std::make_unique<Model>(std::move(parts)), {}};
  motion.start = reference_state(*motion.model);
  Random random(6);
  for (double& v : motion.start.velocity) v = 1.2 + random.uniform(-0.2, 0.2);
  return motion;
}

// By slopes of the errors, and what the momentum changes by; `in(periodic)` makes the motion.
void expect_order_and_momentum(const Method& method, const Method& fine, double finest,
                               const std::function<Motion(bool)>& in) {
  const Motion motion = in(true);
  const double order = order_claimed(method, motion);
  const double base = order == 1 ? 0.002 : order == 2 ? 0.02 : order == 4 ? 0.05 : 0.1;
  const std::vector<State> exact = states_of(fine, motion, finest);
  for (const double found : orders_of(method, motion, base, exact)) EXPECT_NEAR(found, order, 0.1);
  // Controls: they feel images, and leave the box.
  EXPECT_GT(largest_difference(state_at(method, in(false), base, time_in_box).displacement, exact.back().displacement),
            0.01);
  EXPECT_GT(largest(exact.back().displacement), L);

  State state = motion.start;
  const auto integrator = method.make(*motion.model, uniform_steps(*motion.model, base));
  const Balance balance = run_and_balance(*motion.model, *integrator, state, time_in_box, 50);
  testing::Test::RecordProperty("momentum", fmt::format("{:.2g}", balance.linear_momentum().error));
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_GT(balance.angular_momentum().error, 1e-4);  // control: a box does not keep it
  const Conservation energy = integrator->claims().energy;
  if (energy != Conservation::none) {
    EXPECT_LT(balance.energy().band, energy == Conservation::exact ? 1e-11 : 0.05);
  }
}

// Implicit AVI softens terms with their shares of the masses, of which pairs of a gas that begin far apart have next to
// none: it is seen in a crystal.
TEST_P(KnownMotion, MovesParticlesInAPeriodicBoxWithItsOrder) {
  const Method fine = variational("fine", gauss_action(6));
  if (GetParam().name.starts_with("avi implicit"))
    expect_order_and_momentum(GetParam(), fine, 0.01, crystal);
  else
    expect_order_and_momentum(GetParam(), fine, 0.01, [](bool periodic) { return gas(periodic); });
}

INSTANTIATE_TEST_SUITE_P(Of, KnownMotion, testing::ValuesIn(every_method()),
                         [](const auto& c) { return plain(c.param.name); });

TEST(ShakeAndRattle, MoveAGasOfBoundPairsInAPeriodicBoxWithOrderTwo) {
  for (const Method& method : {shake(), rattle()}) {
    SCOPED_TRACE(method.name);
    expect_order_and_momentum(method, rattle(), 0.0005, [](bool periodic) { return gas(periodic, true); });
  }
}

// Those that choose their steps: no order at a given time to be measured here.
TEST(MethodsThatChooseTheirSteps, KeepTheMomentumOfAGasInAPeriodicBox) {
  const Motion motion = gas(true);
  const State exact = state_at(variational("fine", gauss_action(6)), motion, 0.02, time_in_box);
  for (const Method& method : {adaptive_avi(), symplectic_energy_momentum()}) {
    SCOPED_TRACE(method.name);
    State state = motion.start;
    const auto integrator = method.make(*motion.model, uniform_steps(*motion.model, 0.02));
    const Balance balance = run_and_balance(*motion.model, *integrator, state, time_in_box, 50);
    EXPECT_LT(balance.linear_momentum().error, 1e-13);
    EXPECT_GT(balance.angular_momentum().error, 1e-4);
    EXPECT_LT(largest_difference(integrator->synchronized(state, time_in_box).state.displacement, exact.displacement),
              0.05);
  }
}

}  // namespace
}  // namespace tempi::test
