// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/wall_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "tempi/case/formula.hpp"
#include "tempi/case/option_table.hpp"
#include "tempi/case/selection.hpp"
#include "tempi/core/cross.hpp"

namespace tempi {
namespace {

using Point = std::array<double, 3>;
constexpr int instants = 33;  // of the run, at which formulas are looked at

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

Wall wall_of(const WallInput& in, int dim) {
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
  return at_place(in.place, [&] { return checked(wall, dim); });
}

double extent_of_wall(const Wall& wall) {
  double size = wall.radius;
  for (std::size_t c = 0; c < 3; ++c)
    for (const double x : {wall.point[c], wall.high[c]})
      if (std::isfinite(x)) size = std::max(size, std::abs(x));
  return size;
}

// How large things are: what is put far away is put a hundred times as far.
double extent_of(const Mesh& mesh) {
  double size = 0.0;
  for (const double x : mesh.points()) size = std::max(size, std::abs(x));
  return size > 0.0 ? size : 1.0;
}

Point padded(std::span<const double> values) {
  Point x{};
  std::ranges::copy(values.first(std::min<std::size_t>(3, values.size())), x.begin());
  return x;
}

}  // namespace

RigidMotion motion_of(const WallInput& in, const TouchingBody& body) {
  const int dim = body.mesh.dim();
  if (!in.velocity.empty() && std::ssize(in.velocity) != dim)
    throw PlacedError(in.place,
                      fmt::format("velocity has {} components (there are {} dimensions).", in.velocity.size(), dim));
  RigidMotion motion;
  motion.velocity = padded(in.velocity);
  if (in.displacement.empty()) return motion;
  motion.displacement = std::make_shared<VectorExpression>(
      at_place(in.place, [&] { return vector_of(in.displacement, body.constants, dim, "displacement"); }));
  for (int c = 0; c < dim; ++c)
    if ((*motion.displacement)[c].depends_on_position())
      throw PlacedError(in.place, "a wall is rigid: its displacement depends on t, not on X, Y, Z.");
  return motion;
}

Point displacement_at(const RigidMotion& motion, double t) {
  Point x = motion.velocity;
  for (double& c : x) c *= t;
  for (int c = 0; motion.displacement != nullptr && c < motion.displacement->size(); ++c)
    x[static_cast<std::size_t>(c)] += finite_value((*motion.displacement)[c], Point{}, t, "the displacement of a wall");
  return x;
}

std::vector<Point> velocities_of(const WallInput& in, const TouchingBody& body) {
  const RigidMotion motion = motion_of(in, body);
  std::vector<Point> velocities;
  for (int k = 0; k < (motion.displacement == nullptr ? 1 : instants); ++k) {
    Point& v = velocities.emplace_back(motion.velocity);
    for (int c = 0; motion.displacement != nullptr && c < motion.displacement->size(); ++c)
      v[static_cast<std::size_t>(c)] +=
          time_derivative((*motion.displacement)[c], Point{}, body.end_time * k / (instants - 1), 1e-6 * body.end_time);
  }
  return velocities;
}

// A plane is a triangle (an edge) so large that nobody gets around it, nor does it slide away.
void add_wall(SurfaceBuilder& builder, const WallInput& in, const TouchingBody& body) {
  const Wall wall = wall_of(in, body.mesh.dim());
  if (!in.target.everything())
    throw PlacedError(
        in.place,
        "a wall of layered contact is for everybody that [[contact]] chooses. Leave out group, where and particles.");
  if (in.step) throw PlacedError(in.place, "layers of contact choose their steps: leave out step.");
  const RigidMotion motion = motion_of(in, body);
  double way = 0.0;  // that it goes, at most, along an axis
  for (int k = 0; k < instants; ++k) {
    const double t = body.end_time * k / (instants - 1);
    for (const double x : at_place(in.place, [&] { return displacement_at(motion, t); }))
      way = std::max(way, std::abs(x));
  }
  const double far = std::max(100.0 * (extent_of(body.mesh) + extent_of_wall(wall) + body.travel), 10.0 * way);
  if (wall.shape == Wall::Shape::sphere)
    return wall.inside ? builder.add_hollow_sphere(wall.point, wall.radius, motion)
                       : builder.add_rigid_sphere(wall.point, wall.radius, motion);
  if (wall.shape == Wall::Shape::box) return builder.add_rigid_box(wall.point, wall.high, motion);
  const auto along = [&](const Point& direction, double by) {
    return Point{wall.point[0] + by * direction[0], wall.point[1] + by * direction[1],
                 wall.point[2] + by * direction[2]};
  };
  if (wall.shape == Wall::Shape::cylinder) {
    const Point a = along(wall.direction, -far), b = along(wall.direction, far);
    return wall.inside ? builder.add_hollow_rod(a, b, wall.radius, motion)
                       : builder.add_rigid_rod(a, b, wall.radius, motion);
  }
  const Point& n = wall.direction;
  if (body.mesh.dim() == 2) {
    const Point t = {-n[1], n[0], 0.0};
    return builder.add_rigid_face(std::array{along(t, -far), along(t, far)}, motion);
  }
  const std::size_t least = std::abs(n[0]) <= std::abs(n[1]) && std::abs(n[0]) <= std::abs(n[2]) ? 0
                            : std::abs(n[1]) <= std::abs(n[2])                                   ? 1
                                                                                                 : 2;
  Point axis{};
  axis[least] = 1.0;
  Point u = cross(n, axis);
  const double length = std::sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  for (double& c : u) c /= length;
  const Point v = cross(n, u);
  std::vector<Point> corners;
  for (int k = 0; k < 3; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / 3.0;
    Point x = along(u, far * std::cos(angle));
    for (std::size_t c = 0; c < 3; ++c) x[c] += far * std::sin(angle) * v[c];
    corners.push_back(x);
  }
  builder.add_rigid_face(corners, motion);
}

HardWall choose_wall(const WallInput& in, const TouchingBody& body) {
  HardWall result;
  result.wall = wall_of(in, body.mesh.dim());
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
