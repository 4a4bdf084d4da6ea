// SPDX-License-Identifier: Apache-2.0
// What a [[damping]] of the case file means: forces, and the terms they act within.
#pragma once

#include <memory>
#include <vector>

#include "tempi/case/potential_choice.hpp"
#include "tempi/element/elastic_cells.hpp"
#include "tempi/force/force.hpp"

namespace tempi {

struct ChosenDamper {
  std::unique_ptr<Force> force;
  std::vector<TermId> hosts;  // of its elements
};

// A potential that dampers may lean on, and where its terms begin in the model.
struct DampedPotential {
  const Potential* potential;
  Index first_term;
  const ElasticCells* cells = nullptr;  // where it is one of cells
  std::vector<NodePair> bonds{};        // where it is one of bonds
  bool hosts_drag = true, is_stiff = true;
};

// Throws PlacedError: a key that is missing or belongs to another type, nothing to act on, a coefficient out of range.
// `potentials`: all of the model, in order.
std::vector<ChosenDamper> choose_dampers(const DampingInput& in, const Surroundings& around,
                                         const std::vector<DampedPotential>& potentials);

}  // namespace tempi
