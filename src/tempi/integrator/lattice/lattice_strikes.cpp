// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_strikes.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace tempi {

bool LatticeStrikes::strike(const LatticeGroup& group, double step, double t, std::span<NodeLine> nodes) const {
  std::atomic<bool> admissible = true;
  for (const LatticePart& part : group.parts)
    each_block(part, [&](Index first, Index last) {
      if (!part.batch->strike(first, last, step, t, nodes)) admissible.store(false, std::memory_order_relaxed);
    });
  return admissible;
}

// The nodes collect a group's forces in their velocities. Sums are not made zero beforehand, which would take a pass
// over a large body's memory: the first group's begin them.
LatticeStrikes::NodalSums LatticeStrikes::look(std::span<NodeLine> nodes, double t,
                                               std::span<const double> duration_of_group, Ahead ahead) const {
  NodalSums sums{{}, {}, 0.0, true};
  sums.lines.reserve(nodes.size());
  if (ahead == Ahead::summed) sums.ahead.resize(nodes.size());
  std::atomic<bool> admissible = true;
  for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
    const LatticeGroup& group = plan_.groups[g];
    for (const LatticePart& part : group.parts) {
      std::vector<double> of_block(part.terms.size() / Batch::grain + 1, 0.0);  // by where it begins
      each_block(part, [&](Index first, Index last) {
        const auto [energy, all] = part.batch->look(first, last, t, nodes);
        of_block[static_cast<std::size_t>(first / Batch::grain)] = energy;
        if (!all) admissible.store(false, std::memory_order_relaxed);
      });
      for (const double energy : of_block) sums.potential_energy += energy;
    }
    const auto take = [&](std::size_t i) {
      for (std::size_t c = 0; c < 3; ++c) {
        sums.lines[i].force[c] += nodes[i].velocity[c];
        sums.lines[i].impulse[c] += duration_of_group[g] * nodes[i].velocity[c];
        if (ahead == Ahead::summed) sums.ahead[i][c] += std::abs(duration_of_group[g]) * nodes[i].velocity[c];
        nodes[i].velocity[c] = 0.0;
      }
    };
    for (std::size_t i = sums.lines.size(); i < nodes.size(); ++i) {
      sums.lines.push_back({});
      take(i);
    }
    for (std::size_t i = 0; g > 0 && i < group.lines.size(); ++i) take(static_cast<std::size_t>(group.lines[i]));
  }
  sums.lines.resize(nodes.size());
  sums.admissible = admissible;
  return sums;
}

}  // namespace tempi
