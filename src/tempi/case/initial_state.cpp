// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/initial_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tempi/case/formula.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

void evaluate_initial(const std::vector<FormulaText>& texts, std::string_view what, const Constants& constants,
                      const Mesh& mesh, std::span<double> values) {
  if (texts.empty()) return;
  const VectorExpression f = vector_of(texts, constants, mesh.dim(), what);
  for (int c = 0; c < f.size(); ++c)
    if (f[c].depends_on_time())
      throw InputError(fmt::format("the initial {} \"{}\" depends on the time t (only X, Y, Z count at the start).",
                                   what, f[c].text()));
  const auto dim = static_cast<std::size_t>(mesh.dim());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto X = mesh.point(make_id<NodeId>(static_cast<Index>(i / dim)));
    const Expression& component = f[static_cast<int>(i % dim)];
    values[i] = component(X, 0.0);
    if (!std::isfinite(values[i]))
      throw InputError(fmt::format("the initial {} \"{}\" is {} at X = ({:.6g}) (must be finite).", what,
                                   component.text(), values[i], fmt::join(X, ", ")));
  }
}

// Where the motion of a support is prescribed, the body must start there.
void compare_with_supports(const CaseFile& in, const Mesh& mesh, const Model& model, const State& state) {
  const Supports& supports = model.supports();
  double size = 0.0;
  for (const double x : mesh.points()) size = std::max(size, std::abs(x));
  for (const NodeId a : supports.held_nodes())
    for (int c = 0; c < mesh.dim(); ++c) {
      const std::int32_t i = supports.support_of(a, c);
      if (i == Supports::none) continue;
      const Place& place = in.fixes[static_cast<std::size_t>(i)].place;
      const auto prescribed = at_place(in.fixes[static_cast<std::size_t>(i)].displacement_place, [&] {
        for (const double t : {0.5 * in.end_time, in.end_time}) supports.displacement(a, c, t);
        return supports.displacement(a, c, 0.0);
      });
      if (!prescribed) continue;
      const double u = state.displacement[static_cast<std::size_t>(index(a) * mesh.dim() + c)];
      const double tolerance = 1e-9 * (std::abs(u) + std::abs(*prescribed)) + 1e-12 * size;
      if (std::abs(u - *prescribed) <= tolerance) continue;
      const std::string grow =
          u == 0.0 ? fmt::format("let it grow with time, such as \"{:.9g}*t/{:.9g}\", ", *prescribed, in.end_time) : "";
      throw InputError(fmt::format(
          "{}: the initial position and the prescribed displacement disagree at node {}: component {} starts at "
          "displacement {:.9g} m, the support \"{}\" has {:.9g} m at t = 0. Make them agree, {}or leave out "
          "displacement to hold the node where it starts.",
          place, mesh.point_label(a), "xyz"[c], u, supports[i].name, *prescribed, grow));
    }
}

void require_admissible_start(const CaseFile& in, const Potential& potential, const State& state) {
  std::vector<double> g;
  for (Index k = 0; k < potential.size(); ++k) {
    g.assign(potential.stencil(k).size() * static_cast<std::size_t>(potential.dim()), 0.0);
    const double J = potential.add_gradient(k, state.displacement, 0.0, g);
    if (J > 0.0 && std::isfinite(J)) continue;
    if (in.only_particles() || (in.particles && in.initial_position.empty()))
      throw PlacedError(in.particles->place, potential.fault(k, state.displacement, 0.0, J));
    throw InputError(fmt::format(
        "{}: the initial position inverts {} (det F = {:.6g}, must be > 0). Start from a smaller deformation.",
        in.position_place, potential.describe(k), J));
  }
}

}  // namespace

std::vector<double> initial_velocities(const CaseFile& in, const Mesh& mesh, Index first_particle,
                                       const std::vector<double>& velocities) {
  std::vector<double> v(mesh.points().size(), 0.0);
  std::ranges::copy(velocities, v.begin() + first_particle * mesh.dim());
  const auto given =
      std::span(v).first(first_particle > 0 ? static_cast<std::size_t>(first_particle * mesh.dim()) : v.size());
  if (!in.initial_velocity.empty() && std::ranges::any_of(given, [](double value) { return value != 0.0; }))
    throw PlacedError(in.velocity_place, "the particles have velocities already. Leave out one of the two.");
  at_place(in.velocity_place, [&] { evaluate_initial(in.initial_velocity, "velocity", in.constants, mesh, given); });
  return v;
}

State choose_initial_state(const CaseFile& in, const Mesh& mesh, const Model& model, Index first_particle,
                           const std::vector<double>& velocities) {
  State state = reference_state(model);
  const std::size_t own =
      first_particle > 0 ? static_cast<std::size_t>(first_particle * mesh.dim()) : state.velocity.size();
  const auto x = std::span(state.displacement).first(own);
  at_place(in.position_place, [&] { evaluate_initial(in.initial_position, "position", in.constants, mesh, x); });
  state.velocity = initial_velocities(in, mesh, first_particle, velocities);
  if (!in.initial_position.empty())
    for (std::size_t i = 0; i < own; ++i) x[i] -= mesh.points()[i];
  compare_with_supports(in, mesh, model, state);
  for (Index p = 0; p < model.potential_count(); ++p) require_admissible_start(in, model.potential(p), state);
  return state;
}

}  // namespace tempi
