// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/layered_contact.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tempi/contact/separation.hpp"
#include "tempi/core/cross.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Point = std::array<double, 3>;

constexpr double nearly_parallel = 1e-3;  // of the squared areas of edges in the reference configuration
constexpr double all_softer = 4.0 / 3.0;  // 1 + 1/4 + 1/16 ...
constexpr double part_of_crossing = 0.1;

double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

double smooth(double x) { return x <= 0.0 ? 0.0 : x >= 1.0 ? 1.0 : x * x * (3.0 - 2.0 * x); }
double slope(double x) { return x <= 0.0 || x >= 1.0 ? 0.0 : 6.0 * x * (1.0 - x); }

struct EdgeFactor {
  double value = 0.0;
  std::array<Point, 4> gradient{};
};

// Of two edges: m = S(|e x f|^2 / parallel_from) S(s) S(1 - s) S(t) S(1 - t), with places s, t in quarters of the edges
// from their ends. The places solve r . e = r . f = 0, r = (a + s e) - (c + t f): what changes them follows from these.
EdgeFactor edge_factor(std::span<const Point> x, const ClosestPoints& points, double parallel_from) {
  constexpr double near_end = 0.25;
  const double s = points.weight[1], t = -points.weight[3];
  EdgeFactor m;
  if (!(s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0)) return m;
  const Point e = x[1] - x[0], f = x[3] - x[2], area = cross(e, f);
  const double c = dot(area, area) / parallel_from;
  const std::array<double, 5> at = {c, s / near_end, (1.0 - s) / near_end, t / near_end, (1.0 - t) / near_end};
  m.value = 1.0;
  for (const double y : at) m.value *= smooth(y);
  if (m.value == 0.0) return m;
  // 2 (f x area) . de + 2 (area x e) . df is the change of |e x f|^2.
  const double of_area = m.value * slope(at[0]) / smooth(at[0]) * 2.0 / parallel_from;
  const double of_s = m.value * (slope(at[1]) / smooth(at[1]) - slope(at[2]) / smooth(at[2])) / near_end;
  const double of_t = m.value * (slope(at[3]) / smooth(at[3]) - slope(at[4]) / smooth(at[4])) / near_end;
  const Point by_e = cross(f, area), by_f = cross(area, e);
  const double ee = dot(e, e), ef = dot(e, f), ff = dot(f, f), determinant = ef * ef - ee * ff;
  // The transposed equations [ee, ef; -ef, -ff] lambda = (of_s, of_t).
  const double on_e = (-ff * of_s - ef * of_t) / determinant, on_f = (ef * of_s + ee * of_t) / determinant;
  for (std::size_t i = 0; i < 4; ++i) {
    const double de = i == 0 ? -1.0 : i == 1 ? 1.0 : 0.0, df = i == 2 ? -1.0 : i == 3 ? 1.0 : 0.0;
    for (std::size_t k = 0; k < 3; ++k)
      m.gradient[i][k] = of_area * (de * by_e[k] + df * by_f[k]) - points.weight[i] * (on_e * e[k] + on_f * f[k]) -
                         points.apart[k] * (on_e * de + on_f * df);
  }
  return m;
}

void require(bool holds, const std::string& message) {
  if (!holds) throw InputError(message);
}

}  // namespace

LayeredContact::LayeredContact(ContactSurface surface, const LayerOptions& options, std::span<const double> masses,
                               std::string name)
    : surface_(std::move(surface)), options_(options), name_(std::move(name)) {
  const LayerLaw& law = options_.law;
  const auto positive = [](double x) { return x > 0.0 && std::isfinite(x); };
  require(positive(law.inner) && positive(law.outer) && law.inner < law.outer,
          fmt::format("inner_distance = {} m and distance = {} m (must be > 0, and the inner one the smaller).",
                      law.inner, law.outer));
  require(positive(law.stiffness), fmt::format("stiffness = {} (must be > 0).", law.stiffness));
  require(law.exponent >= 2.0 && law.exponent <= 4.0, fmt::format("exponent = {} (2 to 4).", law.exponent));
  require(options_.alpha > 0.0 && options_.alpha <= 0.5, fmt::format("alpha = {} (0 to 0.5).", options_.alpha));
  require(options_.pairs >= 1.0, fmt::format("pairs = {} (at least 1).", options_.pairs));
  require(options_.friction >= 0.0, fmt::format("friction = {} (must be >= 0).", options_.friction));
  require(options_.restitution >= 0.0 && options_.restitution <= 1.0,
          fmt::format("energy_restitution = {} (0 to 1).", options_.restitution));
  surface_.finish();
  for (const ContactSurface::Vertex& v : surface_.vertices())
    lightness_.push_back(v.is_rigid() ? 0.0 : 1.0 / masses[ordinal(v.node)]);
  for (int l = 0; l <= most_layers; ++l) {
    distances_[static_cast<std::size_t>(l)] = law.distance(l);
    stiffnesses_[static_cast<std::size_t>(l)] = law.stiffness_of(l);
  }
  of_mass_ = options_.alpha * 2.0 / std::sqrt(2.0 * options_.pairs * all_softer * law.curvature(0));
  of_crossing_ = options_.speed > 0.0 ? part_of_crossing * (law.distance(0) - law.distance(1)) / options_.speed
                                      : std::numeric_limits<double>::infinity();
}

std::vector<double> LayeredContact::identity() const {
  const LayerLaw& law = options_.law;
  std::vector<double> r = {law.outer,      law.inner,      law.stiffness,     law.exponent,        options_.alpha,
                           options_.pairs, options_.speed, options_.friction, options_.restitution};
  for (const ContactSurface::Vertex& v : surface_.vertices()) {
    r.push_back(static_cast<double>(index(v.node)));
    r.push_back(v.radius);
    if (!v.is_rigid()) continue;
    r.insert(r.end(), v.place.begin(), v.place.end());
    r.insert(r.end(), v.velocity.begin(), v.velocity.end());
  }
  r.push_back(static_cast<double>(surface_.edge_count()));
  r.push_back(static_cast<double>(surface_.face_count()));
  r.push_back(static_cast<double>(surface_.hollow_count()));
  return r;
}

double LayeredContact::step(const ContactPair& pair) const {
  double lightest = 0.0;
  for (const std::int32_t v : pair.vertices()) lightest = std::max(lightest, lightness_[static_cast<std::size_t>(v)]);
  return std::min(of_mass_ / std::sqrt(lightest), of_crossing_);
}

std::array<double, 2> LayeredContact::range_of_steps() const {
  double light = 0.0, heavy = std::numeric_limits<double>::infinity();
  for (const double l : lightness_) {
    light = std::max(light, l);
    if (l > 0.0) heavy = std::min(heavy, l);
  }
  return {std::min(of_mass_ / std::sqrt(light), of_crossing_), std::min(of_mass_ / std::sqrt(heavy), of_crossing_)};
}

LayeredContact::Constants LayeredContact::constants(const ContactPair& pair) const {
  return {surface_.radii(pair), nearly_parallel * surface_.squared_edges(pair)};
}

void LayeredContact::finish(SimplexPair kind, const Constants& constants, std::span<const Point> x,
                            const ClosestPoints& points, double energy, double force, Push& r) const {
  const auto n = static_cast<std::size_t>(kind.size());
  const double towards = kind.within ? -points.distance : points.distance;
  for (std::size_t c = 0; c < 3; ++c) r.normal[c] = points.apart[c] / towards;
  r.weight = points.weight;
  double factor = 1.0;
  if (kind.first == 2) {
    EdgeFactor m = edge_factor(x, points, constants.parallel_from);
    factor = m.value;
    if (factor == 0.0) {
      r.touched = 0;
      return;
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < 3; ++c) r.impulse[i][c] -= energy * m.gradient[i][c];
  }
  r.energy = factor * energy;
  r.along = factor * force;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < 3; ++c) r.impulse[i][c] += r.along * points.weight[i] * r.normal[c];
}

std::string LayeredContact::describe(const ContactPair& pair, std::span<const Point> x) const {
  const auto side = [&](std::size_t from, std::size_t count) {
    std::string nodes;
    bool rigid = false;
    Point centre{};
    for (std::size_t i = from; i < from + count; ++i) {
      const auto v = static_cast<std::size_t>(pair.vertex[i]);
      const ContactSurface::Vertex& vertex = surface_.vertices()[v];
      rigid = vertex.is_rigid();
      if (!rigid) nodes += fmt::format("{}{}", nodes.empty() ? "" : ", ", ordinal(vertex.node));
      for (std::size_t c = 0; c < 3; ++c) centre[c] += x[i][c] / static_cast<double>(count);
    }
    const std::string at =
        fmt::format("at ({:.4g})", fmt::join(std::span(centre).first(static_cast<std::size_t>(surface_.dim())), ", "));
    if (rigid) return fmt::format("a wall {}", at);
    return fmt::format("the {} of node{} {} {}",
                       count == 1   ? "vertex"
                       : count == 2 ? "edge"
                                    : "face",
                       count == 1 ? "" : "s", nodes, at);
  };
  const auto first = static_cast<std::size_t>(pair.kind.first);
  return fmt::format("{} and {}", side(0, first), side(first, static_cast<std::size_t>(pair.kind.second)));
}

std::string too_close(const LayeredContact& contact, std::span<const Point> x, double distance) {
  const ContactSurface& surface = contact.surface();
  std::vector<Bounds> boxes(x.size());
  for (std::size_t v = 0; v < x.size(); ++v) {
    boxes[v].take(x[v]);
    boxes[v].grow(0.5 * distance * (1.0 + 1e-9) + surface.vertices()[v].radius);
  }
  ContactSurface::Search search;
  std::vector<ContactPair> pairs;
  surface.find_pairs(boxes, search, pairs);
  const ContactPair* worst = nullptr;
  double least = distance;
  std::array<Point, 4> at{};
  const auto places = [&](const ContactPair& pair) {
    for (std::size_t i = 0; i < pair.vertices().size(); ++i) at[i] = x[static_cast<std::size_t>(pair.vertex[i])];
    return std::span<const Point>(at).first(pair.vertices().size());
  };
  std::size_t count = 0;
  for (const ContactPair& pair : pairs) {
    const double d = surface.gap(pair, closest_points(pair.kind, places(pair)).distance);
    if (d >= distance) continue;
    ++count;
    if (worst != nullptr && d >= least) continue;
    least = d;
    worst = &pair;
  }
  if (worst == nullptr) return "";
  return fmt::format("{} are {:.4g} m apart{}", contact.describe(*worst, places(*worst)), least,
                     count > 1 ? fmt::format(", and {} more pairs are too close", count - 1) : "");
}

}  // namespace tempi
