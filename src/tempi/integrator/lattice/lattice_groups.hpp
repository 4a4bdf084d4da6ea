// SPDX-License-Identifier: Apache-2.0
// A model taken apart for a tick lattice: terms of equal step form a group, packed to be struck together; nodes lie in
// lines ordered by their smallest step, then along a space-filling curve. Made once, then only read.
//
// At tick s exactly the groups with ticks | s act. Terms of position only that act at the same time commute, so their
// order is free: it is fixed here, by groups, colours and blocks, and with it every bit of the nodal sums. Blocks of
// one colour share no node, so threads may strike them at the same time without changing a sum.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tempi/model/model.hpp"
#include "tempi/schedule/tick_lattice.hpp"

namespace tempi {

// Terms of one potential and one step.
struct LatticePart {
  const Potential* potential;
  TermId first;  // of the potential's terms
  std::unique_ptr<Batch> batch;
  std::vector<TermId> terms;   // in the batch's order
  std::vector<Index> colours;  // where each colour begins in `terms`, and the end
  Index block;                 // terms a block, a multiple of Batch::grain

  // Terms of a colour that are taken at once, in its order: a block, or all where that is too little to share.
  static constexpr Index worth_sharing = 512;  // terms below which threads cost more than they save
  Index terms_at_once(std::size_t colour) const {
    const Index size = colours[colour + 1] - colours[colour];
    return size < worth_sharing ? size : block;
  }
};

struct LatticeGroup {
  std::int32_t ticks;                     // of its terms' step
  std::int32_t first_line, last_line;     // nodes without a smaller step: they drift whenever the group acts
  std::vector<std::int32_t> other_lines;  // nodes of its terms that no faster group has always drifted by then
  std::vector<std::int32_t> lines;        // all nodes of its terms, ascending
  std::vector<LatticePart> parts;
};

struct LatticeGroups {
  std::vector<std::int32_t> line_of_node;
  std::vector<NodeId> node_of_line;
  std::vector<LatticeGroup> groups;  // ascending ticks

  std::int32_t line(NodeId a) const { return line_of_node[ordinal(a)]; }

  // What lies far apart for loops over nodes, by line in the model's order or the other way round, is fetched so many
  // nodes before its turn: memory's answer takes as long as some fifty nodes.
  static constexpr std::size_t ahead = 64;

  // visit(node, line) in the model's order, in which states lie.
  template <class Visit, class... ByLine>
  void each_node(Visit&& visit, const ByLine*... by_line) const {
    const std::size_t count = line_of_node.size();
    for (std::size_t a = 0; a < count; ++a) {
      if (a + ahead < count) (__builtin_prefetch(by_line + line_of_node[a + ahead]), ...);
      visit(make_id<NodeId>(static_cast<Index>(a)), static_cast<std::size_t>(line_of_node[a]));
    }
  }
};

LatticeGroups lattice_groups(const Model& model, std::span<const std::int32_t> ticks);

// Packs any terms of a model, whatever their steps: a part of its own for each potential. `line_of_node` must outlive
// it.
class LatticePacker {
 public:
  LatticePacker(const Model& model, std::span<const std::int32_t> line_of_node);

  // `terms` of one potential, in any order. `batch_of`: what is made of their numbers in it, by default its batch.
  using MakeBatch = std::unique_ptr<Batch> (*)(const Potential& potential, std::span<const Index> terms,
                                               std::span<const std::int32_t> place);
  LatticePart operator()(std::span<const TermId> terms, MakeBatch make = nullptr);

 private:
  void colour(LatticePart& part);
  template <class Visit>
  void each_node(const LatticePart& part, Index block, Visit&& visit);

  const Model& model_;
  std::span<const std::int32_t> line_of_node_;
  std::vector<std::uint64_t> keys_;   // of each term, where it lies on a space-filling curve
  std::vector<std::uint64_t> taken_;  // by node: a bit for each colour of the blocks around it
};

}  // namespace tempi
