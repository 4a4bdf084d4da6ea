// SPDX-License-Identifier: Apache-2.0
// Energy-stepping for tests that hold methods of every kind to one thing: they have no steps, but an energy step.
#pragma once

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
            return std::make_unique<SteppingForce>(model, std::vector{grid}, steps.front());
          }};
}

}  // namespace tempi::test
