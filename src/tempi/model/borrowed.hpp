// SPDX-License-Identifier: Apache-2.0
// Terms and forces of a model in another one, whose nodes may be numbered otherwise.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tempi/model/model.hpp"

namespace tempi {

// Nodes of a part: its node a is of_whole[a] of the whole model; of_part is the inverse, -1 for nodes that are not in
// the part. Without nodes: all, numbered alike.
struct NodeNumbers {
  std::vector<NodeId> of_whole, of_part;
  bool alike() const { return of_whole.empty(); }
};

// Adds the loads and dampers within `terms` of `model` to `parts`, whose terms they are, in this order. `model` must
// outlive them.
void borrow_forces(const Model& model, std::span<const TermId> terms, const NodeNumbers& numbers, Model::Parts& parts);

// Some terms of a potential, which must outlive them.
std::unique_ptr<Potential> borrow_terms(const Potential& potential, std::vector<Index> terms,
                                        const NodeNumbers& numbers);

// A constraint, which must outlive it.
std::unique_ptr<HolonomicConstraint> borrow_constraint(const HolonomicConstraint& constraint,
                                                       const NodeNumbers& numbers);

}  // namespace tempi
