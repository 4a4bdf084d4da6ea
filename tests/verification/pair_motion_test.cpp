// SPDX-License-Identifier: Apache-2.0
// Particles that feel each other in pairs: motions known in closed form, invariants, and the same from every engine.
#include <gtest/gtest.h>

#include "support/every_method.hpp"
#include "support/pair_cases.hpp"
#include "tempi/potential/wells.hpp"
#include "tempi/space/neighbour_pairs.hpp"

namespace tempi::test {
namespace {

// Two masses on a spring, stretched by s at first and drifting together with velocity V.
struct TwoBodies {
  static constexpr double m1 = 2.0, m2 = 0.6, k = 3.1, length = 0.8, s = 0.3;

  explicit TwoBodies(int dim) : d(static_cast<std::size_t>(dim)) {
    for (std::size_t c = 0; c < d; ++c) n[c] = direction[c] / norm();
    std::vector<double> reference(2 * d);
    for (std::size_t c = 0; c < d; ++c) {
      reference[c] = 0.2;
      reference[d + c] = 0.2 + length * n[c];
    }
    Model::Parts parts = particles(dim, reference, {m1, m2});
    add_pairs(parts, chain(2), Spring{k, length});
    model = std::make_unique<Model>(std::move(parts));
  }
  double norm() const {
    double sum = 0.0;
    for (std::size_t c = 0; c < d; ++c) sum += direction[c] * direction[c];
    return std::sqrt(sum);
  }
  double omega() const { return std::sqrt(k * (1.0 / m1 + 1.0 / m2)); }

  State start() const {
    State state = reference_state(*model);
    state.displacement = displacement(0.0, s);
    for (std::size_t i = 0; i < 2 * d; ++i) state.velocity[i] = V[i % d];
    return state;
  }
  // At time t, with the spring stretched by q.
  std::vector<double> displacement(double t, double q) const {
    std::vector<double> u(2 * d);
    for (std::size_t c = 0; c < d; ++c) {
      u[c] = V[c] * t - m2 / (m1 + m2) * q * n[c];
      u[d + c] = V[c] * t + m1 / (m1 + m2) * q * n[c];
    }
    return u;
  }

  static constexpr std::array<double, 3> direction{1.0, -2.0, 3.0}, V{0.02, 0.01, -0.03};
  std::size_t d;
  std::array<double, 3> n{};
  std::unique_ptr<Model> model;
};

// Largest deviation over 400 steps from a stretch of s cos(frequency t).
double deviation(const TwoBodies& bodies, const Method& method, double h, double frequency) {
  const auto integrator = method.make(*bodies.model, {h});
  State state = bodies.start();
  double worst = 0.0;
  for (int j = 1; j <= 400; ++j) {
    const double t = j * h;
    integrator->advance_to(state, t);
    const State at = integrator->synchronized(state, t).state;
    const auto exact = bodies.displacement(t, TwoBodies::s * std::cos(frequency * t));
    worst = std::max(worst, largest_difference(at.displacement, exact));
  }
  return worst;
}

class TwoBodiesOnASpring : public testing::TestWithParam<int> {};

// The leapfrog's own frequency: sin(frequency h / 2) = omega h / 2. Each of 400 steps rounds the velocity, which then
// runs on: at random 1e-16 * 400^1.5.
TEST_P(TwoBodiesOnASpring, OscillateWithTheLeapfrogsOwnPhase) {
  const TwoBodies bodies(GetParam());
  for (const double omega_h : {0.1, 1.0, 1.4})
    for (const Method& method : methods()) {
      SCOPED_TRACE(method.name + " at omega h = " + std::to_string(omega_h));
      const double h = omega_h / bodies.omega(), leapfrog = 2.0 * std::asin(0.5 * omega_h) / h;
      EXPECT_LT(deviation(bodies, method, h, leapfrog), 3e-12);
      EXPECT_GT(deviation(bodies, method, h, bodies.omega()), 1e-3);  // control: the exact one is another
    }
}

TEST_P(TwoBodiesOnASpring, ApproachTheExactMotionWithOrderTwo) {
  const TwoBodies bodies(GetParam());
  const double t_end = 5.0 / bodies.omega();
  const auto exact = bodies.displacement(t_end, TwoBodies::s * std::cos(5.0));
  for (const Method& method : methods()) {
    std::vector<double> steps, errors;
    for (const int n : {50, 100, 200}) {
      steps.push_back(t_end / n);
      const auto integrator = method.make(*bodies.model, {steps.back()});
      State state = bodies.start();
      integrator->advance_to(state, t_end);
      errors.push_back(largest_difference(integrator->synchronized(state, t_end).state.displacement, exact));
    }
    EXPECT_NEAR(slope(steps, errors), 2.0, 0.05) << method.name;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDimension, TwoBodiesOnASpring, testing::Values(1, 2, 3));

// A circular orbit, omega^2 = G (m1 + m2) / r^3. The leapfrog turns it by theta a step without changing its radius,
// 2 (1 - cos theta) = (omega h)^2; the initial velocity is r sin(theta)/h.
TEST(TwoBodiesInOrbit, TurnByTheSameAngleEveryStep) {
  const double G = 0.7, m1 = 2.0, m2 = 0.6, r = 1.3, omega = std::sqrt(G * (m1 + m2) / (r * r * r));
  const double r1 = r * m2 / (m1 + m2), r2 = r * m1 / (m1 + m2), h = 0.05 / omega;
  const double theta = std::acos(1.0 - 0.5 * 0.05 * 0.05), speed = std::sin(theta) / h;
  for (const Method& method : methods()) {
    Model::Parts parts = particles(2, {-r1, 0.0, r2, 0.0}, {m1, m2});
    add_pairs(parts, chain(2), Gravitation{G});
    const Model model(std::move(parts));
    const auto integrator = method.make(model, {h});
    State state = reference_state(model);
    state.velocity = {0.0, -speed * r1, 0.0, speed * r2};
    double worst = 0.0;
    for (int j = 1; j <= 400; ++j) {
      integrator->advance_to(state, j * h);
      const State at = integrator->synchronized(state, j * h).state;
      const double c = std::cos(j * theta), s = std::sin(j * theta);
      const std::vector<double> exact = {-r1 * c + r1, -r1 * s, r2 * c - r2, r2 * s};
      worst = std::max(worst, largest_difference(at.displacement, exact));
    }
    EXPECT_LT(worst, 1e-11) << method.name;
  }
}

// A chain in space whose springs grow stiffer from 1 to 64 N/m, at rest lengths of its own; it is moving.
struct SpringChain {
  explicit SpringChain(double well = 0.0) {
    const std::vector<double> X = random_cloud(3, 8, 1.5, 0.8, 4);
    Model::Parts parts = particles(3, X, {1.0, 0.8, 1.2, 0.5, 1.0, 0.9, 1.1, 0.7});
    for (Index a = 0; a + 1 < 8; ++a) {
      const auto i = static_cast<std::size_t>(3 * a);
      const double length = std::hypot(X[i + 3] - X[i], X[i + 4] - X[i + 1], X[i + 5] - X[i + 2]);
      add_pairs(parts, {{make_id<NodeId>(a), make_id<NodeId>(a + 1)}}, Spring{std::exp2(a), length});
    }
    if (well > 0.0) parts.add(make_wells(X, 3, {NodeId{0}}, {{well, well, well}, std::array{1.0, 0.0, 0.0}}));
    model = std::make_unique<Model>(std::move(parts));
    state = reference_state(*model);
    Random random(5);
    for (double& v : state.velocity) v = random.uniform(-0.2, 0.2);
  }
  std::unique_ptr<Model> model;
  State state;
};

Balance balance_of(SpringChain chain, const Method& method, double safety) {
  const std::vector<double> steps = own_steps(*chain.model, safety);
  EXPECT_GT(*std::ranges::max_element(steps), 4.0 * smallest(steps));
  const auto integrator = method.make(*chain.model, steps);
  return run_and_balance(*chain.model, *integrator, chain.state, 500.0 * smallest(steps), 100);
}

TEST(SpringChain, KeepsItsMomentaAndItsEnergyAtStepsOfItsSpringsOwn) {
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    const Balance balance = balance_of(SpringChain(), method, 0.3);
    EXPECT_LT(balance.linear_momentum().error, 1e-13);
    EXPECT_LT(balance.angular_momentum().error, 1e-13);
    EXPECT_LT(balance.energy().band, 0.05);
    const Balance finer = balance_of(SpringChain(), method, 0.15);
    EXPECT_LT(finer.energy().band, 0.4 * balance.energy().band);  // second order: a quarter, over half the time
  }
}

TEST(SpringChainControl, AWellTakesItsMomenta) {
  const Balance balance = balance_of(SpringChain(1.0), methods().front(), 0.3);
  EXPECT_GT(balance.linear_momentum().error, 1e-3);
  EXPECT_GT(balance.angular_momentum().error, 1e-3);
}

// The lattice with the queue's steps: the same motion, but for the order in which sums are rounded.
TEST(SpringChain, MovesAlikeOnTheQueueAndOnTheLattice) {
  SpringChain queued, latticed;
  const TickLattice lattice = lattice_of(own_steps(*queued.model, 0.3), LatticeRule::twos_and_threes);
  AviLattice on_lattice(*latticed.model, lattice);
  std::vector<double> steps;
  for (const std::int32_t ticks : lattice.ticks) steps.push_back(lattice.tick * ticks);
  AviExplicit on_queue(*queued.model, steps);
  const double t = 300.5 * lattice.tick;
  on_lattice.advance_to(latticed.state, t);
  on_queue.advance_to(queued.state, t);
  EXPECT_LT(largest_difference(on_lattice.synchronized(latticed.state, t).state.displacement,
                               on_queue.synchronized(queued.state, t).state.displacement),
            1e-12);
}

// Velocity Verlet by hand: the springs' own formula, half a kick, a drift, half a kick.
State verlet(const SpringChain& chain, double h, int steps) {
  State s = chain.state;
  const auto X = chain.model->reference();
  const auto kick = [&](double duration) {
    for (std::size_t a = 0; a + 1 < 8; ++a) {
      std::array<double, 3> before{}, now{};
      for (std::size_t c = 0; c < 3; ++c) {
        before[c] = X[3 * a + 3 + c] - X[3 * a + c];
        now[c] = before[c] + s.displacement[3 * a + 3 + c] - s.displacement[3 * a + c];
      }
      const double length = std::hypot(before[0], before[1], before[2]), r = std::hypot(now[0], now[1], now[2]);
      for (std::size_t c = 0; c < 3; ++c) {
        const double impulse = duration * std::exp2(static_cast<double>(a)) * (r - length) * now[c] / r;
        s.velocity[3 * a + c] += impulse / chain.model->mass()[a];
        s.velocity[3 * a + 3 + c] -= impulse / chain.model->mass()[a + 1];
      }
    }
  };
  for (int j = 0; j < steps; ++j) {
    kick(0.5 * h);
    for (std::size_t i = 0; i < s.velocity.size(); ++i) s.displacement[i] += h * s.velocity[i];
    kick(0.5 * h);
  }
  return s;
}

// The largest difference of positions and velocities after 200 steps.
double difference_from(const State& expected, const Method& method, const SpringChain& chain, double h) {
  const auto integrator = method.make(*chain.model, uniform_steps(*chain.model, h));
  State state = chain.state;
  integrator->advance_to(state, 200 * h);
  const State at = integrator->synchronized(state, 200 * h).state;
  return std::max(largest_difference(at.displacement, expected.displacement),
                  largest_difference(at.velocity, expected.velocity));
}

TEST(SpringChain, MovesByVelocityVerletWhateverItsNameWhenStepsAreEqual) {
  const SpringChain chain;
  const double h = 0.3 * smallest(own_steps(*chain.model, 1.0));
  const State expected = verlet(chain, h, 200);
  EXPECT_GT(largest_difference(expected.displacement, chain.state.displacement), 0.1);
  std::vector<Method> alike = methods();
  for (const auto& more :
       {std::vector<Method>{avi_implicit(0.0), variational("trapezoidal 0.5", trapezoidal_action(0.5)),
                            variational("lobatto 2", lobatto_action(2)),
                            variational("symmetric midpoint 0", symmetric_midpoint_action(0.0)),
                            variational("symmetric midpoint 1", symmetric_midpoint_action(1.0)), newmark_of(0.0, 0.5),
                            shake(), rattle()}})
    alike.insert(alike.end(), more.begin(), more.end());
  for (const Method& method : alike) {
    const double difference = difference_from(expected, method, chain, h);
    RecordProperty(plain(method.name), fmt::format("{:.2g}", difference));
    EXPECT_LT(difference, 1e-12) << method.name;
  }
  for (const Method& method : {avi_implicit(0.5), variational("symplectic euler a", midpoint_action(0.0)),
                               variational("midpoint", midpoint_action(0.5)), newmark_of(0.25, 0.5)})
    EXPECT_GT(difference_from(expected, method, chain, h), 1e-4) << method.name;
}

TEST(SpringChain, MovesByTheMidpointRuleOfThreeNames) {
  const SpringChain chain;
  const double h = 0.3 * smallest(own_steps(*chain.model, 1.0));
  SyncVariational midpoint(*chain.model, midpoint_action(0.5), h);
  State expected = chain.state;
  midpoint.advance_to(expected, 200 * h);
  expected = midpoint.synchronized(expected, 200 * h).state;
  for (const DiscreteAction& action : {gauss_action(2), symmetric_midpoint_action(0.5)})
    EXPECT_LT(difference_from(expected, variational("", action), chain, h), 1e-12);
  for (const DiscreteAction& action : {gauss_action(4), symmetric_midpoint_action(0.4), midpoint_action(0.4)})
    EXPECT_GT(difference_from(expected, variational("", action), chain, h), 1e-5);
}

// 36 atoms of a warm crystal in the plane, in a box, paired with those within the cutoff at first. The step is far
// below the limit of the crystal, 2/omega = 0.13, but not below that of each pair alone: pairs that hardly felt each
// other have hardly a share of the masses, and come nearer.
TEST(LennardJonesCrystal, KeepsItsMomentumAndItsEnergyInAPeriodicBox) {
  const double spacing = 1.12, L = 6 * spacing, cutoff = 2.9;
  std::vector<double> X;
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i < 6; ++i) X.insert(X.end(), {i * spacing, j * spacing});
  const Box box({L, L, std::nullopt});
  Model::Parts parts = particles(2, X, std::vector<double>(36, 1.0));
  const auto pairs = pairs_within(X, 2, cutoff, box);
  EXPECT_EQ(pairs.size(), 36u * 20u / 2u);  // rings of 4, 4, 4 and 8 at 1, sqrt(2), 2, sqrt(5) spacings
  add_pairs(parts, pairs, LennardJones{1.0, 1.0, cutoff}, box);
  const Model model(std::move(parts));
  State state = reference_state(model);
  Random random(6);
  for (double& v : state.velocity) v = random.uniform(-0.3, 0.3);
  AviLattice newmark(model, {0.005, std::vector<std::int32_t>(pairs.size(), 1)}, {.rechecked = 0.05});
  const Balance balance = run_and_balance(model, newmark, state, 500 * 0.005, 50);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_LT(balance.energy().band, 0.01);
  EXPECT_GT(balance.angular_momentum().error, 1e-3);  // control: a box does not keep it
}

// A user's formula is one object that all threads ask.
TEST(UserLawChain, HasTheSameBitsWithOneThreadAndWithTwo) {
  std::vector<State> states;
  for (const int threads : {1, 2}) {
    const Index count = 2000;
    std::vector<double> X;
    for (Index a = 0; a < count; ++a) X.push_back(static_cast<double>(a));
    Model::Parts parts = particles(1, X, std::vector<double>(X.size(), 1.0));
    add_pairs(parts, chain(count), user_law("4*(1 - exp(1 - X))^2"));
    const Model model(std::move(parts));
    State state = reference_state(model);
    Random random(8);
    for (double& v : state.velocity) v = random.uniform(-0.1, 0.1);
    AviLattice avi(model, {0.05, std::vector<std::int32_t>(static_cast<std::size_t>(model.term_count()), 1)},
                   {.threads = threads});
    avi.advance_to(state, 10.0);
    states.push_back(state);
  }
  EXPECT_TRUE(same_bits(states[0], states[1]));
  EXPECT_GT(largest(states[0].displacement), 0.01);
}

}  // namespace
}  // namespace tempi::test
