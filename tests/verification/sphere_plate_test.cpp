// SPDX-License-Identifier: Apache-2.0
// The control of Vouga, Harmon, Tamstorf, Grinspun (2010), section 5: a spherical shell meets a plate. The same bodies
// and the same layers with one small step for all, pushed by contact where they are, and where they were a step before,
// as codes do that look for contact once a step and hold its forces.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/case/simulation.hpp"
#include "tempi/contact/layered_contact.hpp"

namespace tempi {
namespace {

struct Impact {
  double kinetic_at_first = 0.0, change = 0.0;  // of the total energy over all of it [J]
  int steps_in_touch = 0;
};

class Shells {
 public:
  Shells()
      : simulation_(build(read_case(std::filesystem::path(TEMPI_SOURCE_DIR) / "examples/sphere-plate/sphere-plate.toml",
                                    {"mesh.size=0.04"}))),
        model_(*simulation_.model),
        contact_(*model_.layers().front()) {}

  double first_layer_step() const { return contact_.range_of_steps()[0]; }

  Impact run(double step, int steps, int late) const {
    State state = simulation_.state;
    std::vector<std::vector<double>> before(static_cast<std::size_t>(late) + 1, state.displacement);
    std::vector<double> force(state.displacement.size());
    Impact impact;
    const double at_first = impact.kinetic_at_first = kinetic(state.velocity);
    ContactSurface::Search search;
    std::vector<ContactPair> near;
    double energy = 0.0;
    for (int n = 0; n < steps; ++n) {
      if (n % 20 == 0) find(state.displacement, step, search, near);
      before[static_cast<std::size_t>(n) % before.size()] = state.displacement;
      std::ranges::fill(force, 0.0);
      double potential = 0.0;
      add_elastic(state.displacement, force);
      const auto& seen = before[static_cast<std::size_t>(n + 1) % before.size()];
      if (push(seen, near, force, potential) > 0) ++impact.steps_in_touch;
      const double kinetic_before = kinetic(state.velocity);
      for (std::size_t i = 0; i < force.size(); ++i) state.velocity[i] += step * force[i] / model_.mass()[i / 3];
      if (n + 1 == steps)
        energy = 0.5 * (kinetic_before + kinetic(state.velocity)) + model_.potential_energy(state.displacement, 0.0) +
                 potential;
      for (std::size_t i = 0; i < force.size(); ++i) state.displacement[i] += step * state.velocity[i];
    }
    impact.change = energy - at_first;
    return impact;
  }

 private:
  using Vector = std::array<double, 3>;

  double kinetic(const std::vector<double>& velocity) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < velocity.size(); ++i) sum += 0.5 * model_.mass()[i / 3] * velocity[i] * velocity[i];
    return sum;
  }
  Vector place(std::size_t vertex, const std::vector<double>& u) const {
    const std::size_t a = ordinal(contact_.surface().vertices()[vertex].node);
    Vector x;
    for (std::size_t c = 0; c < 3; ++c) x[c] = model_.reference()[3 * a + c] + u[3 * a + c];
    return x;
  }
  // Of the next twenty steps: nothing goes faster than three times as fast as the ball came.
  void find(const std::vector<double>& u, double step, ContactSurface::Search& search,
            std::vector<ContactPair>& near) const {
    std::vector<Bounds> boxes(contact_.surface().vertices().size());
    for (std::size_t v = 0; v < boxes.size(); ++v) {
      boxes[v].take(place(v, u));
      boxes[v].grow(0.5 * contact_.law().outer + 21 * step * 300.0);
    }
    contact_.surface().find_pairs(boxes, search, near);
  }
  void add_elastic(const std::vector<double>& u, std::vector<double>& force) const {
    std::array<double, 12> g{};
    for (Index p = 0; p < model_.potential_count(); ++p)
      for (Index k = 0; k < model_.potential(p).size(); ++k) {
        const auto stencil = model_.potential(p).stencil(k);
        const auto some = std::span(g).first(3 * stencil.size());
        std::ranges::fill(some, 0.0);
        model_.potential(p).add_gradient(k, u, 0.0, some);
        for (std::size_t i = 0; i < some.size(); ++i) force[3 * ordinal(stencil[i / 3]) + i % 3] -= some[i];
      }
  }
  int push(const std::vector<double>& u, const std::vector<ContactPair>& near, std::vector<double>& force,
           double& potential) const {
    int touched = 0;
    for (const ContactPair& pair : near) {
      const auto vertices = pair.vertices();
      std::array<Vector, 4> x{};
      for (std::size_t i = 0; i < vertices.size(); ++i) x[i] = place(static_cast<std::size_t>(vertices[i]), u);
      const auto of = contact_.push(pair.kind, contact_.constants(pair), x, 0, LayeredContact::most_layers,
                                    [](int) { return 1.0; });
      if (of.touched == 0) continue;
      ++touched;
      potential += of.energy;
      for (std::size_t i = 0; i < vertices.size(); ++i) {
        const std::size_t a = ordinal(contact_.surface().vertices()[static_cast<std::size_t>(vertices[i])].node);
        for (std::size_t c = 0; c < 3; ++c) force[3 * a + c] += of.impulse[i][c];
      }
    }
    return touched;
  }

  Simulation simulation_;
  const Model& model_;
  const LayeredContact& contact_;
};

// Measured: 1.1e-6 and 2.2e-2 of the kinetic energy.
TEST(SpherePlate, GainsEnergyWhereForcesOfContactAreLate) {
  const Shells shells;
  const double step = 2.0 * shells.first_layer_step(), end = 3e-3;  // they touch for 1.7e-3 s
  const int steps = static_cast<int>(end / step);
  const Impact here = shells.run(step, steps, 0), late = shells.run(step, steps, 1);
  for (const Impact& impact : {here, late}) EXPECT_GT(impact.steps_in_touch, steps / 10);
  EXPECT_LT(std::abs(here.change), 1e-5 * here.kinetic_at_first);
  EXPECT_GT(late.change, 5e-3 * late.kinetic_at_first) << here.change / here.kinetic_at_first;
}

}  // namespace
}  // namespace tempi
