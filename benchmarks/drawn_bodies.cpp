// SPDX-License-Identifier: Apache-2.0
#include "drawn_bodies.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "tempi/io/read_mesh.hpp"

namespace tempi::bench {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15u + 1) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1.0p-53;
  }
  double log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  int integer(int low, int high) { return std::min(high, static_cast<int>(std::floor(uniform(low, high + 1.0)))); }

 private:
  std::mt19937_64 engine_;
};

int dim_of(CellType type) { return info(type).dim; }
bool quadratic(CellType type) { return !mid_edges(type).empty(); }

// About as many unknowns for every element.
BlockShape draw_shape(CellType type, Draw& draw) {
  BlockShape shape;
  shape.type = type;
  shape.jitter = draw.uniform(0.0, 0.25);
  shape.seed = static_cast<unsigned>(draw.integer(1, 1 << 30));
  const auto [low, high] = type == CellType::line2          ? std::pair{16, 64}
                           : type == CellType::triangle3    ? std::pair{9, 20}
                           : type == CellType::triangle6    ? std::pair{5, 11}
                           : type == CellType::tetrahedron4 ? std::pair{4, 7}
                                                            : std::pair{2, 4};
  for (int& n : shape.divisions) n = draw.integer(low, high);
  for (std::size_t axis = static_cast<std::size_t>(dim_of(type)); axis < 3; ++axis) shape.divisions[axis] = 0;
  return shape;
}

constexpr double density = 7800.0;
constexpr Lame steel{93e9, 10e9};

Body plain(Mesh mesh, MassShares shares) { return body_of(std::move(mesh), NeoHookean{steel}, false, shares); }

DrawnBody graded(CellType type, int axes, Draw& draw, MassShares shares) {
  BlockShape shape = draw_shape(type, draw);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(axes); ++axis) {
    const double n = shape.divisions[axis], most = 1.0 + std::log(500.0) / std::log(n);  // spacings 500 to 2000 apart
    shape.power[axis] = std::min(static_cast<double>(draw.integer(1, 4)), most);
  }
  std::string text = fmt::format("powers {:.3g} {:.3g} {:.3g}, jitter {:.2f}", shape.power[0], shape.power[1],
                                 shape.power[2], shape.jitter);
  return {plain(block(shape), shares), std::move(text)};
}

DrawnBody with_slivers(CellType type, Draw& draw, MassShares shares) {
  BlockShape shape = draw_shape(type, draw);
  shape.slivers = type == CellType::line2 ? draw.uniform(0.05, 0.2) : draw.uniform(0.01, 0.05);
  shape.flatness = draw.log_uniform(0.02, 0.3);
  std::string text = fmt::format("{:.1f} % slivers of flatness {:.3f}, jitter {:.2f}", 100.0 * shape.slivers,
                                 shape.flatness, shape.jitter);
  return {plain(block(shape), shares), std::move(text)};
}

DrawnBody of_two_materials(CellType type, Draw& draw, MassShares shares) {
  BlockShape shape = draw_shape(type, draw);
  for (double& p : shape.power) p = draw.uniform(1.0, 2.0);
  const double ratio = draw.log_uniform(10.0, 1e4), lighter = draw.log_uniform(1.0, 10.0);
  const bool halves = draw.integer(0, 1) == 0;
  std::vector<std::array<double, 4>> balls;
  for (int i = draw.integer(2, 6); i > 0; --i)
    balls.push_back({draw.uniform(0.0, 1.0), draw.uniform(0.0, 1.0), draw.uniform(0.0, 1.0), draw.uniform(0.1, 0.3)});
  const bool stiff_balls = draw.integer(0, 1) == 0;
  const auto which = [&](const Mesh& mesh, CellId cell) -> std::size_t {
    const std::vector<double> x = mesh.centroid(cell);
    if (halves) return x[0] > 0.5 ? 1 : 0;
    const bool inside = std::ranges::any_of(balls, [&](const auto& ball) {
      double d2 = 0.0;
      for (std::size_t c = 0; c < x.size(); ++c) d2 += (x[c] - ball[c]) * (x[c] - ball[c]);
      return d2 < ball[3] * ball[3];
    });
    return inside == stiff_balls ? 0 : 1;
  };
  const Lame soft{steel.lambda / ratio, steel.mu / ratio};
  return {body_of(block(shape), {{NeoHookean{steel}, density}, {NeoHookean{soft}, density / lighter}}, which, shares),
          fmt::format("{}, {:.0f} times apart, {:.1f} times lighter", halves ? "halves" : "balls", ratio, lighter)};
}

// What Gmsh makes of a script, through a file of the process's own.
Mesh meshed(const std::string& script, CellType type) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("tempi-drawn-{}.geo", getpid());
  std::ofstream(file) << script;
  Mesh mesh = read_mesh(file, {.order = quadratic(type) ? 2 : 1, .size = 0.0, .refine = 0});
  std::filesystem::remove(file);
  return mesh;
}

// Extruded to `thickness` in 3-D; `size` is a formula of x and y.
std::string extruded(const std::string& surface, CellType type, double thickness, const std::string& size) {
  std::string script = "SetFactory(\"OpenCASCADE\");\n" + surface;
  if (dim_of(type) == 3)
    script +=
        fmt::format("out[] = Extrude {{0, 0, {}}} {{ Surface{{:}}; }};\nPhysical Volume(\"body\") = {{out[1]}};\n",
                    thickness);
  else
    script += "Physical Surface(\"body\") = {Surface{:}};\n";
  return script + fmt::format(
                      "Field[1] = MathEval;\nField[1].F = \"{}\";\nBackground Field = 1;\n"
                      "Mesh.MeshSizeExtendFromBoundary = 0;\nMesh.MeshSizeFromPoints = 0;\n",
                      size);
}

DrawnBody notched(CellType type, Draw& draw, MassShares shares) {
  const double coarse = quadratic(type) ? 0.3 : 0.15, largest = coarse * draw.uniform(0.8, 1.2);
  const double finest = largest / draw.log_uniform(5.0, dim_of(type) == 3 ? 20.0 : 40.0);
  const double growth = draw.log_uniform(0.3, 0.9), depth = draw.uniform(0.3, 0.7), width = 0.5 * finest;
  const std::string surface = fmt::format(
      "Rectangle(1) = {{0, 0, 0, 1, 0.5}};\nRectangle(2) = {{-0.1, {}, 0, {}, {}}};\n"
      "BooleanDifference{{ Surface{{1}}; Delete; }}{{ Surface{{2}}; Delete; }}\n",
      0.25 - 0.5 * width, depth + 0.1, width);
  const std::string size = fmt::format("Min({}, {} + {} * Sqrt((x-{})^2+(y-0.25)^2))", largest, finest, growth, depth);
  return {plain(meshed(extruded(surface, type, draw.uniform(0.1, 0.3), size), type), shares),
          fmt::format("sizes {:.3g} to {:.3g}, growing by {:.2f}", finest, largest, growth)};
}

DrawnBody drilled(CellType type, Draw& draw, MassShares shares) {
  const double coarse = quadratic(type) ? 0.4 : 0.25, largest = coarse * draw.uniform(0.8, 1.2);
  const double growth = draw.log_uniform(0.4, 1.0);
  if (draw.integer(0, 1) == 0) {  // an angle with two holes of unlike sizes
    const double R = draw.uniform(0.05, 0.12), r = R * draw.uniform(0.2, 0.6);
    const std::string surface = fmt::format(
        "Rectangle(1) = {{0, 0, 0, 1, 0.35}};\nRectangle(2) = {{0, 0, 0, 0.35, 1}};\n"
        "BooleanUnion{{ Surface{{1}}; Delete; }}{{ Surface{{2}}; Delete; }}\n"
        "Disk(10) = {{0.75, 0.17, 0, {}}};\nDisk(11) = {{0.17, 0.75, 0, {}}};\n"
        "BooleanDifference{{ Surface{{1}}; Delete; }}{{ Surface{{10, 11}}; Delete; }}\n",
        R, r);
    const std::string size = fmt::format(
        "Min({}, Min({} + {} * Abs(Sqrt((x-0.75)^2+(y-0.17)^2)-{}), {} + {} * Abs(Sqrt((x-0.17)^2+(y-0.75)^2)-{})))",
        largest, 0.7 * R, growth, R, 0.7 * r, growth, r);
    return {plain(meshed(extruded(surface, type, draw.uniform(0.08, 0.2), size), type), shares),
            fmt::format("bracket, holes {:.3f} and {:.3f}, growing by {:.2f}", R, r, growth)};
  }
  const int teeth = draw.integer(5, 9);
  const double slot = draw.uniform(0.04, 0.12), bore = draw.uniform(0.1, 0.25);
  std::string surface = fmt::format("Disk(1) = {{0, 0, 0, 0.6}};\nDisk(2) = {{0, 0, 0, {}}};\n", bore), cut = "2";
  for (int i = 0; i < teeth; ++i) {
    surface += fmt::format(
        "Rectangle({0}) = {{0.48, {1}, 0, 0.3, {2}}};\nRotate {{{{0, 0, 1}}, {{0, 0, 0}}, {3}}} {{ Surface{{{0}}}; "
        "}}\n",
        10 + i, -0.5 * slot, slot, 2.0 * 3.14159265358979 * i / teeth);
    cut += fmt::format(", {}", 10 + i);
  }
  surface += fmt::format("BooleanDifference{{ Surface{{1}}; Delete; }}{{ Surface{{{}}}; Delete; }}\n", cut);
  const std::string size = fmt::format("Min({}, {} + {} * Abs(Sqrt(x^2+y^2)-0.5))", largest, 0.8 * slot, growth);
  return {plain(meshed(extruded(surface, type, draw.uniform(0.08, 0.2), size), type), shares),
          fmt::format("gear of {} teeth, slots {:.3f}, growing by {:.2f}", teeth, slot, growth)};
}

}  // namespace

std::string name_of(Kind kind) {
  constexpr std::array<const char*, 7> names = {"graded along one axis", "along two axes",
                                                "along three axes",      "slivers",
                                                "two materials",         "notched plate",
                                                "bracket or gear"};
  return names[static_cast<std::size_t>(kind)];
}

bool exists(Kind kind, CellType type) {
  if (type != CellType::line2) return !(dim_of(type) == 2 && kind == Kind::three_axes);
  return kind == Kind::one_axis || kind == Kind::slivers || kind == Kind::contrast;
}

DrawnBody drawn_body(Kind kind, CellType type, std::uint64_t seed, MassShares shares) {
  Draw draw(seed * 64 + static_cast<std::uint64_t>(kind));
  switch (kind) {
    case Kind::one_axis: return graded(type, 1, draw, shares);
    case Kind::two_axes: return graded(type, 2, draw, shares);
    case Kind::three_axes: return graded(type, 3, draw, shares);
    case Kind::slivers: return with_slivers(type, draw, shares);
    case Kind::contrast: return of_two_materials(type, draw, shares);
    case Kind::notched: return notched(type, draw, shares);
    case Kind::drilled: break;
  }
  return drilled(type, draw, shares);
}

DrawnBody body_of_file(const std::string& file, CellType type, MassShares shares) {
  Mesh mesh = read_mesh(file, {.order = quadratic(type) ? 2 : 1, .size = 0.0, .refine = 0});
  return {plain(std::move(mesh), shares), file};
}

}  // namespace tempi::bench
