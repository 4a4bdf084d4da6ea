// SPDX-License-Identifier: Apache-2.0
// Whether a state that is about to be shown, or left behind, means anything.
#pragma once

#include "tempi/integrator/integrator.hpp"

namespace tempi {

// Throws StepError where a term of the snapshot is not admissible (an inverted element with its place and J = det F),
// or a position, velocity or energy is not finite. Costs a pass over the nodes; the terms were looked at when the
// snapshot was taken.
void require_sound(const Model& model, const Snapshot& snapshot);

}  // namespace tempi
