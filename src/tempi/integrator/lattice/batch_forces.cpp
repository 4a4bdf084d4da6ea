// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/batch_forces.hpp"

#include <algorithm>

namespace tempi {

BatchForces::BatchForces(const Model& model, int threads)
    : model_(model),
      plan_(lattice_groups(model, std::vector<std::int32_t>(static_cast<std::size_t>(model.term_count()), 1))),
      team_(threads),
      strikes_(plan_, team_),
      loads_(model, plan_, team_),
      lines_(static_cast<std::size_t>(model.node_count())) {
  for (NodeLine& line : lines_) line.inverse_mass = 1.0;
}

// Lines at rest whose nodes weigh 1 kg collect the forces in their velocities.
bool BatchForces::evaluate(std::span<const double> u, double t, std::span<double> force, std::span<double> load) {
  const auto d = static_cast<std::size_t>(model_.dim());
  constexpr Index at_once = 2048;
  const auto lines = std::ssize(lines_);
  const auto each = [&](auto&& visit) {
    team_.for_each(lines, at_once, [&](Index i) {
      const auto line = static_cast<std::size_t>(i);
      visit(lines_[line], ordinal(plan_.node_of_line[line]) * d);
    });
  };
  each([&](NodeLine& node, std::size_t at) {
    for (std::size_t c = 0; c < d; ++c) {
      node.displacement[c] = u[at + c];
      node.velocity[c] = 0.0;
    }
  });
  bool admissible = true;
  for (const LatticeGroup& group : plan_.groups) admissible = strikes_.strike(group, 1.0, t, lines_) && admissible;
  each([&](NodeLine& node, std::size_t at) {
    for (std::size_t c = 0; c < d; ++c) force[at + c] = node.velocity[c];
  });
  std::ranges::fill(load, 0.0);
  for (std::size_t g = 0; loads_.any() && g < plan_.groups.size(); ++g) {
    loads_.evaluate(g, t, lines_);
    loads_.each_force(g, [&](std::size_t line, const double* f) {
      const std::size_t at = ordinal(plan_.node_of_line[line]) * d;
      for (std::size_t c = 0; c < d; ++c) {
        force[at + c] += f[c];
        load[at + c] += f[c];
      }
    });
  }
  return admissible;
}

}  // namespace tempi
