// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/path_integral_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <variant>

#include "tempi/case/formula.hpp"
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

// Three components of a place or a direction.
std::array<double, 3> vector_of(const std::vector<double>& in, std::string_view what, int dim) {
  if (std::ssize(in) != dim)
    throw InputError(fmt::format("{} has {} components (there are {} dimensions).", what, in.size(), dim));
  std::array<double, 3> x{};
  std::ranges::copy(in, x.begin());
  return x;
}

DefectMotion advance_by(const PathIntegralInput& in, int dim, const Constants& constants) {
  const auto e = std::make_shared<VectorExpression>(vector_of(in.direction, constants, dim, "direction"));
  const auto at = [e, dim](std::span<const double> X) {
    std::array<double, 3> value{};
    for (int c = 0; c < dim; ++c)
      value[static_cast<std::size_t>(c)] = finite_value((*e)[c], X, 0.0, "a direction of advance");
    return value;
  };
  const std::vector<double> nowhere(static_cast<std::size_t>(dim), 0.0);
  bool constant = true;
  for (int c = 0; c < dim; ++c) constant = constant && (*e)[c].constant();
  if (constant) return advance(at(nowhere));
  return [at](std::span<const double> X) { return advance(at(X))(X); };
}

DefectMotion motion_of(const PathIntegralInput& in, const Mesh& mesh, const Constants& constants) {
  const auto only = [&](bool given, bool wanted, const char* key) {
    if (given && !wanted) throw InputError(fmt::format("{} does not belong to kind = \"{}\".", key, in.kind));
    if (!given && wanted) throw InputError(fmt::format("kind = \"{}\" needs {}.", in.kind, key));
  };
  const bool is_J = in.kind == "J", turns = in.kind == "L";
  only(!in.direction.empty(), is_J, "direction");
  only(!in.centre.empty(), !is_J, "centre");
  only(!in.axis.empty(), turns && mesh.dim() == 3, "axis");
  if (is_J) return advance_by(in, mesh.dim(), constants);
  const std::array<double, 3> centre = vector_of(in.centre, "centre", mesh.dim());
  if (!turns) return growth(centre);
  if (mesh.dim() < 3) return turn(centre, {0.0, 0.0, 1.0});
  const std::array<double, 3> axis = vector_of(in.axis, "axis", 3);
  return turn(centre, advance(axis)(axis));
}

std::vector<std::vector<FacetId>> contours_of(const PathIntegralInput& in, const Mesh& mesh) {
  std::vector<std::vector<FacetId>> contours;
  for (const std::string& name : in.contours) {
    const auto group = std::ranges::find(mesh.groups(), name, &Group::name);
    if (group == mesh.groups().end())
      throw PlacedError(in.contours_place,
                        fmt::format("there is no group '{}'. The mesh has: {}.", name, list_groups(mesh)));
    if (group->facets.empty())
      throw PlacedError(in.contours_place, fmt::format("group '{}' has no facets: a contour is made of these.", name));
    contours.push_back(group->facets);
  }
  return contours;
}

PathIntegral choose(const PathIntegralInput& in, const Body& body, const Constants& constants) {
  const Mesh& mesh = *body.mesh;
  const std::vector<NodeId> front = front_of(in, mesh, constants);
  const DefectMotion motion = motion_of(in, mesh, constants);
  const bool per_length = in.kind == "J";
  if (in.contours.empty()) return {mesh, body.cells, front, motion, in.rings.value_or(4), per_length};
  if (in.rings) throw PlacedError(in.contours_place, "regions are either rings or within contours: leave one out.");
  return {mesh, body.cells, front, motion, contours_of(in, mesh), per_length};
}

// What M wants of a case: rest, one material, W of second degree.
void check_growth(const PathIntegralInput& in, const PathIntegral& chosen, const Body& body, bool at_rest,
                  std::vector<std::string>& warnings) {
  if (!at_rest)
    throw PlacedError(in.kind_place,
                      "M is of bodies at rest: kinetic energy does not grow as strain energy does. "
                      "Choose method = \"static\", or kind = \"J\" or \"L\".");
  if (const int region = chosen.first_other_material(); region > 0)
    throw PlacedError(in.place,
                      fmt::format("region {} of '{}' reaches another material, through which M is not that of "
                                  "the defect. Take fewer rings, or contours that stay inside.",
                                  region, in.name));
  for (const ElasticCells* cells : body.cells)
    if (!std::holds_alternative<LinearElastic>(cells->material())) {
      warnings.push_back(
          fmt::format("{}: M is the same of all contours for W of second degree in the strain, as "
                      "linear-elastic has it, of other laws where strains are small only.",
                      in.place));
      return;
    }
}

}  // namespace

void require_solids(const Body& body, const Place& place, std::string_view what, std::string_view advice) {
  if (body.cells.empty())
    throw PlacedError(place, fmt::format("{} are of elements, and there are only particles. {}", what, advice));
  if (!body.bending.empty() || std::ranges::any_of(body.cells, [](const auto* c) { return c->thickness() > 0.0; }))
    throw PlacedError(place, fmt::format("{} are of solid elements: the bending of shells has none. {}", what, advice));
}

std::vector<PathIntegral> choose_path_integrals(const std::vector<PathIntegralInput>& all, const Body& body,
                                                const Constants& constants, bool at_rest,
                                                std::vector<std::string>& warnings) {
  std::vector<PathIntegral> chosen;
  for (const PathIntegralInput& in : all) {
    require_solids(body, in.place, "path integrals");
    if (std::ranges::count(all, in.name, &PathIntegralInput::name) > 1)
      throw PlacedError(in.name_place, fmt::format("there are two path integrals named '{}'.", in.name));
    chosen.push_back(at_place(in.place, [&] { return choose(in, body, constants); }));
    if (in.kind == "M") check_growth(in, chosen.back(), body, at_rest, warnings);
    if (in.contours.empty() && chosen.back().regions() == 1)
      warnings.push_back(
          fmt::format("{}: one ring is of the nodes of '{}' alone, which miss what the elements there cannot "
                      "show, and nothing tells how much. Take several, and compare.",
                      in.place, in.name));
    if (const int region = chosen.back().first_other_material(); region > 0)
      warnings.push_back(fmt::format(
          "{}: from {} {} on the nodes of '{}' reach another material, where {} is not that of the {} alone. {}.",
          in.place, in.contours.empty() ? "ring" : "contour", region, in.name, in.kind,
          in.kind == "J" ? "tip" : "defect",
          region == 1 ? "Trust none of them" : fmt::format("Trust {0}_1 to {0}_{1}", in.kind, region - 1)));
  }
  return chosen;
}

}  // namespace tempi
