// SPDX-License-Identifier: Apache-2.0
// A part of a model as a model of its own: some of its terms, the nodes they touch, their loads and dampers, the
// supports and constraints there. What a method integrates by itself while others integrate the rest; nodes on the
// border are in several parts, each with a share of their mass (Gates, Matous, Heath 2008: subdomains with nodes of
// their own, tied by constraints).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tempi/model/model.hpp"
#include "tempi/model/state.hpp"

namespace tempi {

struct Submodel {
  std::unique_ptr<Model> model;
  std::vector<NodeId> nodes;  // of the whole model, ascending: node a of the part is nodes[a]
  std::vector<TermId> terms;  // of the whole model, ascending: likewise

  // The part's displacements, velocities and clocks; empty ledgers.
  State restricted(const State& whole) const;
  // Writes them back, of the nodes for which `owns` is not 0 (one a node of the part; empty: all).
  void put_back(const State& part, State& whole, std::span<const char> owns = {}) const;
};

// The parts of a model in which term K is in part[K]. What a term brought to a node's mass goes to its part; mass that
// no term brought is shared out evenly among the parts that touch the node, and so is all of a node's where one of
// these brings none (hinges of shells). Where terms brought more than there is (in a part of a part) all get less
// alike. Nodes that no term touches go to the last part. `whole` must outlive the result. Throws InputError: not one
// part for each term, a part without terms, constraints that act across parts.
std::vector<Submodel> divide(const Model& whole, std::span<const int> part);

}  // namespace tempi
