// SPDX-License-Identifier: Apache-2.0
// Second order in time, of positions and of reported velocities, on a fixed mesh, against a much finer Newmark.
#include <gtest/gtest.h>

#include "support/runs.hpp"

namespace tempi::test {
namespace {

struct Errors {
  std::vector<double> steps, position, velocity, staggered_velocity;
};

// What the run starts with and how velocities are read.
enum class Start { with_half_kick, without_half_kick };

struct Example {
  std::string name;
  std::function<Mesh()> mesh;
};
std::vector<Example> examples() {
  using enum CellType;
  return {{"bar", [] { return bar_mesh(6, 0.15, 11); }},
          {"triangle3", [] { return triangle_mesh(triangle3, 2, 0.15, 12); }},
          {"triangle6", [] { return triangle_mesh(triangle6, 1, 0.1, 13, 0.05); }},
          {"tetrahedron4", [] { return tetrahedron_mesh(tetrahedron4, 1, 0.15, 14); }},
          {"tetrahedron10", [] { return tetrahedron_mesh(tetrahedron10, 1, 0.1, 15); }}};
}
void PrintTo(const Example& e, std::ostream* out) { *out << e.name; }

// A stretched, spinning neo-Hookean body: smooth motion of some percent of strain.
State stretched(const Body& body) {
  State state = reference_state(*body.model);
  const auto d = static_cast<std::size_t>(body.mesh->dim());
  std::vector<double> A(d * d, 0.02), c(d, 0.0);
  for (std::size_t i = 0; i < d; ++i) A[i * d + i] = 0.08;
  state.displacement = affine_displacements(*body.mesh, A, c);
  state.velocity = spinning_velocities(*body.mesh, 0.2);
  return state;
}

// Steps 2, 3 and 5 times the base, in turn.
std::vector<double> steps_235(const Model& model, double base) {
  std::vector<double> steps;
  for (Index i = 0; i < model.term_count(); ++i)
    steps.push_back(base * std::array{2.0, 3.0, 5.0}[static_cast<std::size_t>(i % 3)]);
  return steps;
}

// Takes the starting half kick off in advance.
void undo_half_kick(const Model& model, const std::vector<double>& steps, State& state) {
  State kicked = state;
  AviExplicit avi(model, steps);
  avi.start(kicked);
  for (std::size_t i = 0; i < state.velocity.size(); ++i) state.velocity[i] -= kicked.velocity[i] - state.velocity[i];
}

// Errors at about 120 bases, a multiple of all steps, for base, base/2, ... base/16. The reference: Newmark at base/64,
// 128 to 320 times finer than the coarsest run's steps (64 or more times on the lattice), so its own error is below
// 1/64 (1/16) of that of the finest run.
Errors errors_of(const Body& body, const Method& method, Start start) {
  const Model& model = *body.model;
  const State initial = stretched(body);
  const double base = 0.04 * smallest(own_steps(model, 1.0));
  const auto make = [&](double b) { return method.make(model, steps_235(model, b)); };
  const double end_time = common_multiple_near(120 * base, steps_taken(model, *make(base)));
  SyncNewmark fine(model, base / 64);
  State reference = initial;
  fine.advance_to(reference, end_time);
  reference = fine.synchronized(reference, end_time).state;
  Errors errors;
  for (double b = base; b > base / 17; b *= 0.5) {
    const auto integrator = make(b);
    State state = initial;
    if (start == Start::without_half_kick) undo_half_kick(model, steps_taken(model, *integrator), state);
    integrator->advance_to(state, end_time);
    const State at = integrator->synchronized(state, end_time).state;
    errors.steps.push_back(b);
    errors.position.push_back(largest_difference(at.displacement, reference.displacement));
    errors.velocity.push_back(largest_difference(at.velocity, reference.velocity));
    errors.staggered_velocity.push_back(largest_difference(state.velocity, reference.velocity));
  }
  return errors;
}

class ConvergenceIn : public testing::TestWithParam<Example> {};

TEST_P(ConvergenceIn, TimeIsOfSecondOrderForPositionsAndReportedVelocities) {
  const Body body = make_body(GetParam().mesh(), NeoHookean{{1.3, 0.7}}, 1.2);
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    const Errors errors = errors_of(body, method, Start::with_half_kick);
    const double of_position = slope(errors.steps, errors.position), of_velocity = slope(errors.steps, errors.velocity);
    RecordProperty(method.name, std::to_string(of_position) + " " + std::to_string(of_velocity));
    EXPECT_NEAR(of_position, 2.0, 0.1);
    EXPECT_NEAR(of_velocity, 2.0, 0.1);
  }
}

TEST_P(ConvergenceIn, TimeIsOfFirstOrderWithoutTheStartingHalfKick) {
  const Body body = make_body(GetParam().mesh(), NeoHookean{{1.3, 0.7}}, 1.2);
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    const Errors errors = errors_of(body, method, Start::without_half_kick);
    RecordProperty(method.name, std::to_string(slope(errors.steps, errors.position)));
    EXPECT_NEAR(slope(errors.steps, errors.position), 1.0, 0.15);
  }
}

TEST_P(ConvergenceIn, TimeIsOfFirstOrderForVelocitiesReadBetweenTheKicks) {
  const Body body = make_body(GetParam().mesh(), NeoHookean{{1.3, 0.7}}, 1.2);
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    const Errors errors = errors_of(body, method, Start::with_half_kick);
    RecordProperty(method.name, std::to_string(slope(errors.steps, errors.staggered_velocity)));
    EXPECT_NEAR(slope(errors.steps, errors.staggered_velocity), 1.0, 0.15);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryElement, ConvergenceIn, testing::ValuesIn(examples()),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace tempi::test
