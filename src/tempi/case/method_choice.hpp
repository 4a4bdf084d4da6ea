// SPDX-License-Identifier: Apache-2.0
// The methods a case can name, and the keys that belong to each.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tempi/case/case_file.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/step_search.hpp"

namespace tempi {

// One step for all elements: everything but avi.
bool is_synchronous(const std::string& method);

// Of symplectic-energy-momentum and avi-adaptive. Throws InputError: not two numbers, out of range.
StepBounds step_bounds(const IntegratorInput& in);

// A method that moves the whole model at once.
struct SyncMethod {
  bool is_explicit;
  double limit;  // of its step over 2/omega, at most 1; infinite for implicit methods
  std::function<std::unique_ptr<Integrator>(const Model& model, double step)> make;
};

// That of the case; absent for avi, and for newmark without beta and gamma, which have engines of their own. Throws
// PlacedError: a key given to a method that has none, an order there is not, residual asked of a method without local
// strikes.
std::optional<SyncMethod> synchronous_method(const IntegratorInput& in);

// What every method claims (Integrator::claims), for `tempi methods` and docs/methods.md.
std::string methods_as_markdown();

}  // namespace tempi
