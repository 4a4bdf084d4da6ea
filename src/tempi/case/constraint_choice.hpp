// SPDX-License-Identifier: Apache-2.0
// What a [[constraint]] of the case file means.
#pragma once

#include <vector>

#include "tempi/case/potential_choice.hpp"
#include "tempi/constraint/holonomic.hpp"

namespace tempi {

struct ChosenConstraints {
  Constraints constraints;
  std::vector<NodePair> links;  // distances, for pictures
};

// Throws PlacedError: a key that is missing or belongs to another type, and what the constraints themselves refuse.
ChosenConstraints choose_constraints(const ConstraintInput& in, const Surroundings& around);

}  // namespace tempi
