// SPDX-License-Identifier: Apache-2.0
// The synchronous variational integrators as tests run them.
#pragma once

#include "support/runs.hpp"
#include "tempi/integrator/sync_variational.hpp"

namespace tempi::test {

// One of every kind of discrete Lagrangian, with the smallest of the steps.
inline Method variational(std::string name, const DiscreteAction& action) {
  return {std::move(name), [action](const Model& model, const std::vector<double>& steps) {
            return std::make_unique<SyncVariational>(model, action, smallest(steps));
          }};
}
inline std::vector<Method> variational_methods() {
  return {variational("symplectic euler a", midpoint_action(0.0)),
          variational("symplectic euler b", midpoint_action(1.0)),
          variational("midpoint 0.5", midpoint_action(0.5)),
          variational("midpoint 0.3", midpoint_action(0.3)),
          variational("trapezoidal 0.5", trapezoidal_action(0.5)),
          variational("trapezoidal 0.2", trapezoidal_action(0.2)),
          variational("symmetric midpoint 0.25", symmetric_midpoint_action(0.25)),
          variational("gauss 4", gauss_action(4)),
          variational("gauss 6", gauss_action(6)),
          variational("lobatto 4", lobatto_action(4)),
          variational("lobatto 6", lobatto_action(6))};
}

}  // namespace tempi::test
