// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/impact_damping.hpp"

#include <fmt/format.h>

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

struct Contact {
  double overlap, stiffness;  // [m]; K d^(3/2) [N]
  std::array<double, 3> n;    // out of the first node's sphere
};
Contact contact_of(double overlap, double K, const std::array<double, 3>& n) {
  return {overlap, overlap > 0.0 ? K * overlap * std::sqrt(overlap) : 0.0, n};
}

class PairsInTouch {
 public:
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
  Contact contact(Index k, std::span<const double> u) const {
    const Hertz& law = laws_[static_cast<std::size_t>(k)];
    const auto [r, n] = separation_of(pairs_[static_cast<std::size_t>(k)], reference_, u, dim_, box_);
    return contact_of(law.length - r, law.stiffness, n);
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
  WallInTouch(std::span<const double> reference, int dim, std::vector<WallSphere> spheres, const Wall& wall)
      : reference_(reference.begin(), reference.end()),
        dim_(dim),
        spheres_(std::move(spheres)),
        wall_(checked(wall, dim)) {}

  int dim() const { return dim_; }
  Index size() const { return std::ssize(spheres_); }
  std::span<const NodeId> stencil(Index k) const { return {&spheres_[static_cast<std::size_t>(k)].node, 1}; }
  Contact contact(Index k, std::span<const double> u) const {
    const WallSphere& sphere = spheres_[static_cast<std::size_t>(k)];
    const auto d = static_cast<std::size_t>(dim_), at = ordinal(sphere.node) * d;
    std::array<double, 3> x{};
    for (std::size_t c = 0; c < d; ++c) x[c] = reference_[at + c] + u[at + c];
    const auto [distance, out] = gap(wall_, x);
    return contact_of(sphere.radius - distance, sphere.stiffness, {-out[0], -out[1], -out[2]});
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

template <class Touch>
class ImpactDamping final : public Force {
 public:
  ImpactDamping(Touch touch, Restitution restitution)
      : touch_(std::move(touch)), restitution_(std::move(restitution)) {}

  Index size() const override { return touch_.size(); }
  std::span<const NodeId> stencil(Index k) const override { return touch_.stencil(k); }
  bool is_damper() const override { return true; }

  void add_impulse(Index k, std::span<const double> u, std::span<const double> v, double, double dt,
                   std::span<double> p) const override {
    const Contact at = touch_.contact(k, u);
    if (at.overlap <= 0.0) return;
    const double given = dt * at.stiffness * approach(k, at, v);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] -= given * side(i) * at.n[i % d()];
  }
  void add_damping(Index k, std::span<const double> u, double, std::span<double> C) const override {
    const Contact at = touch_.contact(k, u);
    if (at.overlap <= 0.0) return;
    const std::size_t n = stencil(k).size() * d();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        C[i * n + j] += at.stiffness * side(i) * side(j) * at.n[i % d()] * at.n[j % d()];
  }

  std::size_t memory_size() const override { return 2; }
  double strength(std::span<const double> memory) const override { return memory[1]; }
  void remember(Index k, std::span<const double> u, std::span<const double> v,
                std::span<double> memory) const override {
    double &largest = memory[0], &factor = memory[1];
    const Contact at = touch_.contact(k, u);
    if (at.overlap <= 0.0) {
      largest = factor = 0.0;
      return;
    }
    const double speed = approach(k, at, v);
    if (!(speed > largest)) return;
    const double e = restitution_(speed);
    if (!(e > 0.0 && e <= 1.0))
      throw SolveError(
          fmt::format("restitution is {:.6g} at a speed of impact of {:.6g} m/s (must be > 0 and <= 1).", e, speed));
    largest = speed;
    factor = impact_damping(e) / speed;
  }

  std::vector<double> identity() const override {
    std::vector<double> numbers;
    for (double speed = 1e-6; speed < 1e4; speed *= 10.0) numbers.push_back(restitution_(speed));
    touch_.identify(numbers);
    return numbers;
  }

 private:
  std::size_t d() const { return static_cast<std::size_t>(touch_.dim()); }
  double side(std::size_t i) const { return i < d() ? 1.0 : -1.0; }  // of component i of the stencil
  double approach(Index k, const Contact& at, std::span<const double> v) const {
    double speed = 0.0, side = 1.0;
    for (const NodeId a : stencil(k)) {
      for (std::size_t c = 0; c < d(); ++c) speed += side * v[ordinal(a) * d() + c] * at.n[c];
      side = -1.0;
    }
    return speed;
  }

  Touch touch_;
  Restitution restitution_;
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

std::unique_ptr<Force> make_impact_damping(std::span<const double> reference, int dim, std::vector<WallSphere> spheres,
                                           const Wall& wall, Restitution restitution) {
  return std::make_unique<ImpactDamping<WallInTouch>>(WallInTouch(reference, dim, std::move(spheres), wall),
                                                      std::move(restitution));
}

}  // namespace tempi
