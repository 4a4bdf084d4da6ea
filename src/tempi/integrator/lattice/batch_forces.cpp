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
      dampers_(model, plan_, team_),
      lines_(static_cast<std::size_t>(model.node_count())) {
  for (NodeLine& line : lines_) line.inverse_mass = 1.0;
  for (std::size_t g = 0; g < plan_.groups.size(); ++g) all_.add(plan_, g, 1.0);
}

// visit(line, the place of its first component by node); what lies at `by_node` and there is fetched before.
template <class Visit>
void BatchForces::each_line(const double* by_node, Visit&& visit) {
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto place = [&](std::size_t line) { return ordinal(plan_.node_of_line[line]) * d; };
  team_.for_each(std::ssize(lines_), ThreadTeam::nodes_at_once, [&](Index i) {
    const auto line = static_cast<std::size_t>(i);
    if (line + plan_.ahead < lines_.size()) __builtin_prefetch(by_node + place(line + plan_.ahead), 1);
    visit(line, place(line));
  });
}

void BatchForces::place(std::span<const double> u) {
  const auto d = static_cast<std::size_t>(model_.dim());
  each_line(u.data(), [&](std::size_t line, std::size_t at) {
    for (std::size_t c = 0; c < d; ++c) {
      lines_[line].displacement[c] = u[at + c];
      lines_[line].velocity[c] = 0.0;
    }
  });
}

// Lines at rest whose nodes weigh 1 kg collect the forces in their velocities.
bool BatchForces::evaluate(std::span<const double> u, double t, std::span<double> force, std::span<double> load,
                           double* energy) {
  const auto d = static_cast<std::size_t>(model_.dim());
  bool admissible = true;
  if (energy != nullptr) {
    const Batch::Looked found = look(u, t, force);
    *energy = found.energy;
    admissible = found.admissible;
  } else {
    place(u);
    admissible = strikes_.strike(all_, t, lines_);
    each_line(force.data(),
              [&](std::size_t line, std::size_t at) { std::copy_n(lines_[line].velocity, d, &force[at]); });
  }
  std::ranges::fill(load, 0.0);
  for (std::size_t g = 0; loads_.any() && g < plan_.groups.size(); ++g) {
    loads_.evaluate({&g, 1}, t, lines_);
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

void BatchForces::resist(std::span<const double> u, std::span<const double> v, double t, std::span<double> damping) {
  const auto d = static_cast<std::size_t>(model_.dim());
  each_line(u.data(), [&](std::size_t line, std::size_t at) {
    std::copy_n(&u[at], d, lines_[line].displacement);
    std::copy_n(&v[at], d, lines_[line].velocity);
  });
  const auto given = dampers_(t, lines_);
  each_line(damping.data(),
            [&](std::size_t line, std::size_t at) { std::copy_n(given[line].begin(), d, &damping[at]); });
}

void BatchForces::add_drags(double factor, std::span<double> of_component) {
  const auto d = static_cast<std::size_t>(model_.dim());
  each_line(of_component.data(), [&](std::size_t line, std::size_t at) {
    for (std::size_t c = 0; c < d; ++c) of_component[at + c] += factor * dampers_.drag(line);
  });
}

Batch::Looked BatchForces::look(std::span<const double> u, double t, std::span<double> force) {
  const auto d = static_cast<std::size_t>(model_.dim());
  place(u);
  const LatticeStrikes::NodalSums sums =
      strikes_.look(lines_, t, std::vector<double>(plan_.groups.size(), 0.0), LatticeStrikes::Ahead::left_out);
  each_line(force.data(),
            [&](std::size_t line, std::size_t at) { std::copy_n(sums.lines[line].force.begin(), d, &force[at]); });
  return {sums.potential_energy, sums.admissible};
}

}  // namespace tempi
