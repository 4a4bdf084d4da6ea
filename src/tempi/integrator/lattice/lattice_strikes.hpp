// SPDX-License-Identifier: Apache-2.0
// The strikes of a lattice engine, in blocks on all threads. Blocks that share nodes act in the order of their parts,
// colours and places, whatever the number of threads, so that sums do not depend on it; others wait for nobody.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/lattice/lattice_groups.hpp"

namespace tempi {

class LatticeStrikes {
 public:
  LatticeStrikes(const LatticeGroups& plan, ThreadTeam& team) : plan_(plan), team_(team) {}

  // item(i, first, last) for all terms of parts[i], in blocks. The division does not depend on the number of threads.
  // Parts must stay where they are: who comes after whom is remembered. One caller at a time.
  using Parts = std::span<const LatticePart* const>;
  template <class Item>
  void each_block(Parts parts, Item&& item) const {
    run(Order::of_sums, parts, item);
  }
  // The same where it does not matter which block comes first: those that have been struck last.
  template <class Item>
  void each_block_backward(Parts parts, Item&& item) const {
    run(Order::backward, parts, item);
  }
  // item(first, last) for all terms of a part.
  template <class Item>
  void each_block(const LatticePart& part, Item&& item) const {
    const LatticePart* one = &part;
    each_block({&one, 1}, [&](std::size_t, Index first, Index last) { item(first, last); });
  }

  // Parts that strike at the same time: steps [s] and numbers of their groups.
  struct Together {
    std::vector<const LatticePart*> parts;
    std::vector<double> steps;
    std::vector<std::size_t> groups;

    void clear() {
      parts.clear();
      steps.clear();
      groups.clear();
    }
    void add(const LatticeGroups& plan, std::size_t group, double step) {
      for (const LatticePart& part : plan.groups[group].parts) {
        parts.push_back(&part);
        steps.push_back(step);
        groups.push_back(group);
      }
    }
  };
  // v -= step dV/dx / m for all terms. Whether all were admissible: if not, the same with -step takes it back.
  bool strike(const Together& together, double t, std::span<NodeLine> nodes) const;

  // By line, at the displacements of `nodes`, at rest, of 1 kg each, as they are again: the forces -dV/dx [N], the
  // sum over the groups of these times `duration` of each, and times its magnitude [N s], empty if not wanted. And
  // sum V_K [J].
  enum class Ahead { left_out, summed };
  struct NodalSums {
    struct alignas(64) OfLine {
      std::array<double, 3> force, impulse;
    };
    std::vector<OfLine> lines;
    std::vector<std::array<double, 3>> ahead;
    double potential_energy;
    bool admissible;
  };
  NodalSums look(std::span<NodeLine> nodes, double t, std::span<const double> duration_of_group, Ahead ahead) const;

 private:
  enum class Order { of_sums, backward };
  struct Block {
    std::size_t part;
    Index first, last;
  };
  struct Blocks {
    std::vector<Block> blocks;  // as one thread has them
    OrderedLoop loop;
  };
  struct ByParts {
    using is_transparent = void;
    bool operator()(Parts a, Parts b) const { return std::ranges::lexicographical_compare(a, b, std::less<>()); }
  };
  using Lists = std::map<std::vector<const LatticePart*>, Blocks, ByParts>;

  // visit(i, first, last), on this thread.
  template <class Visit>
  static void list_blocks(Order order, Parts parts, Visit&& visit) {
    const bool backward = order == Order::backward;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::size_t p = backward ? parts.size() - 1 - i : i;
      const LatticePart& part = *parts[p];
      const std::size_t colours = part.colours.size() - 1;
      for (std::size_t k = 0; k < colours; ++k) {
        const std::size_t c = backward ? colours - 1 - k : k;
        const Index last = part.colours[c + 1], block = part.terms_at_once(c);
        for (Index first = part.colours[c]; first < last; first += block)
          visit(p, first, std::min(first + block, last));
      }
    }
  }
  template <class Item>
  void run(Order order, Parts parts, Item&& item) const {
    if (!is_worth_sharing(parts)) {
      list_blocks(order, parts, item);
      return;
    }
    const auto share = [&](Blocks& of, std::size_t first_part) {
      team_.for_each(of.loop, [&](Index i) {
        const Block& block = of.blocks[static_cast<std::size_t>(i)];
        item(first_part + block.part, block.first, block.last);
      });
    };
    if (Blocks* all = blocks(order, parts))
      share(*all, 0);
    else
      for (std::size_t p = 0; p < parts.size(); ++p) share(*blocks(order, parts.subspan(p, 1)), p);
  }
  bool is_worth_sharing(Parts parts) const;
  Blocks* blocks(Order order, Parts parts) const;  // null: they have none together
  Blocks new_blocks(Order order, Parts parts) const;

  const LatticeGroups& plan_;
  ThreadTeam& team_;
  mutable Lists in_order_, backward_;  // of the parts asked for so far
};

}  // namespace tempi
