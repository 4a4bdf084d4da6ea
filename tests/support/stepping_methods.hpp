// SPDX-License-Identifier: Apache-2.0
// Energy-stepping for tests that hold methods of every kind to one thing: they have no steps, but an energy step.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <filesystem>

#include "support/coming_back.hpp"
#include "support/pair_cases.hpp"
#include "support/runs.hpp"
#include "tempi/integrator/checkpoint.hpp"
#include "tempi/integrator/stepping/stepping_energy.hpp"
#include "tempi/integrator/stepping/stepping_force.hpp"

namespace tempi::test {

// Frozen argon in units of epsilon, sigma and the atom's mass, spun up: the thesis' Table 2.1 rounded.
inline Body atoms() {
  const std::vector<double> X = {0.0, 0.06, 0.06, 1.14, 1.0, 0.5, 1.06, -0.62, -0.06, -1.17, -1.03, -0.47, -0.91, 0.62};
  Model::Parts parts = particles(2, X, std::vector<double>(7, 1.0));
  add_pairs(parts, all_pairs(7), LennardJones{1.0, 1.0, {}});
  Body body;
  body.model = std::make_unique<Model>(std::move(parts));
  return body;
}

inline Method energy_stepping(double energy_step = 1e-4) {
  return {"energy stepping", [=](const Model& model, const std::vector<double>& steps) -> std::unique_ptr<Integrator> {
            return std::make_unique<SteppingEnergy>(model, one_subdomain(model, energy_step), steps);
          }};
}

// Every third term together.
inline Method async_energy_stepping(double energy_step = 1e-4) {
  return {"async energy stepping",
          [=](const Model& model, const std::vector<double>& steps) -> std::unique_ptr<Integrator> {
            Subdomains all = one_subdomain(model, energy_step);
            for (std::size_t k = 0; k < all.of_term.size(); ++k) all.of_term[k] = static_cast<std::int32_t>(k % 3);
            all.energy_step.assign(3, energy_step);
            return std::make_unique<SteppingEnergy>(model, std::move(all), steps);
          }};
}

inline Method force_stepping(double grid = 1e-2) {
  return {"force stepping", [=](const Model& model, const std::vector<double>& steps) -> std::unique_ptr<Integrator> {
            return std::make_unique<SteppingForce>(model, ForceGrid{{grid}}, steps.front());
          }};
}

// ---- what it keeps ----

inline double kinetic(const Model& model, const State& state) {
  double sum = 0.0;
  const auto d = static_cast<std::size_t>(model.dim());
  for (std::size_t i = 0; i < state.velocity.size(); ++i)
    sum += 0.5 * model.mass()[i / d] * state.velocity[i] * state.velocity[i];
  return sum;
}

struct Kept {
  Index events;
  double levels, linear, angular, beyond;  // beyond: how far T + V strays from its band, over it
};
inline Kept kept_over(const Body& body, SteppingEnergy& method, State state, double end) {
  const Model& model = *body.model;
  const Momenta before = momenta(model, state);
  Kept kept{};
  for (int i = 1; i <= 200; ++i) {
    method.advance_to(state, end * i / 200);
    const Snapshot at = method.synchronized(state, end * i / 200);
    double stepped = kinetic(model, at.state);
    for (Index j = 0; j < method.subdomain_count(); ++j)
      stepped += static_cast<double>(method.level(j)) * method.energy_step(j);
    kept.levels = std::max(kept.levels, std::abs((stepped - method.stepped_energy()) / method.stepped_energy()));
    const Momenta now = momenta(model, at.state);
    for (std::size_t c = 0; c < 3; ++c) {
      kept.linear = std::max(kept.linear, std::abs(now.linear[c] - before.linear[c]) / before.linear_scale);
      kept.angular = std::max(kept.angular, std::abs(now.angular[c] - before.angular[c]) / before.angular_scale);
    }
    const double over = kinetic(model, at.state) + at.potential_energy - method.stepped_energy();
    kept.beyond = std::max({kept.beyond, -over / method.energy_resolution(), over / method.energy_resolution() - 1.0});
  }
  for (Index j = 0; j < method.subdomain_count(); ++j) kept.events += method.events(j).all();
  return kept;
}

inline void expect_kept(const Kept& kept, Index least_events) {
  EXPECT_GE(kept.events, least_events);
  EXPECT_LT(kept.levels, 1e-11);
  EXPECT_LT(kept.linear, 1e-12);
  EXPECT_LT(kept.angular, 1e-11);
  EXPECT_LT(kept.beyond, 1e-9);
}

// Of flow(state), places above velocities, with respect to those of `start`: by central differences.
template <class Flow>
Eigen::MatrixXd derivative_by_differences(const State& start, double spacing, Flow&& flow) {
  const auto n = static_cast<Eigen::Index>(start.velocity.size());
  Eigen::MatrixXd A(2 * n, 2 * n);
  for (Eigen::Index j = 0; j < 2 * n; ++j) {
    State up = start, down = start;
    const auto i = static_cast<std::size_t>(j % n);
    (j < n ? up.displacement : up.velocity)[i] += spacing;
    (j < n ? down.displacement : down.velocity)[i] -= spacing;
    up = flow(up), down = flow(down);
    for (Eigen::Index k = 0; k < n; ++k) {
      const auto row = static_cast<std::size_t>(k);
      A(k, j) = (up.displacement[row] - down.displacement[row]) / (2.0 * spacing);
      A(k + n, j) = (up.velocity[row] - down.velocity[row]) / (2.0 * spacing);
    }
  }
  return A;
}

// The state at `end` has the same bits whether a run was cut off and gone on with through a checkpoint or not, at
// `count` random times. `make`: a method that has not begun.
template <class Make>
void expect_same_bits_through_checkpoints(const Model& model, const State& start, double end, int count, Make&& make) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("tempi_{}_{}.bin", test->test_suite_name(), test->name());
  State expected = start;
  const auto whole = make();
  whole->advance_to(expected, end);
  State often = start;
  EXPECT_GT(advance_coming_back(*make(), often, end), 2);
  EXPECT_TRUE(same_bits(often, expected));
  Random random(4);
  for (int i = 0; i < count; ++i) {
    const auto first = make(), second = make();
    State state = start, later = reference_state(model);
    first->advance_to(state, random.uniform(0.0, end));
    write_checkpoint(file, state, *first);
    first->advance_to(state, end);
    EXPECT_TRUE(same_bits(state, expected));
    read_checkpoint(file, later, *second);
    second->advance_to(later, end);
    EXPECT_TRUE(same_bits(later, expected));
    EXPECT_EQ(second->measures(), whole->measures());
  }
  std::filesystem::remove(file);
}

}  // namespace tempi::test
