// SPDX-License-Identifier: Apache-2.0
// What `tempi check` prints: the model of a case, the choices of steps and what they would take.
#pragma once

#include <string>

#include "tempi/case/simulation.hpp"

namespace tempi {

// By a few steps of its integrator, which is not for another run then.
std::string describe_model(Simulation simulation);

}  // namespace tempi
