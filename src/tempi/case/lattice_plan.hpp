// SPDX-License-Identifier: Apache-2.0
// The lattice of a case: as its keys have it; left open, the fastest that was tried and did not grow, or that errs by
// no more than the case allows.
#pragma once

namespace tempi {

struct Simulation;

// Of a simulation whose own and wished steps are planned: fills in the choice, its trial, what resonated before it and
// the stable steps of nodes.
void choose_lattice(Simulation& simulation);

}  // namespace tempi
