// SPDX-License-Identifier: Apache-2.0
// Every method that runs models without constraints at given steps, for tests that hold all to one thing.
#pragma once

#include "support/implicit.hpp"
#include "support/variational_methods.hpp"
#include "tempi/integrator/one_step/sync_constrained.hpp"

namespace tempi::test {

// Without constraints both are Newmark's method.
inline Method shake() {
  return {"shake", [](const Model& model, const std::vector<double>& steps) {
            return std::make_unique<SyncConstrained>(model, ConstrainedVelocity::central, smallest(steps));
          }};
}
inline Method rattle() {
  return {"rattle", [](const Model& model, const std::vector<double>& steps) {
            return std::make_unique<SyncConstrained>(model, ConstrainedVelocity::projected, smallest(steps));
          }};
}
inline std::vector<Method> every_method() {
  std::vector<Method> all = methods();
  for (const auto& more : {implicit_methods(), variational_methods(), kicked_methods(), other_synchronous_methods(),
                           std::vector<Method>{shake(), rattle()}})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace tempi::test
