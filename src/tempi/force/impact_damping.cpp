// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/impact_damping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tempi/core/error.hpp"
#include "tempi/pair/pair_geometry.hpp"

namespace tempi {
namespace {

// (ln(1 + s) - ln(1 - s e) - s (1 + e)) / s^2: negative up to the root, positive beyond.
double excess(double s, double e) {
  if (s > 0.05) return (std::log1p(s) - std::log1p(-s * e) - s * (1.0 + e)) / (s * s);
  double sum = 0.0, power = 1.0, of_e = e * e;  // the series: nothing cancels but what must
  for (int k = 2; k <= 14; ++k, power *= s, of_e *= e) sum += power / k * (of_e - (k % 2 == 0 ? 1.0 : -1.0));
  return sum;
}

using Vector = std::array<double, 3>;

// sqrt(K d^(3/2)) n; n out of the first node's sphere.
Vector along_of(double overlap, double K, const Vector& n) {
  const double root = std::sqrt(K * overlap * std::sqrt(overlap));
  return {root * n[0], root * n[1], root * n[2]};
}

// Who touches whom: each_touching(k, u, t, visit(Touch::place, c of unit strength)).
class PairsInTouch {
 public:
  static constexpr bool is_sum = false;
  PairsInTouch(std::span<const double> reference, int dim, std::vector<NodePair> pairs, std::vector<Hertz> laws,
               const Box& box)
      : reference_(reference.begin(), reference.end()),
        dim_(dim),
        pairs_(std::move(pairs)),
        laws_(std::move(laws)),
        box_(box) {}

  int dim() const { return dim_; }
  Index size() const { return std::ssize(pairs_); }
  std::span<const NodeId> stencil(Index k) const { return pairs_[static_cast<std::size_t>(k)]; }
  template <class Visit>
  void each_touching(Index k, std::span<const double> u, double, Visit&& visit) const {
    const Hertz& law = laws_[static_cast<std::size_t>(k)];
    const auto [r, n] = separation_of(pairs_[static_cast<std::size_t>(k)], reference_, u, dim_, box_);
    if (r < law.length) visit({0, 1}, along_of(law.length - r, law.stiffness, n));
  }
  void identify(std::vector<double>& numbers) const {
    for (const Hertz& law : laws_) numbers.insert(numbers.end(), {law.stiffness, law.length});
  }

 private:
  std::vector<double> reference_;
  int dim_;
  std::vector<NodePair> pairs_;
  std::vector<Hertz> laws_;
  Box box_;
};

class WallInTouch {
 public:
  static constexpr bool is_sum = false;
  WallInTouch(std::span<const double> reference, int dim, std::vector<WallSphere> spheres, const Wall& wall)
      : reference_(reference.begin(), reference.end()),
        dim_(dim),
        spheres_(std::move(spheres)),
        wall_(checked(wall, dim)) {}

  int dim() const { return dim_; }
  Index size() const { return std::ssize(spheres_); }
  std::span<const NodeId> stencil(Index k) const { return {&spheres_[static_cast<std::size_t>(k)].node, 1}; }
  template <class Visit>
  void each_touching(Index k, std::span<const double> u, double, Visit&& visit) const {
    const WallSphere& sphere = spheres_[static_cast<std::size_t>(k)];
    const auto d = static_cast<std::size_t>(dim_), at = ordinal(sphere.node) * d;
    Vector x{};
    for (std::size_t c = 0; c < d; ++c) x[c] = reference_[at + c] + u[at + c];
    const auto [distance, out] = gap(wall_, x);
    if (distance < sphere.radius)
      visit({0, -1}, along_of(sphere.radius - distance, sphere.stiffness, {-out[0], -out[1], -out[2]}));
  }
  void identify(std::vector<double>& numbers) const {
    for (const WallSphere& sphere : spheres_) numbers.insert(numbers.end(), {sphere.stiffness, sphere.radius});
  }

 private:
  std::vector<double> reference_;
  int dim_;
  std::vector<WallSphere> spheres_;
  Wall wall_;
};

// V' of a pair is K d^(3/2), its gradient that of the second node, against n. `place_of`: of each node in the stencil.
template <class Visit>
void each_touching_of(const ManyBodySum& sum, std::span<const std::int32_t> place_of, std::span<const double> u,
                      double t, Visit&& visit) {
  const auto d = static_cast<std::size_t>(sum.dim());
  sum.each_present(u, t, [&](const ManyBodySum::Present& pair) {
    Vector along{};
    double squared = 0.0;
    for (std::size_t c = 0; c < d; ++c) {
      along[c] = -pair.gradient[d + c];
      squared += along[c] * along[c];
    }
    if (!(squared > 0.0)) return;
    const double part = 1.0 / std::sqrt(std::sqrt(squared));
    for (double& component : along) component *= part;
    visit(std::array<std::int32_t, 2>{place_of[ordinal(pair.nodes[0])], place_of[ordinal(pair.nodes[1])]}, along);
  });
}

class SumInTouch {
 public:
  static constexpr bool is_sum = true;
  explicit SumInTouch(const ManyBodySum& sum) : sum_(sum), dim_(sum.dim()) {
    const auto nodes = sum.stencil(0);
    place_.assign(ordinal(*std::ranges::max_element(nodes)) + 1, -1);
    for (std::size_t i = 0; i < nodes.size(); ++i) place_[ordinal(nodes[i])] = static_cast<std::int32_t>(i);
  }

  int dim() const { return dim_; }
  Index size() const { return 1; }
  std::span<const NodeId> stencil(Index) const { return sum_.stencil(0); }
  template <class Visit>
  void each_touching(Index, std::span<const double> u, double t, Visit&& visit) const {
    each_touching_of(sum_, place_, u, t, visit);
  }
  void identify(std::vector<double>&) const {}  // the sum has its own

 private:
  const ManyBodySum& sum_;
  int dim_;
  std::vector<std::int32_t> place_;  // of a node in the stencil
};

template <class InTouch>
class ImpactDamping final : public Force {
 public:
  ImpactDamping(InTouch in_touch, Restitution restitution)
      : in_touch_(std::move(in_touch)), restitution_(std::move(restitution)) {}

  Index size() const override { return in_touch_.size(); }
  std::span<const NodeId> stencil(Index k) const override { return in_touch_.stencil(k); }
  bool is_damper() const override { return true; }

  void add_impulse(Index k, std::span<const double> u, std::span<const double> v, double t, double dt,
                   std::span<double> p) const override {
    in_touch_.each_touching(k, u, t, [&](const Places& place, const Vector& along) {
      const Touch touch{place};
      const double given = dt * approach(k, touch, along, v);
      each_component(touch, along, [&](std::size_t i, double c) { p[i] -= given * c; });
    });
  }
  void add_damping(Index k, std::span<const double> u, double t, std::span<double> C) const override {
    const std::size_t n = stencil(k).size() * d();
    in_touch_.each_touching(k, u, t, [&](const Places& place, const Vector& along) {
      const Touch touch{place};
      each_component(touch, along, [&](std::size_t i, double ci) {
        each_component(touch, along, [&](std::size_t j, double cj) { C[i * n + j] += ci * cj; });
      });
    });
  }

  bool remembers() const override { return true; }
  void remember(Index k, std::span<const double> u, std::span<const double> v,
                std::vector<Touch>& memory) const override {
    if constexpr (InTouch::is_sum) {
      std::vector<Touch> now;
      now.reserve(memory.size());
      auto old = memory.begin();  // both ascend
      in_touch_.each_touching(k, u, 0.0, [&](const Places& place, const Vector& along) {
        while (old != memory.end() && old->place < place) ++old;
        now.push_back(old != memory.end() && old->place == place ? *old : Touch{place});
        learn(k, along, v, now.back());
      });
      memory = std::move(now);
    } else {
      if (memory.empty()) memory.resize(static_cast<std::size_t>(size()));
      Touch& touch = memory[static_cast<std::size_t>(k)];
      bool touches = false;
      in_touch_.each_touching(k, u, 0.0, [&](const Places& place, const Vector& along) {
        touches = true;
        touch.place = place;
        learn(k, along, v, touch);
      });
      if (!touches && touch.speed != 0.0) touch = {};
    }
  }
  std::span<const Touch> touching(Index k, std::span<const Touch> memory) const override {
    if (InTouch::is_sum || memory.empty()) return memory;
    const Touch& touch = memory[static_cast<std::size_t>(k)];
    return {&touch, touch.strength > 0.0 ? 1u : 0u};
  }

  std::vector<double> identity() const override {
    std::vector<double> numbers;
    for (double speed = 1e-6; speed < 1e4; speed *= 10.0) numbers.push_back(restitution_(speed));
    in_touch_.identify(numbers);
    return numbers;
  }

 private:
  using Places = std::array<std::int32_t, 2>;
  std::size_t d() const { return static_cast<std::size_t>(in_touch_.dim()); }

  // What is remembered of a contact with the speed it has now.
  void learn(Index k, const Vector& along, std::span<const double> v, Touch& touch) const {
    const double speed = v.empty() ? 0.0 : approach(k, touch, along, v) / std::hypot(along[0], along[1], along[2]);
    if (speed > touch.speed) {
      const double e = restitution_(speed);
      if (!(e > 0.0 && e <= 1.0))
        throw SolveError(
            fmt::format("restitution is {:.6g} at a speed of impact of {:.6g} m/s (must be > 0 and <= 1).", e, speed));
      touch.speed = speed;
      touch.strength = impact_damping(e) / speed;
    }
    for (std::size_t c = 0; c < 3; ++c) touch.along[c] = std::sqrt(touch.strength) * along[c];
  }
  // visit(place in an element's row, what of c is there)
  template <class Visit>
  void each_component(const Touch& touch, const Vector& along, Visit&& visit) const {
    touch.each_place([&](std::size_t a, double side) {
      for (std::size_t c = 0; c < d(); ++c) visit(a * d() + c, side * along[c]);
    });
  }
  double approach(Index k, const Touch& touch, const Vector& along, std::span<const double> v) const {
    const auto nodes = stencil(k);
    double speed = 0.0;
    each_component(touch, along,
                   [&](std::size_t i, double c) { speed += c * v[ordinal(nodes[i / d()]) * d() + i % d()]; });
    return speed;
  }

  InTouch in_touch_;
  Restitution restitution_;
};

// Which all contacts of a bead share in.
class LaplacianDamping final : public Force {
 public:
  LaplacianDamping(const ManyBodySum& sum, std::span<const double> reference, std::span<const double> masses,
                   double gamma, double alpha, std::vector<TouchedWall> walls)
      : sum_(sum), gamma_(gamma), alpha_(alpha) {
    const auto nodes = sum.stencil(0);
    place_.assign(masses.size(), -1);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      place_[ordinal(nodes[i])] = static_cast<std::int32_t>(i);
      masses_.push_back(masses[ordinal(nodes[i])]);
    }
    for (TouchedWall& touched : walls)
      walls_.emplace_back(reference, sum.dim(), std::move(touched.spheres), touched.wall);
  }

  Index size() const override { return 1; }
  std::span<const NodeId> stencil(Index k) const override { return sum_.stencil(k); }
  bool is_damper() const override { return true; }

  void add_impulse(Index, std::span<const double> u, std::span<const double> v, double t, double dt,
                   std::span<double> p) const override {
    each_touching(u, t, [&](const Places& place, const Vector& n) {
      const Touch touch{place};
      const double given = dt * approach(touch, n, v);
      touch.each_place([&](std::size_t a, double side) {
        for (std::size_t c = 0; c < d(); ++c) p[a * d() + c] -= given * side * n[c];
      });
    });
  }

  bool remembers() const override { return true; }
  void remember(Index, std::span<const double> u, std::span<const double> v,
                std::vector<Touch>& memory) const override {
    std::vector<Touch> now;
    each_touching(u, 0.0, [&](const Places& place, const Vector& n) { now.push_back({place, 0.0, 0.0, n}); });
    if (v.empty()) {  // whoever was there keeps what it had; that of a bead's walls is the same
      std::ranges::sort(memory, {}, &Touch::place);
      for (Touch& touch : now) {
        const auto old = std::ranges::lower_bound(memory, touch.place, {}, &Touch::place);
        if (old != memory.end() && old->place == touch.place) touch.strength = old->strength;
      }
    } else {
      std::vector<Vector> s(masses_.size());
      for (Touch& touch : now) {
        touch.speed = approach(touch, touch.along, v);
        touch.each_place([&](std::size_t a, double side) {
          for (std::size_t c = 0; c < d(); ++c) s[a][c] -= side * touch.speed * touch.along[c];
        });
      }
      const auto of_bead = [&](std::int32_t a) {
        const auto place = static_cast<std::size_t>(a);
        const double size = std::hypot(s[place][0], s[place][1], s[place][2]);
        return alpha_ == 1.0 ? masses_[place] * gamma_ : masses_[place] * gamma_ * std::pow(size, alpha_ - 1.0);
      };
      for (Touch& touch : now)
        touch.strength =
            touch.place[1] < 0 ? of_bead(touch.place[0]) : 0.5 * (of_bead(touch.place[0]) + of_bead(touch.place[1]));
    }
    for (Touch& touch : now)
      for (double& component : touch.along) component *= std::sqrt(touch.strength);
    memory = std::move(now);
  }
  std::span<const Touch> touching(Index, std::span<const Touch> memory) const override { return memory; }

  std::vector<double> identity() const override {
    std::vector<double> numbers{gamma_, alpha_};
    for (const WallInTouch& wall : walls_) wall.identify(numbers);
    return numbers;
  }

 private:
  using Places = std::array<std::int32_t, 2>;
  std::size_t d() const { return static_cast<std::size_t>(sum_.dim()); }

  // visit(Touch::place, n): pairs first, then walls.
  template <class Visit>
  void each_touching(std::span<const double> u, double t, Visit&& visit) const {
    const auto unit = [](const Vector& along) {
      const double length = std::hypot(along[0], along[1], along[2]);
      return Vector{along[0] / length, along[1] / length, along[2] / length};
    };
    each_touching_of(sum_, place_, u, t, [&](const Places& place, const Vector& along) { visit(place, unit(along)); });
    for (const WallInTouch& wall : walls_)
      for (Index k = 0; k < wall.size(); ++k)
        wall.each_touching(k, u, t, [&](const Places&, const Vector& along) {
          visit(Places{place_[ordinal(wall.stencil(k).front())], -1}, unit(along));
        });
  }
  double approach(const Touch& touch, const Vector& n, std::span<const double> v) const {
    const auto nodes = stencil(0);
    double speed = 0.0;
    touch.each_place([&](std::size_t a, double side) {
      for (std::size_t c = 0; c < d(); ++c) speed += side * n[c] * v[ordinal(nodes[a]) * d() + c];
    });
    return speed;
  }

  const ManyBodySum& sum_;
  double gamma_, alpha_;
  std::vector<std::int32_t> place_;  // of a node in the stencil
  std::vector<double> masses_;       // by place
  std::vector<WallInTouch> walls_;
};

}  // namespace

double impact_damping(double e) {
  if (!(e > 0.0 && e <= 1.0)) throw InputError(fmt::format("restitution is {:.6g} (must be > 0 and <= 1).", e));
  if (e == 1.0) return 0.0;
  double low = 0.0, high = 1.0 / e;  // the excess is (e^2 - 1) / 2 there, and infinite here
  while (high - low > 1e-15 * high) {
    const double s = 0.5 * (low + high);
    if (s <= low || s >= high) break;
    (excess(s, e) < 0.0 ? low : high) = s;
  }
  return low;
}

std::unique_ptr<Force> make_impact_damping(std::span<const double> reference, int dim, std::vector<NodePair> pairs,
                                           std::vector<Hertz> laws, Restitution restitution, const Box& box) {
  if (pairs.size() != laws.size()) throw InputError("impacts need a law for each pair.");
  return std::make_unique<ImpactDamping<PairsInTouch>>(PairsInTouch(reference, dim, std::move(pairs), std::move(laws),
                                                                    box),
                                                       std::move(restitution));
}

std::unique_ptr<Force> make_impact_damping(const ManyBodySum& sum, Restitution restitution) {
  return std::make_unique<ImpactDamping<SumInTouch>>(SumInTouch(sum), std::move(restitution));
}

std::unique_ptr<Force> make_laplacian_damping(const ManyBodySum& sum, std::span<const double> reference,
                                              std::span<const double> masses, double gamma, double alpha,
                                              std::vector<TouchedWall> walls) {
  if (!(gamma > 0.0 && std::isfinite(gamma)))
    throw InputError(
        fmt::format("gamma = {:.6g} (must be > 0: with the sign printed in the thesis, -5.58, waves would gain "
                    "energy).",
                    gamma));
  if (!(alpha >= 1.0 && std::isfinite(alpha))) throw InputError(fmt::format("alpha = {:.6g} (must be >= 1).", alpha));
  return std::make_unique<LaplacianDamping>(sum, reference, masses, gamma, alpha, std::move(walls));
}

std::unique_ptr<Force> make_impact_damping(std::span<const double> reference, int dim, std::vector<WallSphere> spheres,
                                           const Wall& wall, Restitution restitution) {
  return std::make_unique<ImpactDamping<WallInTouch>>(WallInTouch(reference, dim, std::move(spheres), wall),
                                                      std::move(restitution));
}

}  // namespace tempi
