// SPDX-License-Identifier: Apache-2.0
// Synchronous variational integrators: what they have in common with each other and with closed forms, loads, supports,
// large steps, failures. Claims are in tests/verification/claims_test.cpp.
#include "tempi/integrator/one_step/sync_variational.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "support/variational_methods.hpp"
#include "tempi/core/error.hpp"

namespace tempi::test {
namespace {

Body block() {
  return make_body(centred(triangle_mesh(CellType::triangle3, 2, 0.15, 12)), NeoHookean{{1.3, 0.7}}, 1.2);
}

State run(Integrator& integrator, State state, double t) {
  integrator.advance_to(state, t);
  return integrator.synchronized(state, t).state;
}

// Largest difference of positions and velocities after `steps` steps and a half.
double difference(const Body& body, const DiscreteAction& one, const DiscreteAction& other, int steps) {
  const double h = 0.5 * smallest(own_steps(*body.model, 1.0)), t = (steps + 0.5) * h;
  SyncVariational a(*body.model, one, h), b(*body.model, other, h);
  const State start = moving_state(body, 0.3, 0.05, 5);
  const State x = run(a, start, t), y = run(b, start, t);
  return std::max(largest_difference(x.displacement, y.displacement), largest_difference(x.velocity, y.velocity));
}

TEST(DiscreteAction, weights_and_shape_functions_sum_to_one_and_slopes_to_zero) {
  for (const DiscreteAction& action :
       {midpoint_action(0.3), trapezoidal_action(0.2), symmetric_midpoint_action(0.1), gauss_action(2), gauss_action(4),
        gauss_action(6), lobatto_action(2), lobatto_action(4), lobatto_action(6)}) {
    EXPECT_NEAR(std::accumulate(action.weights.begin(), action.weights.end(), 0.0), 1.0, 1e-15);
    // A motion linear in time has its own positions and the velocity 1 at every point of the quadrature.
    for (std::size_t i = 0; i < action.points.size(); ++i) {
      double x = 0.0, v = 0.0, one = 0.0, zero = 0.0;
      for (std::size_t j = 0; j < action.control.size(); ++j) {
        x += action.phi[i][j] * action.control[j], v += action.slope[i][j] * action.control[j];
        one += action.phi[i][j], zero += action.slope[i][j];
      }
      EXPECT_NEAR(x, action.points[i], 1e-15);
      EXPECT_NEAR(v, 1.0, 1e-14);
      EXPECT_NEAR(one, 1.0, 1e-15);
      EXPECT_NEAR(zero, 0.0, 1e-14);
    }
  }
}

TEST(DiscreteAction, tells_which_are_explicit) {
  for (const auto& action :
       {midpoint_action(0.0), midpoint_action(1.0), trapezoidal_action(0.5), trapezoidal_action(0.0),
        symmetric_midpoint_action(0.0), symmetric_midpoint_action(1.0), lobatto_action(2)})
    EXPECT_TRUE(action.is_explicit()) << action.name;
  for (const auto& action : {midpoint_action(0.5), symmetric_midpoint_action(0.5), gauss_action(4), lobatto_action(4)})
    EXPECT_FALSE(action.is_explicit()) << action.name;
}

TEST(DiscreteAction, refuses_what_is_no_method) {
  for (const double alpha : {-0.1, 1.1, std::nan("")}) {
    EXPECT_THROW(midpoint_action(alpha), InputError);
    EXPECT_THROW(trapezoidal_action(alpha), InputError);
    EXPECT_THROW(symmetric_midpoint_action(alpha), InputError);
  }
  for (const int order : {0, 1, 3, 8}) {
    EXPECT_THROW(gauss_action(order), InputError);
    EXPECT_THROW(lobatto_action(order), InputError);
  }
}

TEST(SyncVariational, members_of_the_family_that_are_the_same_agree) {
  const Body body = block();
  constexpr int steps = 100;
  EXPECT_LT(difference(body, trapezoidal_action(0.5), lobatto_action(2), steps), 1e-13);
  EXPECT_LT(difference(body, trapezoidal_action(0.5), symmetric_midpoint_action(0.0), steps), 1e-13);
  EXPECT_LT(difference(body, trapezoidal_action(0.5), symmetric_midpoint_action(1.0), steps), 1e-13);
  EXPECT_LT(difference(body, midpoint_action(0.5), gauss_action(2), steps), 1e-13);
  EXPECT_LT(difference(body, midpoint_action(0.5), symmetric_midpoint_action(0.5), steps), 1e-12);
  EXPECT_GT(difference(body, midpoint_action(0.5), trapezoidal_action(0.5), steps), 1e-4);
  EXPECT_GT(difference(body, midpoint_action(0.0), midpoint_action(1.0), steps), 1e-4);
}

TEST(SyncVariational, trapezoidal_rule_of_one_half_is_explicit_newmark) {
  for (const Body& body : {block(), make_body_held_at(triangle_mesh(CellType::triangle6, 2, 0.1, 3),
                                                      NeoHookean{{1.3, 0.7}}, 1.2, "left")}) {
    const double h = 0.5 * smallest(own_steps(*body.model, 1.0));
    const State start = moving_state(body, 0.0, 0.05, 5);
    SyncVariational variational(*body.model, trapezoidal_action(0.5), h);
    SyncNewmark newmark(*body.model, h);
    const State x = run(variational, start, 200.0 * h), y = run(newmark, start, 200.0 * h);
    EXPECT_LT(largest_difference(x.displacement, y.displacement), 1e-12);
    EXPECT_LT(largest_difference(x.velocity, y.velocity), 1e-12);
  }
}

// One mass on one linear bar, the other end held: x'' = -omega^2 x. The methods' own frequencies: midpoint tan(w h / 2)
// = omega h / 2 at any step; leapfrog sin(w h / 2) = omega h / 2.
TEST(SyncVariational, an_oscillator_has_each_method_s_own_phase) {
  const Body body = make_body_held_at(bar_mesh(1), LinearElastic{{1.3, 0.7}}, 1.0, "left");
  const double omega = 2.0 / (smallest(own_steps(*body.model, 1.0)) * std::sqrt(2.0));  // one of two masses is held
  const auto worst = [&](const DiscreteAction& action, double h, double frequency) {
    SyncVariational integrator(*body.model, action, h);
    State state = reference_state(*body.model);
    state.displacement[1] = 0.01;
    double result = 0.0;
    for (int j = 1; j <= 300; ++j) {
      integrator.advance_to(state, (j + 0.5) * h);
      result = std::max(result, std::abs(state.displacement[1] - 0.01 * std::cos(frequency * j * h)));
    }
    return result;
  };
  for (const double wh : {0.3, 1.0, 1.9, 20.0}) {
    const double h = wh / omega;
    EXPECT_LT(worst(midpoint_action(0.5), h, 2.0 / h * std::atan(wh / 2)), 1e-13) << wh;
    if (wh < 2.0) {
      EXPECT_LT(worst(trapezoidal_action(0.5), h, 2.0 / h * std::asin(wh / 2)), 1e-13) << wh;
    }
  }
  EXPECT_LT(worst(gauss_action(6), 0.3 / omega, omega), 1e-8);
  EXPECT_GT(worst(midpoint_action(0.5), 0.3 / omega, omega), 1e-4);
}

Body loaded() {
  return make_body_with(
      triangle_mesh(CellType::triangle3, 3, 0.1, 4), NeoHookean{{1.3, 0.7}}, 1.2,
      [](const Mesh& mesh, Model::Parts& parts) {
        parts.supports =
            one_support(mesh, moving("left", nodes_of(mesh, "left"), {"0.01*sin(3*t)", "0.02*t*X + 0.01*t^2"}, 2));
        add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.02", "-0.05*cos(t)"}, 2)));
        add_force(parts, make_pressure(mesh, facets_of(mesh, "right"), Expression(0.01), PressureFrame::deformed));
      });
}

// At the ends of steps; between them reported motions differ, both within the order.
TEST(SyncVariational, explicit_rules_are_kicks_on_the_lattice) {
  for (const Body& body : {block(), loaded()})
    for (const double alpha : {0.0, 0.2, 0.5, 1.0}) {
      SCOPED_TRACE(alpha);
      const double h = 0.5 * smallest(own_steps(*body.model, 1.0));
      const DiscreteAction action = trapezoidal_action(alpha);
      ASSERT_EQ(action.ahead(), 1.0 - alpha);
      SyncVariational rule(*body.model, action, h);
      const std::vector<std::int32_t> ticks(static_cast<std::size_t>(body.model->term_count()), 1);
      AviLattice kicks(*body.model, {h, ticks}, {1, 0.0, Coupling::plain, 0.0, *action.ahead(), "trapezoidal"});
      State start = moving_state(body, 0.0, 0.05, 5);  // where nothing is strained all rules begin alike
      for (std::size_t i = 0; i < start.velocity.size(); ++i) start.displacement[i] = 0.1 * start.velocity[i];
      State a = start, b = start;
      for (const int steps : {1, 2, 60}) {
        rule.advance_to(a, steps * h);
        kicks.advance_to(b, steps * h);
        const Snapshot x = rule.synchronized(a, steps * h), y = kicks.synchronized(b, steps * h);
        EXPECT_LT(largest_difference(x.state.displacement, y.state.displacement), 1e-13);
        EXPECT_LT(largest_difference(x.state.velocity, y.state.velocity), 1e-12);
        EXPECT_NEAR(x.potential_energy, y.potential_energy, 1e-13);
        EXPECT_EQ(rule.updates(TermId{0}), kicks.updates(TermId{0}));
      }
      EXPECT_EQ(kicks.measures(), (Integrator::Measures{{"force_evaluations", 60.0}}));  // 59 steps, and the start
      // The rules of other parts are others: at the start they part by a difference of kicks.
      SyncVariational other(*body.model, trapezoidal_action(alpha == 0.5 ? 0.0 : 0.5), h);
      EXPECT_GT(largest_difference(run(other, start, 60 * h).displacement,
                                   kicks.synchronized(b, 60 * h).state.displacement),
                1e-6);
    }
  EXPECT_EQ(midpoint_action(0.0).ahead(), 1.0);
  EXPECT_EQ(midpoint_action(1.0).ahead(), 0.0);
  EXPECT_EQ(lobatto_action(2).ahead(), 0.5);
  for (const DiscreteAction& implicit : {midpoint_action(0.5), gauss_action(4), lobatto_action(4)})
    EXPECT_FALSE(implicit.ahead()) << implicit.name;
}

// What momenta change by is what loads and supports have given, whatever the method.
TEST(SyncVariational, ledgers_of_loads_and_supports_close) {
  const Body body = loaded();
  const double h = 0.3 * smallest(own_steps(*body.model, 1.0));
  std::vector<Method> all = variational_methods();
  for (const Method& method : kicked_methods()) all.push_back(method);
  for (const Method& method : all) {
    SCOPED_TRACE(method.name);
    const auto integrator = method.make(*body.model, {h});
    State state = reference_state(*body.model);
    const Balance balance = run_and_balance(*body.model, *integrator, state, 60.0 * h, 20);
    EXPECT_LT(balance.linear_momentum().error, 1e-12);
    EXPECT_LT(balance.angular_momentum().error, 1e-11);
  }
}

// Loads and moving supports do not spoil the order.
TEST(SyncVariational, loads_and_supports_keep_the_order) {
  const Body body = loaded();
  const double base = 0.8 * smallest(own_steps(*body.model, 1.0)), t = 16.0 * base;
  SyncVariational fine(*body.model, gauss_action(6), base / 8);
  const State exact = run(fine, reference_state(*body.model), t);
  for (const auto& [action, coarse] :
       {std::pair(midpoint_action(0.5), base / 2), std::pair(trapezoidal_action(0.5), base / 2),
        std::pair(gauss_action(4), base), std::pair(midpoint_action(0.3), base / 8)}) {
    std::vector<double> steps, errors;
    for (double h = coarse; h > coarse / 5; h *= 0.5) {
      SyncVariational integrator(*body.model, action, h);
      const State at = run(integrator, reference_state(*body.model), t);
      steps.push_back(h), errors.push_back(largest_difference(at.displacement, exact.displacement));
    }
    EXPECT_NEAR(slope(steps, errors), action.order, 0.25) << action.name;
  }
}

// 50 times the largest explicit step: implicit midpoint goes through, energy in a band; the explicit rule fails.
TEST(SyncVariational, implicit_methods_take_steps_far_beyond_the_explicit_limit) {
  const Body body =
      make_body_held_at(tetrahedron_mesh(CellType::tetrahedron4, 3, 0.1, 5), LinearElastic{{1.3, 0.7}}, 1.2, "left");
  const double h = 50.0 * smallest(own_steps(*body.model, 1.0));
  State state = moving_state(body, 0.0, 0.05, 5);
  SyncVariational integrator(*body.model, midpoint_action(0.5), h);
  const Balance balance = run_and_balance(*body.model, integrator, state, 100.5 * h, 100);
  EXPECT_LT(balance.energy().band, 1e-10);  // a quadratic energy is kept
  State other = moving_state(body, 0.0, 0.05, 5);
  SyncVariational explicit_rule(*body.model, trapezoidal_action(0.5), h);
  EXPECT_THROW(explicit_rule.advance_to(other, 20.5 * h), SolveError);
}

TEST(SyncVariational, newton_needs_few_iterations_and_says_when_it_does_not_converge) {
  const Body body =
      make_body_held_at(tetrahedron_mesh(CellType::tetrahedron4, 4, 0.1, 5), NeoHookean{{1.3, 0.7}}, 1.2, "left");
  const double h = 20.0 * smallest(own_steps(*body.model, 1.0));
  SyncVariational integrator(*body.model, midpoint_action(0.5), h);
  State state = moving_state(body, 0.0, 0.005, 5);
  integrator.advance_to(state, 10.5 * h);
  EXPECT_EQ(integrator.updates(TermId{0}), 10);
  EXPECT_LE(integrator.map().newton_iterations(), 150);  // each leaves a tenth at most: 15 to 1e-14 of it
  State wild = moving_state(body, 0.0, 50.0, 5);
  SyncVariational another(*body.model, midpoint_action(0.5), h);
  EXPECT_THROW(another.advance_to(wild, 10.5 * h), SolveError);
}

// Nothing moves, and what forces there are is rounding: that is solved, too.
TEST(SyncVariational, a_turned_body_at_rest_stays_at_rest_at_any_step) {
  const Body body = make_body(tetrahedron_mesh(CellType::tetrahedron4, 3, 0.1, 5), NeoHookean{{1.3, 0.7}}, 1.2);
  const double h = 30.0 * smallest(own_steps(*body.model, 1.0));
  State state = reference_state(*body.model);
  state.displacement = rigid_displacements(*body.mesh, 1.0, {0.1, 0.2, 0.3});
  const auto start = state.displacement;
  SyncVariational integrator(*body.model, midpoint_action(0.5), h);
  integrator.advance_to(state, 20.5 * h);
  EXPECT_LT(largest_difference(state.displacement, start), 1e-12);
}

TEST(SyncVariational, goes_on_after_a_checkpoint_and_output_changes_nothing) {
  const Body body = loaded();
  const double h = 0.4 * smallest(own_steps(*body.model, 1.0));
  for (const auto& action : {midpoint_action(0.5), lobatto_action(4), trapezoidal_action(0.5)}) {
    SyncVariational straight(*body.model, action, h), stopped(*body.model, action, h), resumed(*body.model, action, h);
    State a = reference_state(*body.model), b = a, c = a;
    straight.advance_to(a, 20.5 * h);
    stopped.advance_to(b, 7.5 * h);
    (void)stopped.synchronized(b, 7.7 * h);
    std::stringstream file;
    ArchiveWriter writer(file);
    b.save(writer);
    stopped.save(writer);
    ArchiveReader reader(file);
    c.load(reader);
    resumed.load(reader);
    resumed.advance_to(c, 20.5 * h);
    stopped.advance_to(b, 20.5 * h);
    EXPECT_TRUE(same_bits(a, b));
    EXPECT_TRUE(same_bits(a, c));
  }
}

}  // namespace
}  // namespace tempi::test
