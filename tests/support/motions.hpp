// SPDX-License-Identifier: Apache-2.0
// Motions with known solutions, as models of particles: a pendulum, an ellipse, an oscillator, any one mass on a line.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/pair_cases.hpp"
#include "tempi/model/state.hpp"
#include "tempi/potential/wells.hpp"

namespace tempi::test {

// One node on a line in the potential V(u).
class OnALine final : public LocalPotential {
 public:
  using Function = double (*)(double u);
  OnALine(Function V, Function slope, Function curvature) : V_(V), slope_(slope), curvature_(curvature) {}

  Index size() const override { return 1; }
  int dim() const override { return 1; }
  std::span<const NodeId> stencil(Index) const override { return node_; }
  double energy(Index, std::span<const double> u, double) const override { return V_(u[0]); }
  double add_gradient(Index, std::span<const double> u, double, std::span<double> g) const override {
    g[0] += slope_(u[0]);
    return 1.0;
  }
  void add_hessian(Index, std::span<const double> u, double, std::span<double> H) const override {
    H[0] += curvature_(u[0]);
  }
  double mass(Index, std::size_t) const override { return 0.0; }
  std::string describe(Index) const override { return "the potential on the line"; }

 private:
  std::array<NodeId, 1> node_ = {NodeId{0}};
  Function V_, slope_, curvature_;
};

struct Motion {
  std::unique_ptr<Model> model;
  State start;
};

inline Motion on_a_line(double mass, std::unique_ptr<Potential> potential, double u, double v) {
  Model::Parts parts = particles(1, {0.0}, {mass});
  parts.add(std::move(potential));
  auto model = std::make_unique<Model>(std::move(parts));
  State state = reference_state(*model);
  state.displacement = {u};
  state.velocity = {v};
  return {std::move(model), state};
}

// x'' = -sin x.
inline Motion pendulum(double x, double v) {
  return on_a_line(1.0,
                   std::make_unique<OnALine>([](double u) { return -std::cos(u); },
                                             [](double u) { return std::sin(u); },
                                             [](double u) { return std::cos(u); }),
                   x, v);
}

// u'' = -stiffness / mass u.
inline Motion oscillator(double mass, double stiffness, double u, double v) {
  return on_a_line(mass, make_wells(std::vector{0.0}, 1, {NodeId{0}}, {{stiffness}, {}}), u, v);
}

// Two bodies on ellipses of eccentricity 0.5 about their centre of mass, which rests; the period is 2 pi. They start
// at the ends of the minor axes.
struct Ellipse {
  static constexpr double m1 = 2.0, m2 = 0.5, M = m1 + m2, e = 0.5;

  static Motion motion() {
    const double x = -e, y = std::sqrt(1.0 - e * e);
    Model::Parts parts = particles(2, {-m2 / M * x, -m2 / M * y, m1 / M * x, m1 / M * y}, {m1, m2});
    add_pairs(parts, all_pairs(2), Gravitation{1.0 / M});
    auto model = std::make_unique<Model>(std::move(parts));
    State state = reference_state(*model);
    state.velocity = {m2 / M, 0.0, -m1 / M, 0.0};
    return {std::move(model), state};
  }

  // Displacements and velocities at t, by Kepler's equation E - e sin E = t + pi/2 - e.
  static std::pair<std::vector<double>, std::vector<double>> at(double t) {
    const double mean = t + std::acos(0.0) - e, b = std::sqrt(1.0 - e * e);
    double E = mean;
    for (int i = 0; i < 20; ++i) E -= (E - e * std::sin(E) - mean) / (1.0 - e * std::cos(E));
    const double rate = 1.0 / (1.0 - e * std::cos(E));
    const double x = std::cos(E), y = b * (std::sin(E) - 1.0), vx = -rate * std::sin(E), vy = rate * b * std::cos(E);
    return {{-m2 / M * x, -m2 / M * y, m1 / M * x, m1 / M * y}, {-m2 / M * vx, -m2 / M * vy, m1 / M * vx, m1 / M * vy}};
  }
};

}  // namespace tempi::test
