// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/probe_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tempi/case/selection.hpp"
#include "tempi/core/error.hpp"
#include "tempi/integrator/stepping/stepping_energy.hpp"

namespace tempi {
namespace {

Probe find_probe(const ProbeInput& probe, const std::vector<Probe>& before, const Mesh& mesh,
                 const Constants& constants) {
  if (probe.name.empty())
    throw PlacedError(probe.name_place, "name = \"\" (a probe needs one, for its columns in history.csv).");
  for (const Probe& other : before)
    if (other.name == probe.name)
      throw PlacedError(probe.name_place, fmt::format("there are two probes named '{}'.", probe.name));
  if (probe.point.empty() == probe.nodes.everything()) throw InputError("a probe needs either a point or a group.");
  if (probe.point.empty()) {
    return {probe.name, Selection(mesh, constants).nodes(probe.nodes)};
  }
  return {probe.name, {nearest_node(probe.point, mesh)}};
}

std::vector<CellId> cells_around(const std::vector<NodeId>& nodes, const Mesh& mesh) {
  std::vector<char> wanted(static_cast<std::size_t>(mesh.node_count()), 0);
  for (const NodeId a : nodes) wanted[ordinal(a)] = 1;
  std::vector<CellId> cells;
  for (Index c = 0; c < mesh.cells().size(); ++c)
    if (std::ranges::any_of(mesh.cells()[c], [&](NodeId a) { return wanted[ordinal(a)] != 0; }))
      cells.push_back(make_id<CellId>(c));
  return cells;
}

// The cell, which is no particle, whose centroid is nearest.
CellId cell_nearest_to(const std::vector<double>& point, const Mesh& mesh) {
  std::optional<CellId> best;
  double least = std::numeric_limits<double>::infinity();
  for (Index c = 0; c < mesh.cells().size(); ++c) {
    const auto cell = make_id<CellId>(c);
    if (info(mesh.cells().types[static_cast<std::size_t>(c)]).dim == 0) continue;
    const auto centre = mesh.centroid(cell);
    double d2 = 0.0;
    for (std::size_t i = 0; i < point.size(); ++i) d2 += std::pow(centre[i] - point[i], 2);
    if (d2 >= least) continue;
    least = d2;
    best = cell;
  }
  if (!best) throw InputError("there is no element whose residual could be followed.");
  return *best;
}

}  // namespace

NodeId nearest_node(const std::vector<double>& point, const Mesh& mesh) {
  if (static_cast<int>(point.size()) != mesh.dim())
    throw InputError(fmt::format("point has {} components (there are {} dimensions).", point.size(), mesh.dim()));
  Index best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (Index a = 0; a < mesh.node_count(); ++a) {
    double d2 = 0.0;
    for (std::size_t c = 0; c < point.size(); ++c) d2 += std::pow(mesh.point(make_id<NodeId>(a))[c] - point[c], 2);
    if (d2 < least) {
      least = d2;
      best = a;
    }
  }
  return make_id<NodeId>(best);
}

std::vector<Probe> choose_probes(const std::vector<ProbeInput>& in, const Mesh& mesh, const Constants& constants) {
  std::vector<Probe> probes;
  for (const ProbeInput& probe : in)
    at_place(probe.place, [&] {
      probes.push_back(find_probe(probe, probes, mesh, constants));
      if (probe.stress) probes.back().cells = cells_around(probes.back().nodes, mesh);
    });
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!in[i].residual) continue;
    at_place(in[i].residual_place, [&] {
      if (in[i].point.empty()) throw InputError("the residual is that of one element. Give a point.");
      probes[i].element = cell_nearest_to(in[i].point, mesh);
    });
  }
  return probes;
}

Probe::Body body_of(const Probe& probe, const Model& model, const Integrator& integrator) {
  std::vector<char> inside(static_cast<std::size_t>(model.node_count()), 0);
  for (const NodeId a : probe.nodes) inside[ordinal(a)] = 1;
  const auto* stepping = dynamic_cast<const SteppingEnergy*>(&integrator);
  std::vector<char> whole(stepping != nullptr ? static_cast<std::size_t>(stepping->subdomain_count()) : 0, 1);
  Probe::Body body;
  std::vector<TermId> terms;
  for (Index i = 0; i < model.term_count(); ++i) {
    const auto id = make_id<TermId>(i);
    const bool is_inside =
        std::ranges::all_of(model.term(id).stencil(), [&](NodeId a) { return inside[ordinal(a)] != 0; });
    if (is_inside)
      terms.push_back(id);
    else if (stepping != nullptr)
      whole[static_cast<std::size_t>(stepping->subdomain_of(id))] = 0;
  }
  for (std::size_t i = 0; i < whole.size(); ++i)
    if (whole[i] != 0) body.subdomains.push_back(static_cast<Index>(i));
  body.terms = std::make_shared<TermEnergies>(model, terms);
  return body;
}

}  // namespace tempi
