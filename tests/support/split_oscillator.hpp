// SPDX-License-Identifier: Apache-2.0
// Two masses on springs of their own to two walls, f = -c tanh(q / 2d), held together: one oscillator,
// 4 q'' = -48 tanh q (Gates, Matous, Heath 2008, section 4.1).
#pragma once

#include <cmath>
#include <memory>
#include <numbers>

#include "support/runs.hpp"
#include "tempi/integrator/multi_domain/multi_domain.hpp"
#include "tempi/pair/pairs.hpp"

namespace tempi::test {

inline void hold(Model::Parts& parts, std::vector<NodeId> nodes) {
  std::vector<Support> supports;
  supports.push_back(resting("walls", std::move(nodes), parts.dim));
  parts.supports = Supports(std::move(supports), parts.reference, parts.dim);
}

struct SplitOscillator {
  double mass_a = 0.1, mass_b = 3.9;  // [kg]
  double strength_a = 45.0, strength_b = 3.0, width = 0.5;

  static constexpr NodeId a{1}, b{2};
  std::unique_ptr<Model> model() const {
    Model::Parts parts;
    parts.dim = 1;
    parts.reference = {-4.0, 0.0, 0.0, 4.0};
    parts.mass = {1.0, mass_a, mass_b, 1.0};
    parts.add(make_pairs(parts.reference, 1, parts.mass, {{NodeId{0}, a}}, TanhSpring{strength_a, width, 4.0}));
    parts.add(make_pairs(parts.reference, 1, parts.mass, {{b, NodeId{3}}}, TanhSpring{strength_b, width, 4.0}));
    hold(parts, {NodeId{0}, NodeId{3}});
    return std::make_unique<Model>(std::move(parts));
  }
  static Domains domains(DomainRule of_a, DomainRule of_b) { return {{0, 1}, {of_a, of_b}, {TiedNode{b, {{a, 1.0}}}}}; }
  static State state(const Model& model, double q, double v) {
    State s = reference_state(model);
    s.displacement = {0.0, q, q, 0.0};
    s.velocity = {0.0, v, v, 0.0};
    return s;
  }
};

}  // namespace tempi::test
