// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

class Pairs final : public Potential {
 public:
  Pairs(std::span<const double> reference, int dim, std::span<const double> masses, std::vector<NodePair> pairs,
        PairLaw law, const Box& box, Company company)
      : reference_(reference.begin(), reference.end()),
        dim_(dim),
        pairs_(std::move(pairs)),
        law_(std::move(law)),
        box_(box),
        company_(company) {
    TEMPI_ASSERT(reference.size() == masses.size() * static_cast<std::size_t>(dim));
    check(law_);
    if (const auto* lj = std::get_if<LennardJones>(&law_); lj && lj->cutoff)
      box.require_room_for("cutoff", *lj->cutoff);
    if (const auto* hertz = std::get_if<Hertz>(&law_)) box.require_room_for("length", hertz->length);
    for (Index k = 0; k < size(); ++k) check_pair(k, static_cast<Index>(masses.size()));
    if (!std::holds_alternative<Gravitation>(law_)) return;
    for (const auto& [a, b] : pairs_)
      factors_.push_back(masses[static_cast<std::size_t>(index(a))] * masses[static_cast<std::size_t>(index(b))]);
  }

  Index size() const override { return static_cast<Index>(pairs_.size()); }
  int dim() const override { return dim_; }
  std::span<const NodeId> stencil(Index k) const override { return pairs_[static_cast<std::size_t>(k)]; }
  double mass(Index, std::size_t) const override { return 0.0; }
  bool stays_together() const override { return company_ == Company::bonded; }

  double energy(Index k, std::span<const double> u, double) const override {
    return factor(k) * evaluate(law_, separation(k, u).r).V;
  }

  double add_gradient(Index k, std::span<const double> u, double, std::span<double> g) const override {
    const auto [r, n] = separation(k, u);
    const double slope = factor(k) * evaluate(law_, r).slope;
    const auto d = static_cast<std::size_t>(dim_);
    for (std::size_t c = 0; c < d; ++c) {
      g[c] -= slope * n[c];
      g[d + c] += slope * n[c];
    }
    return std::isfinite(slope) ? r : std::numeric_limits<double>::quiet_NaN();
  }

  // d2V/dx_b dx_b = V'' n n^T + V'/r (I - n n^T), and its negative off the diagonal.
  void add_hessian(Index k, std::span<const double> u, double, std::span<double> H) const override {
    const auto [r, n] = separation(k, u);
    const PairValues at = evaluate(law_, r);
    const double along = factor(k) * at.curvature, across = factor(k) * at.slope / r;
    const auto d = static_cast<std::size_t>(dim_);
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < d; ++j) {
        const double nn = n[i] * n[j], h = along * nn + across * ((i == j ? 1.0 : 0.0) - nn);
        H[i * 2 * d + j] += h;
        H[i * 2 * d + d + j] -= h;
        H[(d + i) * 2 * d + j] -= h;
        H[(d + i) * 2 * d + d + j] += h;
      }
  }

  std::string describe(Index k) const override {
    const auto& [a, b] = pairs_[static_cast<std::size_t>(k)];
    return fmt::format("pair {} of nodes {} and {}", k, index(a), index(b));
  }

 private:
  struct Separation {
    double r;
    std::array<double, 3> n;  // from the first node to the second, of unit length
  };

  template <class Displacement>
  Separation separation_with(Index k, Displacement&& displacement) const {
    const auto& [a, b] = pairs_[static_cast<std::size_t>(k)];
    const auto d = static_cast<std::size_t>(dim_);
    const std::size_t i = static_cast<std::size_t>(index(a)) * d, j = static_cast<std::size_t>(index(b)) * d;
    std::array<double, 3> w{};
    double r2 = 0.0;
    for (std::size_t c = 0; c < d; ++c) {
      w[c] = box_.nearest((reference_[j + c] - reference_[i + c]) + (displacement(j + c) - displacement(i + c)), c);
      r2 += w[c] * w[c];
    }
    const double r = std::sqrt(r2);
    return {r, {w[0] / r, w[1] / r, w[2] / r}};
  }
  Separation separation(Index k, std::span<const double> u) const {
    return separation_with(k, [u](std::size_t i) { return u[i]; });
  }

  void check_pair(Index k, Index node_count) const {
    const auto& [a, b] = pairs_[static_cast<std::size_t>(k)];
    for (const NodeId node : {a, b})
      if (index(node) < 0 || index(node) >= node_count)
        throw InputError(fmt::format("{} (there are {} nodes, numbered from 0).", describe(k), node_count));
    if (a == b)
      throw InputError(fmt::format("pair {} joins node {} to itself. Give two different nodes.", k, index(a)));
    const double r = separation_with(k, [](std::size_t) { return 0.0; }).r;
    if (!(r > 0.0) || !std::isfinite(r)) {
      const auto d = static_cast<std::size_t>(dim_);
      const auto at = [&](NodeId node) {
        return fmt::join(std::span(reference_).subspan(static_cast<std::size_t>(index(node)) * d, d), ", ");
      };
      throw InputError(
          fmt::format("{} at ({:.6g}) and ({:.6g}) has the length {} m (must be > 0). Move one of the nodes.",
                      describe(k), at(a), at(b), r));
    }
  }

  double factor(Index k) const { return factors_.empty() ? 1.0 : factors_[static_cast<std::size_t>(k)]; }

  std::vector<double> reference_;
  int dim_;
  std::vector<NodePair> pairs_;
  PairLaw law_;
  Box box_;
  Company company_;
  std::vector<double> factors_;  // empty: all one
};

}  // namespace

std::unique_ptr<Potential> make_pairs(std::span<const double> reference, int dim, std::span<const double> masses,
                                      std::vector<NodePair> pairs, PairLaw law, const Box& box, Company company) {
  return std::make_unique<Pairs>(reference, dim, masses, std::move(pairs), std::move(law), box, company);
}

std::vector<NodePair> all_pairs(Index count) {
  std::vector<NodePair> pairs;
  for (Index a = 0; a < count; ++a)
    for (Index b = a + 1; b < count; ++b) pairs.push_back({make_id<NodeId>(a), make_id<NodeId>(b)});
  return pairs;
}

}  // namespace tempi
