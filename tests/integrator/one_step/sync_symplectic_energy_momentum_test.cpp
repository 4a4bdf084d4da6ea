// SPDX-License-Identifier: Apache-2.0
// Symplectic-energy-momentum: the papers' oscillator in closed form, energy of step pairs seen from outside, order.
#include "tempi/integrator/one_step/sync_symplectic_energy_momentum.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/motions.hpp"
#include "support/sync.hpp"
#include "tempi/integrator/checkpoint.hpp"

namespace tempi::test {
namespace {

constexpr double stiffness = 1.7, oscillator_mass = 0.6;
Motion oscillator(double q, double p) { return test::oscillator(oscillator_mass, stiffness, q, p / oscillator_mass); }

// Every state of a run, found by advancing in portions shorter than any step.
std::vector<State> states_of(Integrator& integrator, State state, double t_end, double portion) {
  std::vector<State> states = {state};
  for (double t = portion; t < t_end; t += portion) {
    integrator.advance_to(state, t);
    if (state.clock[0] > states.back().clock[0]) states.push_back(state);
  }
  return states;
}

// E_d of the step between two states, for one force at (1 - alpha) q_0 + alpha q_1.
double step_energy(const Model& model, const State& a, const State& b, double alpha) {
  const double h = b.clock[0] - a.clock[0];
  std::vector<double> between(a.displacement);
  double energy = 0.0;
  for (std::size_t i = 0; i < between.size(); ++i) {
    const double by = b.displacement[i] - a.displacement[i];
    between[i] += alpha * by;
    energy += 0.5 * model.mass()[i / static_cast<std::size_t>(model.dim())] * by * by / (h * h);
  }
  return energy + model.potential_energy(between, 0.0);
}

// (max - min) of E_d over a run, for forces of equal weights at these alpha.
double energy_band(Integrator& integrator, const Motion& motion, double t_end, double portion,
                   const std::vector<double>& alphas) {
  const std::vector<State> states = states_of(integrator, motion.start, t_end, portion);
  double low = 1e300, high = -1e300;
  for (std::size_t i = 1; i < states.size(); ++i) {
    double energy = 0.0;
    for (const double alpha : alphas)
      energy += step_energy(*motion.model, states[i - 1], states[i], alpha) / static_cast<double>(alphas.size());
    low = std::min(low, energy), high = std::max(high, energy);
  }
  return high - low;
}

TEST(SymplecticEnergyMomentum, KeepsTheDiscreteEnergyOfAPendulumAndOfAnEllipse) {
  for (const bool orbit : {false, true}) {
    const Motion motion = orbit ? Ellipse::motion() : pendulum(1.0, 0.5);
    const double h = 0.05, t_end = 20.0;
    SyncSymplecticEnergyMomentum method(*motion.model, h, midpoint_action(0.5));
    const double band = energy_band(method, motion, t_end, 0.2 * h, {0.5});
    const auto& a = method.map().adaption();
    EXPECT_LT(band, 1e-12);
    EXPECT_EQ(a.without_solution, 0);
    EXPECT_GT(a.largest, (orbit ? 3.0 : 1.05) * a.smallest);
    RecordProperty(orbit ? "orbit" : "pendulum", fmt::format("{:.2g} {} steps {:.3g} {:.3g}", band, method.updates({}),
                                                             a.smallest / h, a.largest / h));
    // Controls: steps of one length do not keep it, neither for this action nor for velocity Verlet.
    SyncVariational fixed(*motion.model, midpoint_action(0.5), h);
    EXPECT_GT(energy_band(fixed, motion, t_end, h, {0.5}), 1e-6);
    SyncNewmark verlet(*motion.model, h);
    EXPECT_GT(energy_band(verlet, motion, t_end, h, {0.0, 1.0}), 1e-6);
  }
}

TEST(SymplecticEnergyMomentum, KeepsTheMomentaOfAnEllipseWithAndWithoutSolution) {
  for (const auto& action : {midpoint_action(0.5), trapezoidal_action(0.5)}) {
    Motion motion = Ellipse::motion();
    SyncSymplecticEnergyMomentum method(*motion.model, 0.05, action);
    const Balance balance = run_and_balance(*motion.model, method, motion.start, 40.0, 50);
    EXPECT_LT(balance.linear_momentum().error, 1e-13);
    EXPECT_LT(balance.angular_momentum().error, 1e-12);
    EXPECT_EQ(method.map().adaption().without_solution > 0, action.is_explicit());
  }
}

// Linear systems: E_d = H / (1 + (omega h / 2)^2) of the midpoint rule, so equal steps solve the equation.
TEST(SymplecticEnergyMomentum, MovesLinearSystemsWithEqualSteps) {
  const Motion motion = oscillator(0.3, 0.8);
  const double h = 0.1;
  SyncSymplecticEnergyMomentum method(*motion.model, h);
  State state = motion.start, same = motion.start;
  method.advance_to(state, 100.5 * h);
  SyncVariational(*motion.model, midpoint_action(0.5), h).advance_to(same, 100.5 * h);
  EXPECT_EQ(method.updates({}), 100);
  EXPECT_NEAR(method.map().adaption().smallest, h, 1e-9);  // E_d determines h to the rounding of E over (omega h)^2 / 4
  EXPECT_NEAR(state.displacement[0], same.displacement[0], 1e-9);
}

// ---- the papers' oscillator: the right-endpoint rule (2004, eqs (87)-(94), Fig. 17) ----

double scale_of(double E) { return std::sqrt(2.0 * oscillator_mass * E); }

// Positive roots of p^2/2m + k/2 (q + h p/m)^2 = E.
std::vector<double> positive_roots(double q, double p, double E) {
  std::vector<double> roots;
  const double rest = 2.0 / stiffness * (E - 0.5 * p * p / oscillator_mass);
  for (const double sign : {-1.0, 1.0})
    if (const double h = oscillator_mass * (sign * std::sqrt(rest) - q) / p; h > 0.0) roots.push_back(h);
  return roots;
}

TEST(SymplecticEnergyMomentumOfTheRightEndpoint, StaysOnTheEnergyCircleWhileASolutionExistsAndTellsWhenNoneDoes) {
  const double h0 = 0.03;
  const StepBounds bounds{0.25, 8.0};
  Index solved = 0, unsolvable = 0, out_of_bounds = 0;
  for (const double angle : {0.3, 1.2, 2.0, 2.9, 4.0, 5.3}) {
    const Motion motion = oscillator(0.7 * std::cos(angle), 0.5 * std::sin(angle));
    SyncSymplecticEnergyMomentum method(*motion.model, h0, trapezoidal_action(1.0), bounds);
    State before = motion.start;
    Index without = 0;
    double last = h0;
    for (double t = 0.2 * h0; t < 8.0; t += 0.2 * h0) {
      State after = before;
      method.advance_to(after, t);
      if (after.clock[0] == before.clock[0]) continue;
      const auto& a = method.map().adaption();
      const double q = before.displacement[0], p = oscillator_mass * before.velocity[0];
      const bool says_none = a.without_solution > without;
      without = a.without_solution;
      if (before.clock[0] > 0.0) {
        std::vector<double> roots = positive_roots(q, p, a.energy);
        std::erase_if(roots, [&](double h) { return h < bounds.least * h0 || h > bounds.largest * h0; });
        EXPECT_EQ(says_none, roots.empty()) << t;
        if (std::abs(p) > scale_of(a.energy)) {
          EXPECT_TRUE(says_none);
          ++unsolvable;
        } else if (roots.empty()) {
          ++out_of_bounds;
        } else {
          const double nearest =
              *std::ranges::min_element(roots, {}, [&](double h) { return std::abs(std::log(h / last)); });
          EXPECT_NEAR(a.last, nearest, 1e-9 * nearest);
          EXPECT_NEAR(step_energy(*motion.model, before, after, 1.0), a.energy, 1e-13 * a.energy);
          ++solved;
        }
      }
      last = a.last;
      before = after;
    }
  }
  EXPECT_GT(solved, 100);
  EXPECT_GT(unsolvable, 100);
  EXPECT_GT(out_of_bounds, 100);
  RecordProperty("solved", fmt::format("{} {} {}", solved, unsolvable, out_of_bounds));
}

// After a first step that ends at q_1 = 2 p_0 h / (h^2 k - m) the next momentum touches the energy circle: there, and
// to a billionth beside it, is where solutions begin.
TEST(SymplecticEnergyMomentumOfTheRightEndpoint, LosesItsSolutionExactlyWhereTheMomentumLeavesTheCircle) {
  const double m = oscillator_mass, k = stiffness, h = 0.1, p0 = 1.0, q1 = 2.0 * p0 * h / (h * h * k - m);
  for (const double by : {1e-3, 1e-6, 1e-9})
    for (const double sign : {-1.0, 1.0}) {
      const double end = q1 * (1.0 + sign * by);
      const Motion motion = oscillator(end - h * p0 / m, p0);
      SyncSymplecticEnergyMomentum method(*motion.model, h, trapezoidal_action(1.0), StepBounds{0.5, 100.0});
      State state = motion.start;
      double t = 1.2 * h;
      method.advance_to(state, t);
      EXPECT_EQ(std::abs(m * state.velocity[0]) > scale_of(method.map().adaption().energy), sign < 0.0);
      for (; method.updates({}) < 2; t += 0.2 * h) method.advance_to(state, t);
      EXPECT_EQ(method.map().adaption().without_solution > 0, sign < 0.0) << by;
    }
}

// ---- the rest ----

TEST(SymplecticEnergyMomentum, HasTheOrderOfItsAction) {
  for (const auto& [action, order] : {std::pair{midpoint_action(0.5), 2.0}, std::pair{gauss_action(4), 4.0}}) {
    Motion motion = Ellipse::motion();
    const double t = 5.0;
    SyncVariational fine(*motion.model, gauss_action(6), 0.01);
    State exact = motion.start;
    fine.advance_to(exact, t);
    exact = fine.synchronized(exact, t).state;
    std::vector<double> steps, u, v;
    for (const double h : {0.08, 0.04, 0.02, 0.01}) {
      SyncSymplecticEnergyMomentum method(*motion.model, h, action, StepBounds{0.1, 10.0});
      State state = motion.start;
      method.advance_to(state, t);
      EXPECT_EQ(method.map().adaption().without_solution, 0);
      EXPECT_GT(method.map().adaption().largest, 1.5 * method.map().adaption().smallest);
      state = method.synchronized(state, t).state;
      steps.push_back(h);
      u.push_back(largest_difference(state.displacement, exact.displacement));
      v.push_back(largest_difference(state.velocity, exact.velocity));
    }
    RecordProperty(fmt::format("order_{}", order), fmt::format("{:.3f} {:.3f}", slope(steps, u), slope(steps, v)));
    EXPECT_NEAR(slope(steps, u), order, 0.15);
    EXPECT_NEAR(slope(steps, v), order, 0.15);
  }
}

TEST(SymplecticEnergyMomentum, MovesABodyOnASupportAtRest) {
  const Body body =
      make_body_held_at(triangle_mesh(CellType::triangle3, 2, 0.15, 12), NeoHookean{{1.3, 0.7}}, 1.2, "left");
  const double h = 0.3 * stable_limit(*body.model);
  SyncSymplecticEnergyMomentum method(*body.model, h);
  State state = moving_state(body, 0.0, 0.05, 5);
  const Balance balance = run_and_balance(*body.model, method, state, 100 * h, 100);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_LT(balance.angular_momentum().error, 1e-13);
  EXPECT_LT(balance.energy().band, 0.02);
  EXPECT_LT(method.map().adaption().largest_residual_while_solved, 1e-13 * method.map().adaption().energy);
  RecordProperty("run", fmt::format("{} of {} without solution, band {:.2g}, steps {:.3g} to {:.3g}",
                                    method.map().adaption().without_solution, method.updates({}), balance.energy().band,
                                    method.map().adaption().smallest / h, method.map().adaption().largest / h));
}

TEST(SymplecticEnergyMomentum, IsNotSymplecticAtGivenTimesUnlessItsStepsAreEqual) {
  const MakeStepper make = [](const Model& model, double h) {
    return std::make_unique<SyncSymplecticEnergyMomentum>(model, h);
  };
  const auto model = line_of_masses({1.0, 1.0, 0.6}, 5.0);
  EXPECT_GT(symplectic_defect(make, *model, moving_masses(*model), 0.5 * stable_limit(*model), 3), 1e-5);
}

TEST(SymplecticEnergyMomentum, GoesOnWithTheSameBits) {
  const Motion motion = Ellipse::motion();
  const auto make = [&] { return std::make_unique<SyncSymplecticEnergyMomentum>(*motion.model, 0.05); };
  State expected = motion.start, in_portions = motion.start, through_file = motion.start;
  const auto whole = make(), portions = make(), first = make(), second = make();
  whole->advance_to(expected, 9.0);
  for (double t = 0.01; t < 9.0; t += 0.07) {
    portions->advance_to(in_portions, t);
    portions->synchronized(in_portions, t);
  }
  portions->advance_to(in_portions, 9.0);
  EXPECT_TRUE(same_bits(in_portions, expected));
  const auto file = std::filesystem::temp_directory_path() / "tempi_sem_checkpoint";
  first->advance_to(through_file, 4.0);
  write_checkpoint(file, through_file, *first);
  State read = reference_state(*motion.model);
  read_checkpoint(file, read, *second);
  second->advance_to(read, 9.0);
  EXPECT_TRUE(same_bits(read, expected));
  EXPECT_EQ(second->map().adaption().largest, whole->map().adaption().largest);
  SyncSymplecticEnergyMomentum other(*motion.model, 0.05, midpoint_action(0.5), StepBounds{0.5, 2.0});
  EXPECT_THROW(read_checkpoint(file, read, other), InputError);
  std::filesystem::remove(file);
}

TEST(SymplecticEnergyMomentum, RefusesLoadsMovingSupportsAndBoundsOutOfRange) {
  const auto refused = [](const Model& model, StepBounds bounds) {
    try {
      SyncSymplecticEnergyMomentum method(model, 0.1, midpoint_action(0.5), bounds);
    } catch (const InputError&) {
      return true;
    }
    return false;
  };
  const auto body = [](bool load, bool support) {
    return make_body_with(triangle_mesh(CellType::triangle3, 1), NeoHookean{{1.3, 0.7}}, 1.2,
                          [&](const Mesh& mesh, Model::Parts& parts) {
                            if (support)
                              parts.supports = one_support(mesh, moving("left", nodes_of(mesh, "left"), {"t", "0"}, 2));
                            if (load)
                              add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0", "-1"}, 2)));
                          });
  };
  EXPECT_FALSE(refused(*body(false, false).model, {}));
  EXPECT_TRUE(refused(*body(true, false).model, {}));
  EXPECT_TRUE(refused(*body(false, true).model, {}));
  EXPECT_TRUE(refused(*body(false, false).model, {0.0, 4.0}));
  EXPECT_TRUE(refused(*body(false, false).model, {1.5, 4.0}));
  EXPECT_TRUE(refused(*body(false, false).model, {0.5, 0.9}));
}

}  // namespace
}  // namespace tempi::test
