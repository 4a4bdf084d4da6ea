// SPDX-License-Identifier: Apache-2.0
// Energy-stepping for tests that hold methods of every kind to one thing: they have no steps, but an energy step.
#pragma once

#include "support/runs.hpp"
#include "tempi/integrator/stepping/stepping_energy.hpp"
#include "tempi/integrator/stepping/stepping_force.hpp"

namespace tempi::test {

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
