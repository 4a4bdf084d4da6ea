// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/wall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Vector = std::array<double, 3>;
constexpr double infinity = std::numeric_limits<double>::infinity();

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// x from the wall's point; of a cylinder only what is across its axis.
Vector from_wall(const Wall& wall, const Vector& x, bool is_place = true) {
  Vector p = x;
  if (is_place)
    for (std::size_t c = 0; c < 3; ++c) p[c] -= wall.point[c];
  if (wall.shape != Wall::Shape::cylinder) return p;
  const double along = dot(p, wall.direction);
  for (std::size_t c = 0; c < 3; ++c) p[c] -= along * wall.direction[c];
  return p;
}

bool is_round(const Wall& wall) { return wall.shape == Wall::Shape::sphere || wall.shape == Wall::Shape::cylinder; }

// V = K/p max(0, R - g)^p: p = 2 is the penalty on nodes, spheres without radius; 5/2 Hertz's law.
class WallContact final : public LocalPotential {
 public:
  WallContact(std::span<const double> reference, int dim, std::vector<WallSphere> touchers, const Wall& wall,
              double power)
      : dim_(dim),
        touchers_(std::move(touchers)),
        reference_(reference.begin(), reference.end()),
        wall_(wall),
        power_(power) {}

  Index size() const override { return std::ssize(touchers_); }
  int dim() const override { return dim_; }
  std::span<const NodeId> stencil(Index k) const override { return {&of(k).node, 1}; }
  double mass(Index, std::size_t) const override { return 0.0; }
  bool stays_together() const override { return false; }

  double energy(Index k, std::span<const double> u, double) const override {
    return of(k).stiffness / power_ * std::pow(std::max(0.0, -gap_of(k, u).distance), power_);
  }

  double add_gradient(Index k, std::span<const double> u, double, std::span<double> g) const override {
    const Gap at = gap_of(k, u);
    if (!std::isfinite(at.distance)) return std::numeric_limits<double>::quiet_NaN();
    if (at.distance >= 0.0) return 1.0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(dim_); ++c) g[c] -= force(k, at) * at.normal[c];
    return 1.0;
  }

  // V'' n n + V' grad grad g; grad grad g of round walls is the curvature across n.
  void add_hessian(Index k, std::span<const double> u, double, std::span<double> H) const override {
    const Gap at = gap_of(k, u);
    if (at.distance >= 0.0) return;
    const Vector p = from_wall(wall_, place(k, u));
    const double stiff = force(k, at) * (power_ - 1.0) / -at.distance;
    const double bend = is_round(wall_) ? (wall_.inside ? 1.0 : -1.0) * force(k, at) / std::sqrt(dot(p, p)) : 0.0;
    const auto d = static_cast<std::size_t>(dim_);
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < d; ++j) {
        double across = (i == j ? 1.0 : 0.0) - at.normal[i] * at.normal[j];
        if (wall_.shape == Wall::Shape::cylinder) across -= wall_.direction[i] * wall_.direction[j];
        H[i * d + j] += stiff * at.normal[i] * at.normal[j] + bend * across;
      }
  }

  // Where it is reached or left; beyond a round wall also where its normal has turned by a tenth.
  double first_kink(Index k, std::span<const double> u, std::span<const double> v) const override {
    Vector x{}, w{};
    const auto d = static_cast<std::size_t>(dim_);
    const std::size_t first = ordinal(of(k).node) * d;
    double size = 0.0, speed = 0.0;
    for (std::size_t c = 0; c < d; ++c) {
      x[c] = reference_[first + c] + u[c];
      w[c] = v[c];
      size = std::max({size, std::abs(reference_[first + c]), std::abs(u[c])});
      speed += v[c] * v[c];
    }
    speed = std::sqrt(speed);
    const double rounding = 1e-15 * size / speed;  // nearer than that it is there
    const Gap at = gap(wall_, x);
    const double distance = at.distance - of(k).radius;
    double s = 0.0;
    if (distance >= 0.0) {
      s = time_to_reach(grown_by(of(k).radius), x, w);
    } else {
      const double rate = dot(w, at.normal);
      if (rate > 0.0) s = -distance / rate;
      if (is_round(wall_)) s = s > rounding ? std::min(s, 0.1 * wall_.radius / speed) : 0.1 * wall_.radius / speed;
      if (wall_.shape == Wall::Shape::box && !(s > rounding)) s = -at.distance / speed;  // another face may be nearer
    }
    return s > rounding ? s : infinity;
  }

  std::string describe(Index k) const override { return fmt::format("node {} at the wall", index(of(k).node)); }

  std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const override {
    return std::make_unique<WallBatch>(*this, terms, place, LocalPotential::batch(terms, place));
  }

 private:
  // Most are away from the wall most of the time: they are passed over where they are.
  class WallBatch final : public Batch {
   public:
    WallBatch(const WallContact& contact, std::span<const Index> terms, std::span<const std::int32_t> place,
              std::unique_ptr<Batch> one_by_one)
        : contact_(contact), one_by_one_(std::move(one_by_one)) {
      for (const Index k : terms) {
        const WallSphere& sphere = contact.of(k);
        touchers_.push_back({contact.place(k, {}), sphere.radius, sphere.stiffness, place[ordinal(sphere.node)]});
      }
    }

    bool strike(Index first, Index last, double step, double, std::span<NodeLine> nodes) const override {
      const auto d = static_cast<std::size_t>(contact_.dim_);
      bool admissible = true;
      for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k) {
        const Toucher& toucher = touchers_[k];
        NodeLine& node = nodes[static_cast<std::size_t>(toucher.line)];
        const Gap at = gap_of(toucher, node);
        admissible = admissible && std::isfinite(at.distance);
        if (!(at.distance < 0.0)) continue;
        const double force = toucher.stiffness * contact_.raised(-at.distance);
        for (std::size_t c = 0; c < d; ++c) node.velocity[c] += step * (force * at.normal[c]) * node.inverse_mass;
      }
      return admissible;
    }
    Index row() const override { return one_by_one_->row(); }
    void measure(Index first, Index last, double, std::span<const NodeLine> nodes, std::span<double> energies,
                 std::span<double> gradients) const override {
      const auto d = static_cast<std::size_t>(contact_.dim_), n = static_cast<std::size_t>(last - first);
      for (std::size_t i = 0; i < n; ++i) {
        const Toucher& toucher = touchers_[static_cast<std::size_t>(first) + i];
        const Gap at = gap_of(toucher, nodes[static_cast<std::size_t>(toucher.line)]);
        const double force = at.distance < 0.0 ? toucher.stiffness * contact_.raised(-at.distance) : 0.0;
        energies[i] = force * -at.distance / contact_.power_;
        for (std::size_t c = 0; c < d; ++c) gradients[i * d + c] = -force * at.normal[c];
      }
    }
    bool offers_change() const override { return one_by_one_->offers_change(); }
    void place_shifts(std::span<const std::int32_t> of_line) override { one_by_one_->place_shifts(of_line); }
    void strike_change(Index first, Index last, double t, std::span<NodeLine> nodes, std::span<const NodeShift> w,
                       std::span<double> impulses) const override {
      one_by_one_->strike_change(first, last, t, nodes, w, impulses);
    }

   private:
    struct Toucher {
      Vector reference;
      double radius, stiffness;
      std::int32_t line;
    };
    Gap gap_of(const Toucher& toucher, const NodeLine& node) const {
      Vector x = toucher.reference;
      for (std::size_t c = 0; c < 3; ++c) x[c] += node.displacement[c];
      Gap at = gap(contact_.wall_, x);
      at.distance -= toucher.radius;
      return at;
    }
    const WallContact& contact_;
    std::unique_ptr<Batch> one_by_one_;
    std::vector<Toucher> touchers_;
  };

  Vector place(Index k, std::span<const double> u) const {
    Vector x{};
    const std::size_t first = ordinal(of(k).node) * static_cast<std::size_t>(dim_);
    for (std::size_t c = 0; c < static_cast<std::size_t>(dim_); ++c)
      x[c] = reference_[first + c] + (u.empty() ? 0.0 : u[first + c]);
    return x;
  }
  double raised(double depth) const { return power_ == 2.0 ? depth : depth * std::sqrt(depth); }  // to power_ - 1
  const WallSphere& of(Index k) const { return touchers_[static_cast<std::size_t>(k)]; }
  Gap gap_of(Index k, std::span<const double> u) const {
    Gap at = gap(wall_, place(k, u));
    at.distance -= of(k).radius;
    return at;
  }
  double force(Index k, const Gap& at) const {  // out of the wall, where it is touched
    return of(k).stiffness * raised(-at.distance);
  }
  // What a centre reaches when a sphere of this radius does.
  Wall grown_by(double radius) const {
    Wall wall = wall_;
    if (wall.shape == Wall::Shape::plane)
      for (std::size_t c = 0; c < 3; ++c) wall.point[c] += radius * wall.direction[c];
    if (wall.shape == Wall::Shape::sphere) wall.radius += wall.inside ? -radius : radius;
    return wall;
  }

  int dim_;
  std::vector<WallSphere> touchers_;
  std::vector<double> reference_;
  Wall wall_;
  double power_;
};

}  // namespace

Wall checked(Wall wall, int dim) {
  using enum Wall::Shape;
  const auto d = static_cast<std::size_t>(dim);
  for (auto* vector : {&wall.point, &wall.direction, &wall.high}) {
    std::fill(vector->begin() + dim, vector->end(), 0.0);
    if (!std::ranges::all_of(*vector, [](double x) { return std::isfinite(x); }))
      throw InputError("a wall has a number that is not finite.");
  }
  if (wall.shape == cylinder && dim != 3)
    throw InputError("a cylinder needs three dimensions. In a plane its section is a sphere.");
  if (wall.shape == plane || wall.shape == cylinder) {
    const double length = std::sqrt(dot(wall.direction, wall.direction));
    if (!(length > 0.0))
      throw InputError(fmt::format("the {} of a wall has no length.", wall.shape == plane ? "normal" : "axis"));
    for (double& x : wall.direction) x /= length;
  }
  if (is_round(wall) && (!(wall.radius > 0.0) || !std::isfinite(wall.radius)))
    throw InputError(fmt::format("radius = {} m (must be > 0).", wall.radius));
  if (wall.shape == box)
    for (std::size_t c = 0; c < d; ++c)
      if (!(wall.high[c] > wall.point[c]))
        throw InputError(fmt::format("a wall's box reaches from {} to {} m along {} (must have an extent).",
                                     wall.point[c], wall.high[c], "xyz"[c]));
  if (wall.inside && !is_round(wall)) throw InputError("only a sphere or a cylinder can have bodies inside.");
  if (wall.shape == box)
    for (std::size_t c = d; c < 3; ++c) wall.point[c] = -infinity, wall.high[c] = infinity;
  return wall;
}

Gap gap(const Wall& wall, const Vector& x) {
  const Vector p = from_wall(wall, x);
  if (wall.shape == Wall::Shape::plane) return {dot(p, wall.direction), wall.direction};
  if (is_round(wall)) {
    const double r = std::sqrt(dot(p, p)), sign = wall.inside ? -1.0 : 1.0;
    const double scale = r > 0.0 ? sign / r : 0.0;  // at the centre no direction leads out
    return {sign * (r - wall.radius), {scale * p[0], scale * p[1], scale * p[2]}};
  }
  Gap nearest{-infinity, {}};  // the face that is the nearest from within, or the farthest from outside
  for (std::size_t c = 0; c < 3; ++c)
    for (const double side : {-1.0, 1.0}) {
      const double distance = side < 0.0 ? wall.point[c] - x[c] : x[c] - wall.high[c];
      if (!(distance > nearest.distance)) continue;
      nearest = {distance, {}};
      nearest.normal[c] = side;
    }
  if (!std::isfinite(x[0] + x[1] + x[2])) nearest.distance = std::numeric_limits<double>::quiet_NaN();
  return nearest;
}

double time_to_reach(const Wall& wall, const Vector& x, const Vector& v) {
  if (wall.shape == Wall::Shape::plane) {
    const double rate = dot(v, wall.direction);
    return rate < 0.0 ? std::max(0.0, dot(from_wall(wall, x), wall.direction) / -rate) : infinity;
  }
  if (is_round(wall)) {
    const Vector p = from_wall(wall, x), w = from_wall(wall, v, false);
    const double pw = dot(p, w), ww = dot(w, w), f = dot(p, p) - wall.radius * wall.radius;
    const double discriminant = pw * pw - ww * f;
    if (!(ww > 0.0)) return infinity;
    if (wall.inside) {  // the later root: where it leaves
      const double root = std::sqrt(std::max(0.0, discriminant));
      return std::max(0.0, pw > 0.0 ? -f / (pw + root) : (root - pw) / ww);
    }
    return pw < 0.0 && discriminant > 0.0 ? std::max(0.0, f / (std::sqrt(discriminant) - pw)) : infinity;
  }
  double enters = 0.0, leaves = infinity;
  for (std::size_t c = 0; c < 3; ++c) {
    const double low = wall.point[c] - x[c], high = wall.high[c] - x[c];
    if (v[c] == 0.0) {
      if (low >= 0.0 || high <= 0.0) return infinity;
      continue;
    }
    enters = std::max(enters, (v[c] > 0.0 ? low : high) / v[c]);
    leaves = std::min(leaves, (v[c] > 0.0 ? high : low) / v[c]);
  }
  if (!(enters < leaves)) return infinity;
  if (enters > 0.0) return enters;
  return dot(gap(wall, x).normal, v) < 0.0 ? 0.0 : infinity;  // it stands on it
}

std::unique_ptr<Potential> make_wall_contact(std::span<const double> reference, int dim, std::vector<NodeId> nodes,
                                             const Wall& wall, double penalty) {
  if (!(penalty > 0.0) || !std::isfinite(penalty))
    throw InputError(fmt::format("penalty = {} m/N (must be > 0).", penalty));
  std::vector<WallSphere> touchers;
  for (const NodeId a : nodes) touchers.push_back({a, 0.0, 1.0 / penalty});
  return std::make_unique<WallContact>(reference, dim, std::move(touchers), checked(wall, dim), 2.0);
}

std::unique_ptr<Potential> make_wall_contact(std::span<const double> reference, int dim,
                                             std::span<const WallSphere> spheres, const Wall& wall) {
  if (wall.shape != Wall::Shape::plane && wall.shape != Wall::Shape::sphere)
    throw InputError("spheres touch planes and spheres by Hertz's law: the wall is neither. Build it of planes.");
  for (const auto& [node, radius, stiffness] : spheres) {
    if (!(radius > 0.0) || !(stiffness > 0.0) || !std::isfinite(radius) || !std::isfinite(stiffness))
      throw InputError(fmt::format("node {}: radius = {} m and stiffness = {} N/m^(3/2) at a wall (must be > 0).",
                                   index(node), radius, stiffness));
    if (wall.inside && !(radius < wall.radius))
      throw InputError(
          fmt::format("node {}: a sphere of {} m has no room in one of {} m.", index(node), radius, wall.radius));
  }
  return std::make_unique<WallContact>(reference, dim, std::vector<WallSphere>(spheres.begin(), spheres.end()),
                                       checked(wall, dim), 2.5);
}

}  // namespace tempi
