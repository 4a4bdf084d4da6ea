// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/state.hpp"

namespace tempi {

void State::save(ArchiveWriter& archive) const {
  archive.put("displacement", displacement);
  archive.put("velocity", velocity);
  archive.put("clock", clock);
  archive.put("loads", loads);
  archive.put("damping", damping);
  archive.put("supports", supports);
  archive.put("constraints", constraints);
  for (const auto& numbers : memory) archive.put("memory", numbers);
  archive.put("load_force", load_force);
  archive.put("load_displacement", load_displacement);
}

void State::load(ArchiveReader& archive) {
  archive.get("displacement", displacement);
  archive.get("velocity", velocity);
  archive.get("clock", clock);
  archive.get("loads", loads);
  archive.get("damping", damping);
  archive.get("supports", supports);
  archive.get("constraints", constraints);
  for (auto& numbers : memory) archive.get_all("memory", numbers);
  archive.get("load_force", load_force);
  archive.get("load_displacement", load_displacement);
}

State State::without_way_of_loads() const {
  State copy;
  copy.displacement = displacement;
  copy.velocity = velocity;
  copy.clock = clock;
  copy.loads = loads;
  copy.damping = damping;
  copy.supports = supports;
  copy.constraints = constraints;
  copy.memory = memory;
  return copy;
}

State reference_state(const Model& model) {
  State state;
  const auto nodes = static_cast<std::size_t>(model.node_count());
  state.displacement.assign(nodes * static_cast<std::size_t>(model.dim()), 0.0);
  state.velocity.assign(nodes * static_cast<std::size_t>(model.dim()), 0.0);
  state.clock.assign(nodes, 0.0);
  state.supports.resize(static_cast<std::size_t>(model.supports().size()));
  state.memory.resize(static_cast<std::size_t>(model.memory_count()));
  state.load_force.assign(static_cast<std::size_t>(model.force_slot_count()), 0.0);
  state.load_displacement = state.load_force;
  return state;
}

}  // namespace tempi
