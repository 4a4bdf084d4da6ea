// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/load_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "tempi/case/formula.hpp"
#include "tempi/case/selection.hpp"
#include "tempi/core/error.hpp"
#include "tempi/force/loads.hpp"

namespace tempi {
namespace {

using Forces = std::vector<ChosenForce>;

// The nodes a force, or gravity, is meant for; those of cells apart from particles.
struct Nodes {
  std::vector<NodeId> of_cells, particles;
};
Nodes nodes_of(const LoadInput& load, const LoadedBody& body) {
  Nodes nodes;
  for (const NodeId a : Selection(body.mesh, body.constants).nodes(load.target))
    (body.elastic != nullptr && index(a) < body.first_particle ? nodes.of_cells : nodes.particles).push_back(a);
  return nodes;
}

ChosenForce on_cells(const LoadedBody& body, CellLoad load) {
  ChosenForce chosen{std::move(load.force), {}};
  for (const CellId cell : load.hosts) chosen.hosts.push_back(make_id<TermId>(body.term_of_cell[ordinal(cell)]));
  return chosen;
}

// factor F on each particle.
template <class Factor>
ChosenForce on_particles(const LoadedBody& body, const std::vector<NodeId>& particles, VectorExpression value,
                         const Factor& factor) {
  auto [parts, hosts] = shared_out<PointForce>(particles, body.hosts, factor);
  return {make_point_forces(body.mesh, std::move(parts), std::move(value)), std::move(hosts)};
}

void add_pressure(const LoadInput& load, const LoadedBody& body, Forces& forces) {
  if (!load.single_value && load.value.size() != 1)
    throw PlacedError(load.value_place, fmt::format("value has {} components (a pressure has one value, positive "
                                                    "in compression).",
                                                    load.value.size()));
  const auto facets =
      Selection(*body.elastic, body.constants).facets(load.target, "a pressure", Selection::Interior::refuse);
  forces.push_back(
      on_cells(body, make_pressure(*body.elastic, facets, expression_of(load.value.front(), body.constants),
                                   load.dead ? PressureFrame::reference : PressureFrame::deformed)));
}

template <class Value>
void add_gravity(const LoadInput& load, const LoadedBody& body, Forces& forces, Value&& value) {
  const bool everything = load.target.everything(), has_particles = body.first_particle < std::ssize(body.masses);
  const Nodes nodes = has_particles ? nodes_of(load, body) : Nodes{};
  // A group of particles names no cells; whatever else is meant, cells are.
  const bool has_cells = body.elastic != nullptr && (everything || !has_particles || !nodes.of_cells.empty());
  if (has_cells) {
    const auto wanted = Selection(*body.elastic, body.constants).cells(load.target, "gravity");
    for (const ElasticCells* cells : body.cells) {
      std::vector<Index> terms;
      for (Index k = 0; k < cells->size(); ++k)
        if (everything || std::ranges::binary_search(wanted, cells->cell(k))) terms.push_back(k);
      if (!terms.empty())
        forces.push_back(on_cells(body, make_gravity(*body.elastic, *cells, std::move(terms), value())));
    }
  }
  if (!nodes.particles.empty())
    forces.push_back(on_particles(body, nodes.particles, value(), [&](NodeId a) { return body.masses[ordinal(a)]; }));
}

Forces forces_of(const LoadInput& load, const LoadedBody& body) {
  Forces forces;
  if (body.elastic == nullptr && load.type != "gravity" && load.type != "force")
    throw InputError(fmt::format("{} belongs to meshes. Particles take gravity and force.", load.type));
  if (load.dead && load.type != "pressure")
    throw PlacedError(load.dead_place, "dead belongs to pressure (other loads are dead anyway).");
  const auto value = [&] {
    return at_place(load.value_place, [&] { return vector_of(load.value, body.constants, body.mesh.dim(), "value"); });
  };
  if (load.type == "pressure") {
    add_pressure(load, body, forces);
  } else if (load.type == "gravity") {
    add_gravity(load, body, forces, value);
  } else if (load.type == "traction") {
    const auto facets =
        Selection(*body.elastic, body.constants).facets(load.target, "a traction", Selection::Interior::take_first);
    forces.push_back(on_cells(body, make_traction(*body.elastic, facets, value())));
  } else {
    if (load.target.everything())
      throw InputError(body.elastic == nullptr ? "a force needs particles, a group or where."
                                               : "a force needs a group or where.");
    const Nodes nodes = nodes_of(load, body);
    if (!nodes.of_cells.empty())
      forces.push_back(on_cells(body, make_nodal_force(body.mesh, body.cells, nodes.of_cells, value())));
    if (!nodes.particles.empty())
      forces.push_back(on_particles(body, nodes.particles, value(), [](NodeId) { return 1.0; }));
  }
  return forces;
}

// Looks at the formulas of a load at the start, the middle and the end of the run: a NaN is found now.
void try_load(const Force& force, const LoadedBody& body) {
  const std::array<double, 3> times = {0.0, 0.5 * body.end_time, body.end_time};
  const auto d = static_cast<std::size_t>(body.mesh.dim());
  const Expression* last = nullptr;
  std::array<double, 3> where{};
  const auto look = [&](const DeadPart& part) {
    const Expression& f = *part.value;
    if (last == &f && (!f.depends_on_position() || where == part.X)) return;  // parts that share a value follow another
    last = &f;
    where = part.X;
    for (const double t : std::span(times).first(f.depends_on_time() ? 3 : 1))
      finite_value(f, std::span(part.X).first(d), t, part.what);
  };
  std::array<double, 30> p{};
  const std::vector<double> zero(body.mesh.points().size(), 0.0);
  for (Index e = 0; e < force.size(); ++e)
    if (force.is_dead())
      force.each_dead_part(e, std::ref(look));
    else
      for (const double t : times) force.add_impulse(e, zero, zero, t, 1.0, p);
}

}  // namespace

std::vector<ChosenForce> choose_load(const LoadInput& load, const LoadedBody& body) {
  return at_place(load.place, [&] {
    Forces forces = forces_of(load, body);
    at_place(load.value_place, [&] {
      for (const ChosenForce& chosen : forces) try_load(*chosen.force, body);
    });
    return forces;
  });
}

}  // namespace tempi
