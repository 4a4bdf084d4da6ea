// SPDX-License-Identifier: Apache-2.0
// The strikes of a lattice engine: batch by batch, colour by colour, blocks of a colour on all threads, in an order of
// sums that does not depend on the number of threads.
#pragma once

#include <span>
#include <vector>

#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/lattice/lattice_groups.hpp"

namespace tempi {

class LatticeStrikes {
 public:
  LatticeStrikes(const LatticeGroups& plan, ThreadTeam& team) : plan_(plan), team_(team) {}

  // item(first, last) for all terms of the part, in blocks that share no node while they are done at the same time. The
  // division does not depend on the number of threads.
  enum class Colours { forward, backward };
  template <class Item>
  void each_block(const LatticePart& part, Item&& item, Colours order = Colours::forward) const {
    const std::size_t colours = part.colours.size() - 1;
    for (std::size_t i = 0; i < colours; ++i) {
      const std::size_t c = order == Colours::forward ? i : colours - 1 - i;
      const Index first = part.colours[c], last = part.colours[c + 1];
      const Index block = part.terms_at_once(c);
      team_.for_each((last - first + block - 1) / block, [&](Index b) {
        const Index begin = first + b * block;
        item(begin, std::min(begin + block, last));
      });
    }
  }

  // v -= step dV/dx / m for the terms of a group. Whether all were admissible: if not, the same with -step takes it
  // back.
  bool strike(const LatticeGroup& group, double step, double t, std::span<NodeLine> nodes) const;

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
  const LatticeGroups& plan_;
  ThreadTeam& team_;
};

}  // namespace tempi
