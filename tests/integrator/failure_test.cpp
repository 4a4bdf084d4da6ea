// SPDX-License-Identifier: Apache-2.0
// Runs that go wrong stop at once, say where, when and why, and leave the last good state behind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <regex>

#include "support/runs.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy_residual.hpp"

namespace tempi::test {
namespace {

// The message of the SolveError that stops the run, if any does.
std::optional<std::string> message_of(Integrator& integrator, State& state, double t_end) {
  try {
    integrator.advance_to(state, t_end);
  } catch (const SolveError& error) {
    return error.what();
  }
  return std::nullopt;
}

// On a lattice all terms of a tick strike before it is known whether they may; what they did is taken back, exactly but
// for rounding. And stable steps are looked at every 8192 updates instead of every 64.
bool is_on_a_lattice(const Method& method) { return method.name.ends_with("on a lattice"); }

// The number behind `key` in a message.
double number_after(const std::string& text, const std::string& key) {
  std::smatch found;
  const std::regex pattern(key + R"(\s*(-?[0-9.]+(e[-+]?[0-9]+)?))");
  return std::regex_search(text, found, pattern) ? std::stod(found[1]) : std::numeric_limits<double>::quiet_NaN();
}

// A bar of two cells whose middle node is shot to the left: the first cell has J = 1 - V t / L until it strikes.
struct Shot {
  Body body = make_body(bar_mesh(2), LinearElastic{{1.3, 0.7}}, 1.2);
  std::vector<double> steps = {0.05, 0.07};
  State start = reference_state(*body.model);
  explicit Shot(double V) { start.velocity[1] = -V; }
};

TEST(Inversion, StopsTheRunAtTheFirstUpdateAndTellsCellTimeAndJ) {
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    Shot shot(15.0);
    const auto integrator = method.make(*shot.body.model, shot.steps);
    const auto message = message_of(*integrator, shot.start, 1.0);
    ASSERT_TRUE(message.has_value());
    EXPECT_NE(message->find("cell 1 "), std::string::npos) << *message;
    EXPECT_NE(message->find("inverted"), std::string::npos) << *message;
    EXPECT_NEAR(number_after(*message, "t ="), 0.05, 1e-9) << *message;
    EXPECT_NEAR(number_after(*message, "det F ="), 1.0 - 15.0 * 0.05 / 0.5, 1e-5) << *message;
    EXPECT_EQ(integrator->updates(TermId{0}), 0);
  }
}

TEST(Inversion, DoesNotStopARunThatStaysJustShortOfIt) {
  for (const Method& method : methods()) {
    Shot shot(9.9);  // J = 0.01 at the first strike, which turns it round
    const auto integrator = method.make(*shot.body.model, shot.steps);
    EXPECT_EQ(message_of(*integrator, shot.start, 0.06), std::nullopt) << method.name;
  }
}

// The last node of a body of each element, shot through it.
struct Failing {
  Body body;
  std::vector<double> steps;
  State start;
};
Failing failing(const MeshCase& mesh) {
  Body body = make_body(mesh.make(), NeoHookean{{1.3, 0.7}}, 1.2);
  std::vector<double> steps = own_steps(*body.model, 0.4);
  Random random(3);
  for (double& step : steps) step *= random.uniform(0.9, 1.0);  // one at a time
  State start = moving_state(body, 0.1, 0.02, 5);
  const std::size_t n = start.velocity.size(), d = static_cast<std::size_t>(body.mesh->dim());
  const auto centre = mass_average(*body.model, body.mesh->points());
  for (std::size_t i = n - d; i < n; ++i) start.velocity[i] = 60.0 * (centre[i % d] - body.mesh->points()[i]);
  return {std::move(body), std::move(steps), std::move(start)};
}

// The term whose next update failed: the one at which the message's time falls.
TermId culprit(const Body& body, const Integrator& integrator, double t) {
  TermId best{0};
  double least = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < body.model->term_count(); ++i) {
    const auto term = make_id<TermId>(i);
    const double distance = std::abs(static_cast<double>(integrator.updates(term) + 1) * integrator.step(term) - t);
    if (distance < least) least = distance, best = term;
  }
  return best;
}

TEST(Inversion, IsFoundInEveryElementWithinOneUpdate) {
  for (const MeshCase& mesh : mesh_cases())
    for (const Method& method : methods()) {
      SCOPED_TRACE(mesh.name + " " + method.name);
      Failing f = failing(mesh);
      const auto integrator = method.make(*f.body.model, f.steps), twin = method.make(*f.body.model, f.steps);
      State state = f.start, before = f.start;
      const auto message = message_of(*integrator, state, 10.0);
      ASSERT_TRUE(message.has_value());
      EXPECT_NE(message->find("cell "), std::string::npos) << *message;
      EXPECT_LE(number_after(*message, "det F ="), 0.0) << *message;
      // Everything up to the failing time is admissible wherever an update has looked.
      const TermId term = culprit(f.body, *integrator, number_after(*message, "t ="));
      const double t = static_cast<double>(integrator->updates(term) + 1) * integrator->step(term);
      EXPECT_NO_THROW(twin->advance_to(before, t));
      EXPECT_THROW(twin->advance_to(before, t * (1.0 + 1e-12)), SolveError);
    }
}

// Nodes of the offending term may have drifted; nothing has been kicked.
TEST(Inversion, LeavesTheVelocitiesOfTheMomentBeforeTheOffendingUpdate) {
  for (const MeshCase& mesh : mesh_cases())
    for (const Method& method : methods()) {
      SCOPED_TRACE(mesh.name + " " + method.name);
      Failing f = failing(mesh);
      const auto integrator = method.make(*f.body.model, f.steps), twin = method.make(*f.body.model, f.steps);
      State state = f.start, before = f.start;
      const auto message = message_of(*integrator, state, 10.0);
      ASSERT_TRUE(message.has_value());
      const TermId term = culprit(f.body, *integrator, number_after(*message, "t ="));
      twin->advance_to(before, static_cast<double>(integrator->updates(term) + 1) * integrator->step(term));
      if (is_on_a_lattice(method)) {
        EXPECT_LT(largest_difference(state.velocity, before.velocity), 1e-14 * largest(before.velocity));
      } else {
        EXPECT_TRUE(same_bits(state.velocity, before.velocity));
      }
      EXPECT_TRUE(std::isfinite(largest(state.displacement)) && std::isfinite(largest(state.velocity)));
    }
}

TEST(Inversion, UnderObservationLeavesTheSameState) {
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    Failing f = failing(mesh_cases()[1]);
    std::ranges::fill(f.steps, smallest(f.steps));  // all at once
    const auto plain_run = method.make(*f.body.model, f.steps), observed_run = method.make(*f.body.model, f.steps);
    State state = f.start, observed = f.start;
    EnergyResidual residual(*f.body.model);
    EXPECT_THROW(plain_run->advance_to(state, 10.0), SolveError);
    EXPECT_THROW(observed_run->advance_to(observed, 10.0, residual), SolveError);
    // Same instant: no node has a clock, no term a count that differs by more than that one event.
    EXPECT_TRUE(same_bits(state.velocity, observed.velocity));
    for (Index i = 0; i < f.body.model->term_count(); ++i)
      EXPECT_EQ(plain_run->updates(make_id<TermId>(i)), observed_run->updates(make_id<TermId>(i))) << "term " << i;
  }
}

TEST(StableStep, ThatFallsBelowTheStepStopsTheRunAndTellsBoth) {
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    // Neo-Hookean and slowly crushed: at stretch g the stiffness is (lambda (1 - ln g) + mu (1 + g^2)) / g^2.
    const double rate = is_on_a_lattice(method) ? 0.004 / 128 : 0.004;
    const Body body = make_body_with(bar_mesh(2), NeoHookean{{1.3, 0.7}}, 1.2, [&](const Mesh& mesh, Model::Parts& p) {
      std::vector<Support> supports;
      supports.push_back(resting("left", {NodeId{0}}, 1));
      supports.push_back(moving("right", {NodeId{2}}, {"-t*" + fmt::format("{}", rate)}, 1));
      p.supports = Supports(std::move(supports), mesh.points(), 1);
    });
    const double step = 0.7 * smallest(own_steps(*body.model, 1.0));
    const auto integrator = method.make(*body.model, uniform_steps(*body.model, step));
    State state = reference_state(*body.model);
    const auto message = message_of(*integrator, state, 0.96 / rate);
    ASSERT_TRUE(message.has_value());
    EXPECT_NE(message->find("cell "), std::string::npos) << *message;
    EXPECT_NEAR(number_after(*message, "the step"), step, 1e-5 * step) << *message;
    const double stable = number_after(*message, "down to"), t = number_after(*message, "at t =");
    EXPECT_LT(stable, step);
    EXPECT_GT(stable, 0.98 * step) << "found late: " << *message;
    // The quasi-static stretch at that time has that stable step: L sqrt(rho / A(g)).
    const double gamma = 1.0 - rate * t;
    const double A = (1.3 * (1.0 - std::log(gamma)) + 0.7 * (1.0 + gamma * gamma)) / (gamma * gamma);
    EXPECT_NEAR(stable, 0.5 * std::sqrt(1.2 / A), 0.02 * stable);
  }
}

TEST(StableStep, OfALinearMaterialDoesNotFallAndTheRunGoesOn) {
  const Body body = make_body_with(bar_mesh(2), LinearElastic{{1.3, 0.7}}, 1.2, [](const Mesh& mesh, Model::Parts& p) {
    std::vector<Support> supports;
    supports.push_back(resting("left", {NodeId{0}}, 1));
    supports.push_back(moving("right", {NodeId{2}}, {"-0.004*t"}, 1));
    p.supports = Supports(std::move(supports), mesh.points(), 1);
  });
  const double step = 0.7 * smallest(own_steps(*body.model, 1.0));
  for (const Method& method : methods()) {
    State state = reference_state(*body.model);
    const auto integrator = method.make(*body.model, uniform_steps(*body.model, step));
    EXPECT_EQ(message_of(*integrator, state, 200.0), std::nullopt);
  }
}

TEST(NotANumber, InAVelocityStopsTheRunAtTheFirstUpdateOfItsNode) {
  for (const MeshCase& mesh : mesh_cases())
    for (const Method& method : methods())
      for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        SCOPED_TRACE(mesh.name + " " + method.name);
        const Body body = make_body(mesh.make(), NeoHookean{{1.3, 0.7}}, 1.2);
        const std::vector<double> steps = own_steps(*body.model, 0.4);
        State state = moving_state(body, 0.1, 0.02, 5);
        state.velocity[static_cast<std::size_t>(body.mesh->dim())] = bad;
        double first = std::numeric_limits<double>::infinity();
        const NodeTerms around = node_terms(*body.model);
        const auto integrator = method.make(*body.model, steps);
        for (const TermId term : around[NodeId{1}]) first = std::min(first, integrator->step(term));
        const auto message = message_of(*integrator, state, 10.0);
        ASSERT_TRUE(message.has_value());
        EXPECT_NE(message->find("not finite"), std::string::npos) << *message;
        if (method.name.find("mollified") != std::string::npos) {  // hears of its neighbours' kicks at once
          EXPECT_LE(number_after(*message, "at t ="), first + 1e-8);
        } else {
          EXPECT_NEAR(number_after(*message, "at t ="), first, 1e-8);
        }
      }
}

TEST(APrescribedMotion, ThatIsNotFiniteStopsTheRunAndTellsItsFormula) {
  const Body body = make_body_with(bar_mesh(4), LinearElastic{{1.3, 0.7}}, 1.2, [](const Mesh& mesh, Model::Parts& p) {
    p.supports = one_support(mesh, moving("left", nodes_of(mesh, "left"), {"sqrt(1-t)-1"}, 1));
  });
  for (const Method& method : methods()) {
    const std::vector<double> steps = own_steps(*body.model, 0.4);
    State state = reference_state(*body.model);
    const auto integrator = method.make(*body.model, steps);
    const auto message = message_of(*integrator, state, 2.0);
    ASSERT_TRUE(message.has_value());
    EXPECT_NE(message->find("sqrt(1-t)-1"), std::string::npos) << *message;
  }
}

}  // namespace
}  // namespace tempi::test
