// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/damper_forces.hpp"

#include <algorithm>
#include <iterator>

#include "tempi/integrator/lattice/lattice_drag.hpp"

namespace tempi {

DamperForces::DamperForces(const Model& model, const LatticeGroups& plan, ThreadTeam& team) : team_(team) {
  if (!model.has_dampers()) return;
  const std::size_t lines = plan.node_of_line.size();
  held_.assign(lines, {true, true, true});
  drag_.assign(lines, 0.0);
  force_.resize(lines);
  DamperPacker packed(model, plan, held_);
  for (const LatticeGroup& group : plan.groups)
    for (const LatticePart& part : group.parts) {
      std::ranges::move(packed.parts(part), std::back_inserter(parts_));
      each_drag(model, part.terms, [&](NodeId a, double c) { drag_[static_cast<std::size_t>(plan.line(a))] += c; });
    }
}

std::span<const DamperForces::Vector> DamperForces::operator()(double t, std::span<NodeLine> nodes) {
  team_.for_each(std::ssize(nodes), ThreadTeam::nodes_at_once, [&](Index i) {
    const auto line = static_cast<std::size_t>(i);
    for (std::size_t c = 0; c < 3; ++c) force_[line][c] = -drag_[line] * nodes[line].velocity[c];
  });
  for (const DamperPart& part : parts_) part.resist({t, 0.0, 1.0, false, held_, force_}, nodes, {}, team_, of_block_);
  return force_;
}

}  // namespace tempi
