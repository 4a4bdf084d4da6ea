// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/load_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tempi/case/formula.hpp"
#include "tempi/case/selection.hpp"
#include "tempi/core/error.hpp"
#include "tempi/force/loads.hpp"

namespace tempi {
namespace {

using Forces = std::vector<std::unique_ptr<Force>>;

std::unique_ptr<Force> force_on_particles(const LoadInput& load, VectorExpression value, const LoadedBody& body) {
  if (load.type == "force" && load.target.everything()) throw InputError("a force needs particles, a group or where.");
  std::vector<double> factors;
  const std::vector<NodeId> nodes = Selection(body.mesh, body.constants).nodes(load.target);
  for (const NodeId a : nodes)
    factors.push_back(load.type == "gravity" ? body.masses[static_cast<std::size_t>(index(a))] : 1.0);
  return make_point_force(body.mesh, nodes, factors, std::move(value));
}

Forces forces_of(const LoadInput& load, const LoadedBody& body) {
  const Constants& constants = body.constants;
  const Selection selection(body.mesh, constants);
  Forces forces;
  if (body.particles && load.type != "gravity" && load.type != "force")
    throw InputError(fmt::format("{} belongs to meshes. Particles take gravity and force.", load.type));
  if (load.dead && load.type != "pressure")
    throw PlacedError(load.dead_place, "dead belongs to pressure (other loads are dead anyway).");
  if (load.type == "pressure") {
    if (!load.single_value && load.value.size() != 1)
      throw PlacedError(load.value_place, fmt::format("value has {} components (a pressure has one value, positive "
                                                      "in compression).",
                                                      load.value.size()));
    const auto facets = selection.facets(load.target, "a pressure", Selection::Interior::refuse);
    forces.push_back(make_pressure(body.mesh, facets, expression_of(load.value.front(), constants),
                                   load.dead ? PressureFrame::reference : PressureFrame::deformed));
    return forces;
  }
  auto value = [&] {
    return at_place(load.value_place, [&] { return vector_of(load.value, constants, body.mesh.dim(), "value"); });
  };
  if (body.particles) {
    forces.push_back(force_on_particles(load, value(), body));
  } else if (load.type == "gravity") {
    const auto wanted = selection.cells(load.target, "gravity");
    for (const ElasticCells* cells : body.cells) {
      std::vector<Index> terms;
      for (Index k = 0; k < cells->size(); ++k)
        if (load.target.everything() || std::ranges::binary_search(wanted, cells->cell(k))) terms.push_back(k);
      if (!terms.empty()) forces.push_back(make_gravity(body.mesh, *cells, std::move(terms), value()));
    }
  } else if (load.type == "traction") {
    forces.push_back(make_traction(body.mesh,
                                   selection.facets(load.target, "a traction", Selection::Interior::take_first),
                                   value()));
  } else {
    if (load.target.everything()) throw InputError("a force needs a group or where.");
    forces.push_back(make_nodal_force(body.mesh, body.cells, selection.nodes(load.target), value()));
  }
  return forces;
}

// Evaluates a load at the start, the middle and the end of the run: a NaN is found now.
void try_load(const Force& force, const LoadedBody& body) {
  std::array<double, 30> p{};
  const std::vector<double> zero(body.mesh.points().size(), 0.0);
  for (Index e = 0; e < force.size(); ++e)
    for (const double t : {0.0, 0.5 * body.end_time, body.end_time}) force.add_impulse(e, zero, zero, t, 1.0, p);
}

}  // namespace

std::vector<std::unique_ptr<Force>> choose_load(const LoadInput& load, const LoadedBody& body) {
  return at_place(load.place, [&] {
    Forces forces = forces_of(load, body);
    at_place(load.value_place, [&] {
      for (const auto& force : forces) try_load(*force, body);
    });
    return forces;
  });
}

}  // namespace tempi
