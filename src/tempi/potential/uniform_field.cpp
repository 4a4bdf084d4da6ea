// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/uniform_field.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tempi/core/error.hpp"
#include "tempi/potential/one_node_batch.hpp"

namespace tempi {
namespace {

class UniformField final : public LocalPotential {
 public:
  UniformField(std::span<const double> reference, int dim, std::span<const double> masses, std::vector<NodeId> nodes,
               const std::array<double, 3>& acceleration)
      : dim_(dim), nodes_(std::move(nodes)), acceleration_(acceleration) {
    const auto d = static_cast<std::size_t>(dim);
    for (std::size_t c = 0; c < d; ++c)
      if (!std::isfinite(acceleration[c]))
        throw InputError(fmt::format("acceleration = {} m/s^2 along {} (must be finite).", acceleration[c], "xyz"[c]));
    for (const NodeId node : nodes_) {
      if (index(node) < 0 || index(node) >= static_cast<Index>(masses.size()))
        throw InputError(
            fmt::format("field at node {} (there are {} nodes, numbered from 0).", index(node), masses.size()));
      const auto a = ordinal(node);
      masses_.push_back(masses[a]);
      offsets_.push_back(dot(reference.subspan(a * d, d)));
    }
  }

  Index size() const override { return static_cast<Index>(nodes_.size()); }
  int dim() const override { return dim_; }
  std::span<const NodeId> stencil(Index k) const override { return {&nodes_[static_cast<std::size_t>(k)], 1}; }
  double mass(Index, std::size_t) const override { return 0.0; }

  double energy(Index k, std::span<const double> u, double) const override {
    const auto d = static_cast<std::size_t>(dim_);
    return energy_at(k, u.subspan(ordinal(nodes_[static_cast<std::size_t>(k)]) * d, d));
  }

  double add_gradient(Index k, std::span<const double>, double, std::span<double> g) const override {
    for (std::size_t c = 0; c < static_cast<std::size_t>(dim_); ++c) g[c] += slope(k, c, 0.0);
    return 1.0;
  }

  double energy_at(Index k, std::span<const double> u) const {
    return -masses_[static_cast<std::size_t>(k)] * (offsets_[static_cast<std::size_t>(k)] + dot(u));
  }
  double slope(Index k, std::size_t c, double) const {
    return -masses_[static_cast<std::size_t>(k)] * acceleration_[c];
  }
  static double stiffness(std::size_t) { return 0.0; }

  std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const override {
    return std::make_unique<OneNodeBatch<UniformField>>(*this, terms, place);
  }

  void add_hessian(Index, std::span<const double>, double, std::span<double>) const override {}

  std::string describe(Index k) const override {
    return fmt::format("field at node {}", index(nodes_[static_cast<std::size_t>(k)]));
  }

 private:
  double dot(std::span<const double> x) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < x.size(); ++c) sum += acceleration_[c] * x[c];
    return sum;
  }

  int dim_;
  std::vector<NodeId> nodes_;
  std::array<double, 3> acceleration_;
  std::vector<double> masses_, offsets_;  // g . X, of each term
};

}  // namespace

std::unique_ptr<Potential> make_uniform_field(std::span<const double> reference, int dim,
                                              std::span<const double> masses, std::vector<NodeId> nodes,
                                              const std::array<double, 3>& acceleration) {
  return std::make_unique<UniformField>(reference, dim, masses, std::move(nodes), acceleration);
}

}  // namespace tempi
