// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/state.hpp"

namespace tempi {

void State::save(ArchiveWriter& archive) const {
  archive.put("displacement", displacement);
  archive.put("velocity", velocity);
  archive.put("clock", clock);
  archive.put("loads", loads);
  archive.put("supports", supports);
}

void State::load(ArchiveReader& archive) {
  archive.get("displacement", displacement);
  archive.get("velocity", velocity);
  archive.get("clock", clock);
  archive.get("loads", loads);
  archive.get("supports", supports);
}

State reference_state(const Model& model) {
  State state;
  const auto nodes = static_cast<std::size_t>(model.node_count());
  state.displacement.assign(nodes * static_cast<std::size_t>(model.dim()), 0.0);
  state.velocity.assign(nodes * static_cast<std::size_t>(model.dim()), 0.0);
  state.clock.assign(nodes, 0.0);
  state.supports.resize(static_cast<std::size_t>(model.supports().size()));
  return state;
}

}  // namespace tempi
