// SPDX-License-Identifier: Apache-2.0
// Energy-stepping for tests that hold methods of every kind to one thing: they have no steps, but an energy step.
#pragma once

#include <gtest/gtest.h>

#include "support/pair_cases.hpp"
#include "support/runs.hpp"
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

}  // namespace tempi::test
