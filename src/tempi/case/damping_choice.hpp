// SPDX-License-Identifier: Apache-2.0
// What a [[damping]] of the case file means: dampers, and the terms they act within.
#pragma once

#include <vector>

#include "tempi/case/force_hosts.hpp"
#include "tempi/case/potential_choice.hpp"

namespace tempi {

// Throws PlacedError: a key that is missing or belongs to another type, nothing to act on, a coefficient out of range.
// `potentials`: all of the model, in order.
std::vector<ChosenForce> choose_dampers(const DampingInput& in, const Surroundings& around,
                                        const std::vector<HostPotential>& potentials);

}  // namespace tempi
