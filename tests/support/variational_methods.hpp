// SPDX-License-Identifier: Apache-2.0
// The synchronous methods as tests run them: the variational family, and those that are none.
#pragma once

#include <fmt/format.h>

#include "support/runs.hpp"
#include "tempi/integrator/one_step/sync_energy_momentum.hpp"
#include "tempi/integrator/one_step/sync_newmark_implicit.hpp"
#include "tempi/integrator/one_step/sync_rk4.hpp"
#include "tempi/integrator/one_step/sync_variational.hpp"

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
          variational("gauss 2", gauss_action(2)),
          variational("gauss 4", gauss_action(4)),
          variational("gauss 6", gauss_action(6)),
          variational("lobatto 2", lobatto_action(2)),
          variational("lobatto 4", lobatto_action(4)),
          variational("lobatto 6", lobatto_action(6))};
}

inline Method newmark_of(double beta, double gamma) {
  return {fmt::format("newmark {} {}", beta, gamma),
          [beta, gamma](const Model& model, const std::vector<double>& steps) {
            return std::make_unique<SyncNewmarkImplicit>(model, smallest(steps), beta, gamma);
          }};
}
// Newmark's with beta, energy-momentum, and Runge-Kutta as a control.
inline std::vector<Method> other_synchronous_methods() {
  return {newmark_of(0.0, 0.5),
          newmark_of(0.25, 0.5),
          newmark_of(0.3025, 0.6),
          {"energy momentum",
           [](const Model& model, const std::vector<double>& steps) {
             return std::make_unique<SyncEnergyMomentum>(model, smallest(steps));
           }},
          {"rk4", [](const Model& model, const std::vector<double>& steps) {
             return std::make_unique<SyncRk4>(model, smallest(steps));
           }}};
}

}  // namespace tempi::test
