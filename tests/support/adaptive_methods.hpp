// SPDX-License-Identifier: Apache-2.0
// Methods that solve for their steps, by nominal ones.
#pragma once

#include "support/runs.hpp"
#include "tempi/integrator/avi/avi_adaptive.hpp"
#include "tempi/integrator/one_step/sync_symplectic_energy_momentum.hpp"

namespace tempi::test {

inline Method symplectic_energy_momentum() {
  return {"symplectic energy momentum", [](const Model& model, const std::vector<double>& steps) {
            return std::make_unique<SyncSymplecticEnergyMomentum>(model, smallest(steps));
          }};
}
inline Method adaptive_avi() {
  return {"avi adaptive", [](const Model& model, const std::vector<double>& steps) {
            return std::make_unique<AviAdaptive>(model, steps, StepBounds{0.5, 2.0});
          }};
}

}  // namespace tempi::test
