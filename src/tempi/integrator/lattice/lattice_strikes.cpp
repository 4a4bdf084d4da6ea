// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_strikes.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "tempi/core/distinct.hpp"

namespace tempi {

bool LatticeStrikes::is_worth_sharing(Parts parts) const {
  if (team_.size() == 1) return false;
  std::size_t terms = 0;
  for (const LatticePart* part : parts) terms += part->terms.size();
  return static_cast<Index>(terms) >= LatticePart::worth_sharing;
}

// Lists of several parts are made of the groups that act together where steps nest, those up to one of them, and of all
// of these at once, at the start: later instants allocate nothing.
LatticeStrikes::Blocks* LatticeStrikes::blocks(Order order, Parts parts) const {
  Lists& lists = order == Order::of_sums ? in_order_ : backward_;
  const auto find = [&] {
    const auto at = lists.find(parts);
    return at != lists.end() ? &at->second : nullptr;
  };
  const auto make = [&](Parts of) { lists.try_emplace(std::vector(of.begin(), of.end()), new_blocks(order, of)); };
  if (Blocks* known = find()) return known;
  if (parts.size() == 1) {
    make(parts);
    return find();
  }
  if (std::ranges::any_of(lists, [](const auto& list) { return list.first.size() > 1; })) return nullptr;
  const auto& groups = plan_.groups;
  for (std::size_t g = 1; g < groups.size(); ++g)
    if (groups[g].ticks % groups[g - 1].ticks != 0) return nullptr;
  Together together;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    together.add(plan_, g, 0.0);
    if (together.parts.size() > 1) make(together.parts);
  }
  return find();
}

// A block comes after those that have last touched its nodes.
LatticeStrikes::Blocks LatticeStrikes::new_blocks(Order order, Parts parts) const {
  Blocks result;
  std::vector<std::int32_t> last_block(order == Order::of_sums ? plan_.line_of_node.size() : 0, -1), after;
  list_blocks(order, parts, [&](std::size_t p, Index first, Index last) {
    const LatticePart& part = *parts[p];
    const auto number = static_cast<std::int32_t>(result.blocks.size());
    after.clear();
    for (Index i = first; i < last && order == Order::of_sums; ++i)
      for (const NodeId a : part.potential->stencil(index(part.terms[static_cast<std::size_t>(i)]) - index(part.first)))
        if (const std::int32_t before = std::exchange(last_block[ordinal(a)], number); before >= 0 && before != number)
          after.push_back(before);
    make_distinct(after);
    const auto colour = std::ranges::upper_bound(part.colours, first) - 1;
    const auto to_middle = 0.5 * static_cast<double>(first + last) - static_cast<double>(colour[0]);
    result.loop.add(after, to_middle / static_cast<double>(colour[1] - colour[0]));
    result.blocks.push_back({p, first, last});
  });
  return result;
}

bool LatticeStrikes::strike(const Together& together, double t, std::span<NodeLine> nodes) const {
  std::atomic<bool> admissible = true;
  each_block(together.parts, [&](std::size_t p, Index first, Index last) {
    if (!together.parts[p]->batch->strike(first, last, together.steps[p], t, nodes))
      admissible.store(false, std::memory_order_relaxed);
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
