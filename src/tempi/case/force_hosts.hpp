// SPDX-License-Identifier: Apache-2.0
// Within which terms the forces of a case act.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tempi/element/elastic_cells.hpp"
#include "tempi/force/force.hpp"
#include "tempi/model/model.hpp"

namespace tempi {

struct ChosenForce {
  std::unique_ptr<Force> force;
  std::vector<TermId> hosts;  // of its elements
};

// A potential that forces may lean on, and where its terms begin in the model.
struct HostPotential {
  const Potential* potential;
  Index first_term;
  const ElasticCells* cells = nullptr;  // where it is one of cells
  std::vector<NodePair> bonds{};        // where it is one of bonds
  bool takes_nodes = true;              // whether what acts on single nodes may act within its terms
  bool is_stiff = true;
};

// The terms that share evenly what acts on a node alone, each at its own tempo: those of few nodes, or where the node
// is in none the sums it is in.
NodeTerms hosts_of_nodes(Index node_count, std::span<const HostPotential> potentials);

template <class Part>
struct SharedOut {
  std::vector<Part> parts;    // of {node, share}
  std::vector<TermId> hosts;  // of each
};
// What is value(node) on each of these nodes, among the terms that `around` has there.
template <class Part, class Value>
SharedOut<Part> shared_out(std::span<const NodeId> nodes, const NodeTerms& around, const Value& value) {
  SharedOut<Part> result;
  for (const NodeId a : nodes)
    for (const TermId host : around[a]) {
      result.parts.push_back({a, value(a) / static_cast<double>(around[a].size())});
      result.hosts.push_back(host);
    }
  return result;
}

}  // namespace tempi
