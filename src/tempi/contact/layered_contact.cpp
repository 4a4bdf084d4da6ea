// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/layered_contact.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tempi/contact/separation.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Point = std::array<double, 3>;

constexpr double nearly_parallel = 1e-3;  // of the squared areas of edges in the reference configuration
constexpr double all_softer = 4.0 / 3.0;  // 1 + 1/4 + 1/16 ...
constexpr double part_of_crossing = 0.1;

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
    layers_.distance[static_cast<std::size_t>(l)] = law.distance(l);
    layers_.stiffness[static_cast<std::size_t>(l)] = law.stiffness_of(l);
  }
  layers_.exponent = law.exponent;
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
    r.insert(r.end(), v.motion.velocity.begin(), v.motion.velocity.end());
    if (v.motion.displacement == nullptr) continue;
    for (int c = 0; c < v.motion.displacement->size(); ++c)
      for (const char letter : (*v.motion.displacement)[c].text()) r.push_back(static_cast<double>(letter));
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
