// SPDX-License-Identifier: Apache-2.0
// `tempi stability`: whether the steps of a case can resonate, measured on the model linearised where it starts.
#pragma once

#include <string>

#include "tempi/case/simulation.hpp"
#include "tempi/diagnostic/stability.hpp"

namespace tempi {

// The growth of the fastest growing elastic motion under the case's own method, steps and lattice; supports at rest,
// loads left out. Cost: options.longest_steps longest steps of the case, at about the cost of a run, and the square of
// (dimension * stencil size) doubles of memory per term.
StabilityReport measure_stability(const Simulation& simulation, const StabilityOptions& options);

// The lines `tempi stability` prints.
std::string describe_stability(const Simulation& simulation, const StabilityReport& report);

}  // namespace tempi
