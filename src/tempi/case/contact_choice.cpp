// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/contact_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tempi/case/option_table.hpp"
#include "tempi/case/selection.hpp"
#include "tempi/case/wall_choice.hpp"
#include "tempi/contact/surface.hpp"
#include "tempi/core/cross.hpp"
#include "tempi/core/distinct.hpp"

namespace tempi {
namespace {

// The outer faces of a group of cells, or those of a group of facets, of nodes, or of a place.
std::vector<CellFacet> facets_of(const Selector& selector, const TouchingBody& body) {
  std::vector<CellFacet> outer = boundary_facets(*body.cells);
  if (selector.everything()) return outer;
  const Selection selection(*body.cells, body.constants);
  const auto any_group = [&](auto&& test) {
    return !selector.where && std::ranges::any_of(body.cells->groups(), [&](const Group& g) {
      return (selector.tag ? g.tag == *selector.tag : g.name == selector.name) && test(g);
    });
  };
  if (!any_group([](const Group& g) { return !g.cells.empty(); }))
    return selection.facets(selector, "[[contact]]", Selection::Interior::refuse);
  const std::vector<CellId> cells = selection.cells(selector, "[[contact]]");
  std::erase_if(outer, [&](const CellFacet& f) { return !std::ranges::binary_search(cells, f.cell); });
  // Beside solids a group may have faces of others, and shells that solids wear.
  const auto has_surface = [&](const Group& g) {
    return !g.facets.empty() || std::ranges::any_of(g.cells, [&](CellId c) { return body.cells->is_shell(c); });
  };
  if (any_group(has_surface))
    for (const CellFacet& f : selection.facets(selector, "[[contact]]", Selection::Interior::refuse))
      outer.push_back(f);
  make_distinct(outer);
  return outer;
}

void refuse_keys(const std::vector<std::pair<std::string, Place>>& keys, const char* law) {
  if (!keys.empty())
    throw PlacedError(keys.front().second, fmt::format("{} belongs to law = \"{}\". Leave it out, or choose that law.",
                                                       keys.front().first, law));
}

void refuse_common(const ContactInput& in, std::size_t faces) {
  if (faces > 0)
    throw PlacedError(in.place, fmt::format("the groups of between have {} faces in common. Choose groups that share "
                                            "none, or leave between out.",
                                            faces));
}

// The facets of the first or the second group.
std::vector<CellFacet> side_of(const ContactInput& in, std::size_t side, const TouchingBody& body) {
  return facets_of(in.between.empty() ? Selector{} : in.between[side], body);
}

}  // namespace

double penalty_limit(std::span<const NodeId> nodes, std::span<const double> masses, double penalty) {
  double lightest = std::numeric_limits<double>::infinity();
  for (const NodeId a : nodes) lightest = std::min(lightest, masses[ordinal(a)]);
  return 2.0 * std::sqrt(penalty * lightest);
}

std::unique_ptr<FaceContact> choose_contact(const ContactInput& in, const TouchingBody& body) {
  refuse_keys(in.of_layers, "layers");
  if (!in.penalty) throw PlacedError(in.place, "law = \"faces\" needs a penalty (in m/N). Add penalty = ...");
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
    const std::vector<CellFacet> facets = side_of(in, s, body);
    for (const CellFacet& f : facets)
      if (body.cells->is_shell(f.cell))
        throw PlacedError(in.place,
                          "law = \"faces\" pushes faces out of the body behind them, and shells have none. Leave law "
                          "out, and give a distance.");
    sides[s] = surface_triangles(*body.cells, facets);
    if (sides[s].empty()) throw PlacedError(in.place, "there are no outer faces. Choose other groups.");
    std::ranges::sort(sides[s]);
  }
  std::vector<SurfaceTriangle> both;
  std::ranges::set_intersection(sides[0], sides[1], std::back_inserter(both));
  refuse_common(in, both.size());
  return at_place(in.place, [&] {
    return make_face_contact(body.cells->points(), std::move(sides[0]), std::move(sides[1]), *in.penalty, in.skin);
  });
}

namespace {

using Point = std::array<double, 3>;

// How stiff every node is by itself [N/m]: a third of the trace of its block of the stiffness, in space.
std::vector<double> nodal_stiffness(const TouchingBody& body) {
  const auto d = static_cast<std::size_t>(body.mesh.dim());
  std::vector<double> k(body.masses.size(), 0.0);
  const std::vector<double> u(body.mesh.points().size(), 0.0);
  for (const auto& potential : body.potentials)
    for (Index i = 0; i < potential->size(); ++i)
      potential->each_hessian_piece(i, u, 0.0, [&](std::span<const NodeId> nodes, std::span<const double> H) {
        const std::size_t n = nodes.size() * d;
        for (std::size_t j = 0; j < n; ++j)
          k[ordinal(nodes[j / d])] += std::max(0.0, H[j * n + j]) / static_cast<double>(d);
      });
  return k;
}

bool is_held(const Supports& supports, NodeId a, int dim) {
  for (int c = 0; c < dim; ++c)
    if (supports.support_of(a, c) == Supports::none) return false;
  return true;
}

double speed_of(const TouchingBody& body, std::span<const WallInput> walls) {
  const auto d = static_cast<std::size_t>(body.mesh.dim());
  Point low{}, high{};
  const auto take = [&](std::span<const double> v, bool first) {
    for (std::size_t c = 0; c < d; ++c) {
      low[c] = first ? v[c] : std::min(low[c], v[c]);
      high[c] = first ? v[c] : std::max(high[c], v[c]);
    }
  };
  for (std::size_t a = 0; a < body.masses.size(); ++a) take(body.velocity.subspan(a * d, d), a == 0);
  for (const WallInput& wall : walls)
    for (const Point& v : velocities_of(wall, body)) take(v, false);
  double squared = body.fall * body.fall;
  for (std::size_t c = 0; c < d; ++c) squared += (high[c] - low[c]) * (high[c] - low[c]);
  return std::max(std::sqrt(squared), body.driven);
}

double stiffness_of(const ContactInput& in, const LayerLaw& law, double speed, std::span<const NodeId> nodes,
                    const TouchingBody& body) {
  const std::vector<double> k = nodal_stiffness(body);
  std::vector<double> own;
  LayerLaw unit = law;
  unit.stiffness = 1.0;
  double needed = 0.0;
  for (const NodeId a : nodes) {
    const double m = body.masses[ordinal(a)];
    own.push_back(k[ordinal(a)]);
    if (body.supports != nullptr && is_held(*body.supports, a, body.mesh.dim())) continue;  // nothing has to stop it
    const double wave = speed * std::sqrt(own.back() * m);                                  // [N]
    needed = std::max(
        {needed, 0.5 * m * speed * speed / unit.barrier(0), wave / std::pow(law.depth(0), law.exponent - 1.0)});
  }
  const auto middle = own.begin() + std::ssize(own) / 2;
  std::ranges::nth_element(own, middle);
  const double r = std::max(needed, *middle / unit.curvature(0));
  if (!(r > 0.0))
    throw PlacedError(
        in.place, "nothing tells how stiff contact has to be: nobody is stiff and nobody moves. Give stiffness = ...");
  return r;
}

}  // namespace

double driven_speed(const Supports& supports, double end_time, int dim) {
  constexpr int instants = 33, directions = 13;
  constexpr std::size_t enough = 2000;  // nodes
  std::array<Point, directions> along;
  for (int i = 0; i < directions; ++i) {  // half of the neighbours in a grid
    const int k = i + 14;
    const Point n = {k % 3 - 1.0, k / 3 % 3 - 1.0, k / 9 - 1.0};
    const double length = std::sqrt(dot(n, n));
    for (std::size_t c = 0; c < 3; ++c) along[static_cast<std::size_t>(i)][c] = n[c] / length;
  }
  std::vector<NodeId> moving;
  std::ranges::copy_if(supports.held_nodes(), std::back_inserter(moving), [&](NodeId a) { return supports.moves(a); });
  const std::size_t stride = 1 + moving.size() / enough;
  double fastest = 0.0;
  for (int k = 0; k < instants; ++k) {
    std::array<double, directions> low{}, high{};  // others are at rest
    for (std::size_t j = 0; j < moving.size(); j += stride) {
      Point v{};
      for (int c = 0; c < dim; ++c)
        v[static_cast<std::size_t>(c)] =
            supports.velocity(moving[j], c, end_time * k / (instants - 1), 1e-6 * end_time);
      for (std::size_t i = 0; i < along.size(); ++i) {
        low[i] = std::min(low[i], dot(v, along[i]));
        high[i] = std::max(high[i], dot(v, along[i]));
      }
    }
    for (std::size_t i = 0; i < along.size(); ++i) fastest = std::max(fastest, high[i] - low[i]);
  }
  return fastest;
}

ChosenLayers choose_layers(const ContactInput& in, std::span<const WallInput> walls, const TouchingBody& body) {
  refuse_keys(in.of_faces, "faces");
  if (!in.distance)
    throw PlacedError(in.place,
                      "contact needs a distance (in m), at which the first layer begins to push: a part of the "
                      "shortest edges, or of how thick things are. Add distance = ...");
  const std::size_t sides = std::max<std::size_t>(1, in.between.size());
  std::vector<CellFacet> facets[2];
  for (std::size_t s = 0; s < sides && body.cells != nullptr; ++s) facets[s] = side_of(in, s, body);
  std::vector<std::pair<Index, int>> found[2], common;
  for (std::size_t s = 0; s < 2; ++s) {
    for (const CellFacet& f : facets[s]) found[s].emplace_back(index(f.cell), f.local);
    std::ranges::sort(found[s]);
  }
  std::ranges::set_intersection(found[0], found[1], std::back_inserter(common));
  refuse_common(in, common.size());
  SurfaceBuilder builder(body.mesh);
  std::vector<NodeId> nodes;
  for (std::size_t s = 0; s < sides; ++s) {
    const std::int32_t side = sides == 1 ? ContactSurface::both
                              : s == 0   ? ContactSurface::first
                                         : ContactSurface::second;
    const std::size_t before = nodes.size();
    if (body.cells != nullptr) {
      builder.add_facets(*body.cells, facets[s], side);
      for (const CellFacet& f : facets[s])
        for (const NodeId a : facet_nodes(*body.cells, f)) nodes.push_back(a);
    }
    for (const NodeId a : Selection(body.mesh, body.constants).nodes(in.between.empty() ? Selector{} : in.between[s])) {
      if (index(a) < body.first_particle) continue;
      builder.add_sphere(a, body.radii.empty() ? 0.0 : body.radii[ordinal(a)], side);
      nodes.push_back(a);
    }
    if (nodes.size() == before)
      throw PlacedError(in.place, "there are no outer faces and no particles. Choose other groups.");
  }
  for (const WallInput& wall : walls) add_wall(builder, wall, body);
  make_distinct(nodes);
  LayerOptions options;
  options.law = {*in.distance, in.inner_distance.value_or(0.1 * *in.distance), 1.0, in.exponent};
  options.alpha = in.alpha;
  options.pairs = in.pairs;
  options.friction = in.friction;
  options.restitution = in.energy_restitution;
  options.speed = in.speed.value_or(speed_of(body, walls));
  const bool in_order = options.law.inner < options.law.outer;  // if not, that is refused below
  if (in.stiffness || in_order)
    options.law.stiffness = in.stiffness ? *in.stiffness : stiffness_of(in, options.law, options.speed, nodes, body);
  ChosenLayers chosen;
  chosen.layers = at_place(in.place, [&] {
    return std::make_unique<LayeredContact>(std::move(builder).build(), options, body.masses,
                                            fmt::format("[[contact]] at {}", in.place));
  });
  if (body.cells == nullptr || body.mesh.dim() != 3) return chosen;
  std::vector<SurfaceTriangle> faces[2];
  for (std::size_t s = 0; s < 2; ++s) faces[s] = surface_triangles(*body.cells, facets[s]);
  if (sides == 1 ? faces[0].size() > 1 : !faces[0].empty() && !faces[1].empty())
    chosen.faces = make_face_contact(body.cells->points(), std::move(faces[0]), std::move(faces[1]), 1.0);
  return chosen;
}

}  // namespace tempi
