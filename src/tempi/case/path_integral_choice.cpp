// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/path_integral_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tempi/case/probe_choice.hpp"
#include "tempi/case/selection.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

std::vector<NodeId> front_of(const PathIntegralInput& in, const Mesh& mesh, const Constants& constants) {
  if (in.point.empty() == in.nodes.everything()) throw InputError("a path integral needs either a point or a group.");
  if (in.point.empty()) return Selection(mesh, constants).nodes(in.nodes);
  const NodeId tip = nearest_node(in.point, mesh);
  double squared = 0.0, extent = 0.0;
  for (std::size_t c = 0; c < in.point.size(); ++c) squared += std::pow(mesh.point(tip)[c] - in.point[c], 2);
  for (const double X : mesh.points()) extent = std::max(extent, std::abs(X));
  if (std::sqrt(squared) > 1e-6 * extent)
    throw InputError(fmt::format("there is no node at ({:.6g}): the nearest, {}, is at ({:.6g}). Put one at the tip.",
                                 fmt::join(in.point, ", "), mesh.point_label(tip), fmt::join(mesh.point(tip), ", ")));
  return {tip};
}

}  // namespace

void require_solids(const Body& body, const Place& place, std::string_view what) {
  if (body.cells.empty())
    throw PlacedError(place, fmt::format("{} are of elements, and there are only particles. Leave it out.", what));
  if (!body.bending.empty() || std::ranges::any_of(body.cells, [](const auto* c) { return c->thickness() > 0.0; }))
    throw PlacedError(place,
                      fmt::format("{} are of solid elements: the bending of shells has none. Leave it out.", what));
}

std::vector<PathIntegral> choose_path_integrals(const std::vector<PathIntegralInput>& all, const Body& body,
                                                const Constants& constants, std::vector<std::string>& warnings) {
  std::vector<PathIntegral> chosen;
  for (const PathIntegralInput& in : all) {
    require_solids(body, in.place, "path integrals");
    if (std::ranges::count(all, in.name, &PathIntegralInput::name) > 1)
      throw PlacedError(in.name_place, fmt::format("there are two path integrals named '{}'.", in.name));
    at_place(in.place, [&] {
      chosen.emplace_back(*body.mesh, body.cells, front_of(in, *body.mesh, constants), in.direction, in.rings);
    });
    if (const int ring = chosen.back().first_other_material(); ring > 0)
      warnings.push_back(fmt::format(
          "{}: from ring {} on the nodes of '{}' reach another material, where J is not that of the tip alone. {}.",
          in.place, ring, in.name, ring == 1 ? "Trust none of them" : fmt::format("Trust J_1 to J_{}", ring - 1)));
  }
  return chosen;
}

}  // namespace tempi
