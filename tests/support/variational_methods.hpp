// SPDX-License-Identifier: Apache-2.0
// The synchronous methods as tests run them: the variational family, and those that are none.
#pragma once

#include <fmt/format.h>

#include "support/runs.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"
#include "tempi/integrator/multi_domain/multi_domain.hpp"
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
// The first half of the terms a domain, the others another, with substeps of their own; one without any where they
// share no node.
inline Method multi_domain(std::string name, DomainRule first, DomainRule second) {
  return {std::move(name), [first, second](const Model& model, const std::vector<double>& steps) {
            const auto count = static_cast<std::size_t>(model.term_count());
            Domains domains{std::vector<int>(count, 0), {first}};
            std::vector<char> touched(static_cast<std::size_t>(model.node_count()), 0);
            bool joined = false;
            for (std::size_t k = 0; k < count; ++k)
              for (const NodeId a : model.term(make_id<TermId>(static_cast<Index>(k))).stencil()) {
                joined = joined || (k >= count / 2 && touched[ordinal(a)] != 0);
                if (k < count / 2) touched[ordinal(a)] = 1;
              }
            if (!joined) domains.rules.front().substeps = 1;
            if (joined) {
              for (std::size_t k = count / 2; k < count; ++k) domains.of_term[k] = 1;
              domains.rules.push_back(second);
            }
            return std::make_unique<MultiDomain>(model, std::move(domains), smallest(steps));
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
          variational("lobatto 6", lobatto_action(6)),
          multi_domain("explicit domains", {0.0, 3}, {0.0, 1}),
          multi_domain("domains implicit and explicit", {0.5, 2}, {0.0, 1})};
}

// Explicit ones of one force a step as the lattice engine runs them: kicked by a part of the step at the start.
inline std::vector<Method> kicked_methods() {
  std::vector<Method> all;
  for (const double ahead : {0.0, 0.5, 0.8, 1.0})
    all.push_back(
        {fmt::format("kicked {} ahead", ahead), [ahead](const Model& model, const std::vector<double>& steps) {
           const std::vector<std::int32_t> ticks(static_cast<std::size_t>(model.term_count()), 1);
           return std::make_unique<AviLattice>(model, TickLattice{smallest(steps), ticks},
                                               LatticeOptions{1, 0.0, Coupling::plain, 0.0, ahead, "kicked"});
         }});
  return all;
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
