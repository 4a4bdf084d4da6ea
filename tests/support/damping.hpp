// SPDX-License-Identifier: Apache-2.0
// What tests of damped models share: dampers hosted by the terms they belong to, all methods, chains with dashpots.
#pragma once

#include "support/pair_cases.hpp"
#include "support/sync.hpp"
#include "support/variational_methods.hpp"
#include "tempi/force/damping.hpp"
#include "tempi/integrator/lattice/lattice_groups.hpp"
#include "tempi/potential/wells.hpp"

namespace tempi::test {

// All terms of a model at one step.
inline LatticeGroups with_one_step(const Model& model) {
  return lattice_groups(model, std::vector<std::int32_t>(static_cast<std::size_t>(model.term_count()), 1));
}

// Element k within the term `first` + k.
inline void host(Model::Parts& parts, std::unique_ptr<Force> force, Index first = 0) {
  std::vector<TermId> hosts;
  for (Index k = 0; k < force->size(); ++k) hosts.push_back(make_id<TermId>(first + k));
  parts.forces.push_back(std::move(force));
  parts.hosts.push_back(std::move(hosts));
}

// Drag on every node, in equal parts within each term around it. All potentials must be there.
inline void host_drag(Model::Parts& parts, double c) {
  std::vector<std::pair<NodeId, TermId>> all;
  std::vector<int> count(parts.mass.size(), 0);
  Index term = 0;
  for (const auto& potential : parts.potentials)
    for (Index k = 0; k < potential->size(); ++k, ++term)
      for (const NodeId a : potential->stencil(k)) {
        all.emplace_back(a, make_id<TermId>(term));
        ++count[static_cast<std::size_t>(index(a))];
      }
  std::vector<NodalDrag> drags;
  std::vector<TermId> hosts;
  for (const auto& [a, id] : all) {
    drags.push_back({a, c / count[static_cast<std::size_t>(index(a))]});
    hosts.push_back(id);
  }
  parts.forces.push_back(make_drag(parts.dim, std::move(drags)));
  parts.hosts.push_back(std::move(hosts));
}

inline std::vector<Method> all_methods() {
  std::vector<Method> all = methods();
  for (const auto& more : {variational_methods(), other_synchronous_methods()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}
// Their dampers act with velocities that are known already: stable only for c h / m < 2 or so.
inline bool is_explicit_in_v(const Method& method) {
  return method.name == "rk4" || method.name == "symplectic euler b";
}

inline State at(const Integrator& integrator, const State& state, double t) {
  return integrator.synchronized(state, t).state;
}

inline double kinetic_energy(const Model& model, const State& state) {
  double sum = 0.0;
  for (std::size_t i = 0; i < state.velocity.size(); ++i)
    sum += 0.5 * model.mass()[i / static_cast<std::size_t>(model.dim())] * state.velocity[i] * state.velocity[i];
  return sum;
}

}  // namespace tempi::test
