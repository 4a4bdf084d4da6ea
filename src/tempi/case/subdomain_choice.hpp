// SPDX-License-Identifier: Apache-2.0
// Which terms step together in energy-stepping: what energy_step, subdomains and [[subdomain]] of the case file mean.
#pragma once

#include "tempi/integrator/stepping/stepping_energy.hpp"

namespace tempi {

struct Simulation;

// `simulation` has its body, model and input. "bodies": each connected part of the mesh, and each [[potential]], is a
// subdomain; "groups": cells by the first of their groups instead; "terms": every term by itself. What a [[subdomain]]
// names leaves these. energy-stepping has one. Throws PlacedError: no energy step, a subdomain that holds nothing or
// what another has.
Subdomains choose_subdomains(const Simulation& simulation);

}  // namespace tempi
