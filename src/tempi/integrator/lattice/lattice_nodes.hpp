// SPDX-License-Identifier: Apache-2.0
// The nodes of a lattice engine: what it drifts and kicks, in the engine's own order. While it advances they are the
// one truth about where nodes are; a State is a view of them, written when it stops or where somebody asks.
#pragma once

#include <array>
#include <span>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/integrator/lattice/lattice_groups.hpp"
#include "tempi/model/state.hpp"

namespace tempi {

class LatticeNodes {
 public:
  // All must outlive it. `tick` [s]. Clocks are whole in units of 2^-fine_bits tick.
  LatticeNodes(const Model& model, const LatticeGroups& plan, double tick, int fine_bits = 0);

  std::span<NodeLine> lines() { return lines_; }
  std::span<const NodeLine> lines() const { return lines_; }

  void read(const State& state);
  void write(State& state) const;
  void write(State& state, NodeId a) const;
  // Where the nodes of a term are, for looks at it; threads may do so for several terms at a time.
  void write_displacements_of(TermId term, State& state) const;

  // Node `line` moves to the tick `now`.
  void drift(std::size_t line, double now) {
    NodeLine& node = lines_[line];
    if (node.clock == now) return;  // a velocity that is not finite has not been felt yet
    const double dt = (now - node.clock) * tick_;
    for (std::size_t c = 0; c < 3; ++c) node.displacement[c] += node.velocity[c] * dt;
    node.clock = now;
  }

 private:
  void write(State& state, NodeId a, const NodeLine& node) const;

  const Model& model_;
  const LatticeGroups& plan_;
  double tick_;
  double fine_;  // a power of two
  AlignedVector<NodeLine> lines_;
};

}  // namespace tempi
