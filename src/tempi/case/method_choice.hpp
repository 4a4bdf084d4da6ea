// SPDX-License-Identifier: Apache-2.0
// The methods a case can name, and the keys that belong to each.
#pragma once

#include <optional>
#include <string>

#include "tempi/case/case_file.hpp"
#include "tempi/integrator/discrete_action.hpp"

namespace tempi {

// One step for all elements: everything but avi.
bool is_synchronous(const std::string& method);

// The discrete Lagrangian of a synchronous variational method; absent for avi and newmark. Throws PlacedError: alpha or
// order given to a method that has none, an order there is not, residual asked of a method without local strikes.
std::optional<DiscreteAction> discrete_action(const IntegratorInput& in);

}  // namespace tempi
