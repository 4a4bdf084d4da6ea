// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/contact_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tempi/case/option_table.hpp"
#include "tempi/case/selection.hpp"

namespace tempi {
namespace {

// The outer faces of a group of cells, or those of a group of facets, of nodes, or of a place.
std::vector<CellFacet> facets_of(const Selector& selector, const TouchingBody& body) {
  std::vector<CellFacet> outer = boundary_facets(*body.cells);
  if (selector.everything()) return outer;
  const Selection selection(*body.cells, body.constants);
  const bool of_cells = !selector.where && std::ranges::any_of(body.cells->groups(), [&](const Group& g) {
    return !g.cells.empty() && (selector.tag ? g.tag == *selector.tag : g.name == selector.name);
  });
  if (!of_cells) return selection.facets(selector, "[[contact]]", Selection::Interior::refuse);
  const std::vector<CellId> cells = selection.cells(selector, "[[contact]]");
  std::erase_if(outer, [&](const CellFacet& f) { return !std::ranges::binary_search(cells, f.cell); });
  return outer;
}

struct WallType {
  const char* name;
  Wall::Shape shape;
  const char* required;
  const char* optional;
};
constexpr std::array<WallType, 4> wall_types = {{
    {"plane", Wall::Shape::plane, "point normal", ""},
    {"sphere", Wall::Shape::sphere, "centre radius", "inside"},
    {"cylinder", Wall::Shape::cylinder, "point axis radius", "inside"},
    {"box", Wall::Shape::box, "low high", ""},
}};

std::array<double, 3> vector_of(const WallInput& in, std::string_view key, int dim) {
  const auto found = std::ranges::find(in.vectors, key, &WallInput::Vector::key);
  std::array<double, 3> result{};
  if (found == in.vectors.end()) return result;
  if (std::ssize(found->values) != dim)
    throw PlacedError(found->place,
                      fmt::format("{} has {} components (there are {} dimensions).", key, found->values.size(), dim));
  std::ranges::copy(found->values, result.begin());
  return result;
}

}  // namespace

double penalty_step(std::span<const NodeId> nodes, std::span<const double> masses, double penalty) {
  constexpr double part = 0.25;
  double lightest = std::numeric_limits<double>::infinity();
  for (const NodeId a : nodes) lightest = std::min(lightest, masses[ordinal(a)]);
  return part * 2.0 * std::sqrt(penalty * lightest);
}

std::unique_ptr<FaceContact> choose_contact(const ContactInput& in, const TouchingBody& body) {
  if (body.cells == nullptr)
    throw PlacedError(in.place,
                      "[[contact]] is between faces of cells, and there are only particles. Give them a "
                      "[[potential]], such as hertz.");
  if (body.mesh.dim() != 3)
    throw PlacedError(in.place,
                      "law = \"faces\" needs three dimensions: edges in a plane cross in a point, which has no length "
                      "to measure. Leave [[contact]] out.");
  std::vector<SurfaceTriangle> sides[2];
  for (std::size_t s = 0; s < std::max<std::size_t>(1, in.between.size()); ++s) {
    const Selector everything{};
    sides[s] = surface_triangles(*body.cells, facets_of(in.between.empty() ? everything : in.between[s], body));
    if (sides[s].empty()) throw PlacedError(in.place, "there are no outer faces. Choose other groups.");
    std::ranges::sort(sides[s]);
  }
  std::vector<SurfaceTriangle> both;
  std::ranges::set_intersection(sides[0], sides[1], std::back_inserter(both));
  if (!both.empty())
    throw PlacedError(in.place, fmt::format("the groups of between have {} faces in common. Choose groups that share "
                                            "none, or leave between out.",
                                            both.size()));
  return at_place(in.place, [&] {
    return make_face_contact(body.cells->points(), std::move(sides[0]), std::move(sides[1]), in.penalty, in.skin);
  });
}

HardWall choose_wall(const WallInput& in, const TouchingBody& body) {
  const WallType& type = *std::ranges::find_if(wall_types, [&](const WallType& t) { return in.type == t.name; });
  for (const auto& [key, place] : in.keys) {
    if (has_key(type.required, key) || has_key(type.optional, key)) continue;
    std::vector<std::string_view> owners;
    for (const WallType& t : wall_types)
      if (has_key(t.required, key) || has_key(t.optional, key)) owners.emplace_back(t.name);
    throw PlacedError(place, fmt::format("{} belongs to {}, not to {}. Leave it out, or choose another type.", key,
                                         fmt::join(owners, ", "), in.type));
  }
  for (const char* key : {"point", "normal", "centre", "radius", "axis", "low", "high"})
    if (has_key(type.required, key) &&
        std::ranges::find(in.keys, key, &std::pair<std::string, Place>::first) == in.keys.end())
      throw PlacedError(in.place, fmt::format("{} needs {}. Add {} = ...", in.type, type.required, key));
  const int dim = body.mesh.dim();
  Wall wall;
  wall.shape = type.shape;
  wall.point = vector_of(in,
                         wall.shape == Wall::Shape::sphere ? "centre"
                         : wall.shape == Wall::Shape::box  ? "low"
                                                           : "point",
                         dim);
  wall.direction = vector_of(in, wall.shape == Wall::Shape::plane ? "normal" : "axis", dim);
  wall.high = vector_of(in, "high", dim);
  wall.radius = in.radius;
  wall.inside = in.inside;
  HardWall result;
  result.wall = at_place(in.place, [&] { return checked(wall, dim); });
  std::vector<char> takes_part(static_cast<std::size_t>(body.mesh.node_count()), 0);
  if (body.cells != nullptr)
    for (const CellFacet& f : boundary_facets(*body.cells))
      for (const NodeId a : facet_nodes(*body.cells, f)) takes_part[ordinal(a)] = 1;
  std::fill(takes_part.begin() + body.first_particle, takes_part.end(), 1);
  for (const NodeId a : Selection(body.mesh, body.constants).nodes(in.target))
    if (takes_part[ordinal(a)] != 0) result.nodes.push_back(a);
  if (result.nodes.empty())
    throw PlacedError(in.place, "nobody can touch it: the group has no nodes of the surface and no particles.");
  return result;
}

}  // namespace tempi
