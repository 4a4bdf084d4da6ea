// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <utility>

#include "tempi/force/bonds.hpp"
#include "tempi/force/damper.hpp"
#include "tempi/force/damping.hpp"

namespace tempi {
namespace {

class Dashpots final : public Damper {
 public:
  Dashpots(std::span<const double> reference, int dim, std::vector<NodePair> pairs, double c, const Box& box)
      : reference_(reference.begin(), reference.end()),
        dim_(static_cast<std::size_t>(dim)),
        pairs_(std::move(pairs)),
        c_(checked_coefficient("c", c, "kg/s")),
        box_(box) {}

  Index size() const override { return static_cast<Index>(pairs_.size()); }
  std::span<const NodeId> stencil(Index k) const override { return pairs_[static_cast<std::size_t>(k)]; }

  void add_impulse(Index k, std::span<const double> u, std::span<const double> v, double, double dt,
                   std::span<double> p) const override {
    const auto e = direction(k, u);
    const auto [i, j] = components(k);
    double rate = 0.0;  // of the distance
    for (std::size_t c = 0; c < dim_; ++c) rate += (v[j + c] - v[i + c]) * e[c];
    for (std::size_t c = 0; c < dim_; ++c) {
      const double given = dt * c_ * rate * e[c];
      p[c] += given;
      p[dim_ + c] -= given;
    }
  }
  void add_damping(Index k, std::span<const double> u, double, std::span<double> C) const override {
    const auto e = direction(k, u);
    const std::size_t n = 2 * dim_;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        C[i * n + j] += ((i < dim_) == (j < dim_) ? c_ : -c_) * e[i % dim_] * e[j % dim_];
  }

  std::unique_ptr<DampingBatch> damping_batch(int dim, std::span<const Index> elements,
                                              std::span<const std::int32_t> place,
                                              std::span<const std::array<bool, 3>> held) const override {
    PairPacks packed{.geometry = packed_separations(reference_, dim, pairs_, elements), .box = packed_box(box_, dim)};
    return make_bond_batch(*this, dim, std::move(packed), dashpot_resistance(), c_, elements, place, held);
  }

 private:
  std::array<std::size_t, 2> components(Index k) const {
    const auto& [a, b] = pairs_[static_cast<std::size_t>(k)];
    return {ordinal(a) * dim_, ordinal(b) * dim_};
  }
  std::array<double, 3> at_rest(Index k) const {
    const auto [i, j] = components(k);
    std::array<double, 3> X{};
    for (std::size_t c = 0; c < dim_; ++c) X[c] = reference_[j + c] - reference_[i + c];
    return X;
  }
  std::array<double, 3> direction(Index k, std::span<const double> u) const {
    const auto [i, j] = components(k);
    std::array<double, 3> e = at_rest(k);
    for (std::size_t c = 0; c < dim_; ++c) e[c] = box_.nearest(e[c] + (u[j + c] - u[i + c]), c);
    const double r = std::hypot(e[0], e[1], e[2]);
    for (double& component : e) component /= r;
    return e;
  }

  std::vector<double> reference_;
  std::size_t dim_;
  std::vector<NodePair> pairs_;
  double c_;
  Box box_;
};

}  // namespace

std::unique_ptr<Force> make_dashpots(std::span<const double> reference, int dim, std::vector<NodePair> pairs, double c,
                                     const Box& box) {
  return std::make_unique<Dashpots>(reference, dim, std::move(pairs), c, box);
}

}  // namespace tempi
