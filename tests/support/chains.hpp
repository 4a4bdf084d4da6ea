// SPDX-License-Identifier: Apache-2.0
// Chains of bars small enough that the AVI map over the longest step can be written down: exact spectra for whatever
// judges steps.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "support/runs.hpp"
#include "tempi/diagnostic/stability.hpp"
#include "tempi/model/linearised_model.hpp"
#include "tempi/model/steps.hpp"

namespace tempi::test {

using Dense = Eigen::MatrixXd;

inline const Material unit_bar = LinearElastic{{0.0, 0.5}};  // E = 1

inline Support resting(std::vector<NodeId> nodes, std::array<bool, 3> components) {
  Support support{"held", std::move(nodes), {}, {}};
  for (std::size_t c = 0; c < 3; ++c)
    support.motion[c] = components[c] ? Support::Motion::at_rest : Support::Motion::free;
  return support;
}

inline double assembled_limit(const Model& model) {
  return assembled_stable_step(model, std::vector<double>(model.reference().size(), 0.0));
}

inline Model linear_at_rest(const Model& model) {
  return linearised(model, std::vector<double>(model.reference().size(), 0.0));
}

// Stiffness and masses of the components that are not held.
struct Assembled {
  Dense K;
  Eigen::VectorXd M;
};
Assembled assembled(const Model& linear, const std::vector<TermId>& terms);
Assembled assembled(const Model& linear);

double dense_limit(const Model& linear);

// ---- chains of bars ----

struct Steps {
  double tick;
  std::vector<int> ticks;  // powers of two

  std::vector<double> seconds() const {
    std::vector<double> result;
    for (const int m : ticks) result.push_back(tick * m);
    return result;
  }
  int longest() const { return *std::ranges::max_element(ticks); }
};

// What neighbours may differ by before rounding down to powers of two; `one_ring`: the smallest of both neighbours.
constexpr double own = std::numeric_limits<double>::infinity(), one_ring = 0.0;

// Bars of modulus, density and section 1, the left end held; the stable step of each is its length.
struct Chain {
  explicit Chain(const std::vector<double>& lengths);
  Steps steps(double safety, double rule) const;

  Body body;
};

// ln of the spectral radius of the map over the longest step: a product of drifts over one tick and kicks.
double exact_growth(const Model& linear, const Steps& steps);

// 24 bars of length 1, the 13th of them of length 1/32.
inline Chain with_one_short_bar() {
  std::vector<double> lengths(24, 1.0);
  lengths[12] = 1.0 / 32.0;
  return Chain(lengths);
}

}  // namespace tempi::test
