// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_nodes.hpp"

#include <atomic>
#include <cmath>

namespace tempi {

LatticeNodes::LatticeNodes(const Model& model, const LatticeGroups& plan, double tick, int fine_bits)
    : model_(model),
      plan_(plan),
      tick_(tick),
      fine_(std::ldexp(1.0, fine_bits)),
      lines_(static_cast<std::size_t>(model.node_count())) {
  for (std::size_t i = 0; i < lines_.size(); ++i) lines_[i].inverse_mass = 1.0 / model.mass(plan.node_of_line[i]);
}

void LatticeNodes::read(const State& state) {
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto in_ticks = [&](double clock) { return std::nearbyint(clock / tick_ * fine_) / fine_; };
  double seconds = 0.0, ticks = in_ticks(seconds);  // many nodes have one clock
  const auto read = [&](NodeId a, std::size_t line) {
    NodeLine& node = lines_[line];
    for (std::size_t c = 0; c < d; ++c) {
      node.displacement[c] = state.displacement[ordinal(a) * d + c];
      node.velocity[c] = state.velocity[ordinal(a) * d + c];
    }
    if (const double clock = state.clock[ordinal(a)]; clock != seconds) ticks = in_ticks(seconds = clock);
    node.clock = ticks;
  };
  plan_.each_node(read, lines_.data());
}

void LatticeNodes::write(State& state) const {
  plan_.each_node([&](NodeId a, std::size_t line) { write(state, a, lines_[line]); }, lines_.data());
}

void LatticeNodes::write(State& state, NodeId a) const {
  write(state, a, lines_[static_cast<std::size_t>(plan_.line(a))]);
}

void LatticeNodes::write(State& state, NodeId a, const NodeLine& node) const {
  const auto i = ordinal(a), d = static_cast<std::size_t>(model_.dim());
  for (std::size_t c = 0; c < d; ++c) {
    state.displacement[i * d + c] = node.displacement[c];
    state.velocity[i * d + c] = node.velocity[c];
  }
  state.clock[i] = node.clock * tick_;
}

void LatticeNodes::write_displacements_of(TermId term, State& state) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  for (const NodeId a : model_.term(term).stencil())
    for (std::size_t c = 0; c < d; ++c)  // terms share nodes
      std::atomic_ref(state.displacement[ordinal(a) * d + c])
          .store(lines_[static_cast<std::size_t>(plan_.line(a))].displacement[c], std::memory_order_relaxed);
}

}  // namespace tempi
