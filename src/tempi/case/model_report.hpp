// SPDX-License-Identifier: Apache-2.0
// What `tempi check` prints: the model of a case, the choices of steps and what they would take.
#pragma once

#include <string>

#include "tempi/case/simulation.hpp"

namespace tempi {

std::string describe_model(const Simulation& simulation);

}  // namespace tempi
