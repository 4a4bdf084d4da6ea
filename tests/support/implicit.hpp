// SPDX-License-Identifier: Apache-2.0
// Implicit AVI as tests run it.
#pragma once

#include <fmt/format.h>

#include "support/runs.hpp"
#include "tempi/integrator/avi/avi_implicit.hpp"

namespace tempi::test {

inline std::vector<double> alike(const Model& model, double alpha) {
  return std::vector<double>(static_cast<std::size_t>(model.term_count()), alpha);
}
inline Method avi_implicit(double alpha) {
  return {fmt::format("avi implicit {}", alpha), [alpha](const Model& model, const std::vector<double>& steps) {
            return std::make_unique<AviImplicit>(model, steps, alike(model, alpha));
          }};
}
// Terms explicit, at the midpoint and softer in turn.
inline Method avi_implicit_mixed() {
  return {"avi implicit mixed", [](const Model& model, const std::vector<double>& steps) {
            std::vector<double> alphas = alike(model, 0.0);
            for (std::size_t i = 0; i < alphas.size(); ++i) alphas[i] = 0.5 * static_cast<double>(i % 3);
            return std::make_unique<AviImplicit>(model, steps, alphas);
          }};
}
inline std::vector<Method> implicit_methods() { return {avi_implicit(0.5), avi_implicit_mixed()}; }

}  // namespace tempi::test
