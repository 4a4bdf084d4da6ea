// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/wells.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tempi/core/error.hpp"
#include "tempi/potential/one_node_batch.hpp"

namespace tempi {
namespace {

class Wells final : public WellPotential {
 public:
  Wells(std::span<const double> reference, int dim, std::vector<NodeId> nodes, const Well& well)
      : dim_(dim), nodes_(std::move(nodes)), well_(well) {
    const auto d = static_cast<std::size_t>(dim);
    for (std::size_t c = 0; c < d; ++c) {
      if (!(well.stiffness[c] >= 0.0) || !std::isfinite(well.stiffness[c]))
        throw InputError(fmt::format("stiffness = {} N/m along {} (must be >= 0).", well.stiffness[c], "xyz"[c]));
      if (!std::isfinite(well.centre[c]))
        throw InputError(fmt::format("centre = {} m along {} (must be finite).", well.centre[c], "xyz"[c]));
    }
    for (const NodeId node : nodes_) {
      const auto first = ordinal(node) * d;
      if (index(node) < 0 || first >= reference.size())
        throw InputError(
            fmt::format("well of node {} (there are {} nodes, numbered from 0).", index(node), reference.size() / d));
      for (std::size_t c = 0; c < d; ++c)
        offsets_.push_back(well.at_reference ? 0.0 : reference[first + c] - well.centre[c]);
    }
  }

  Index size() const override { return static_cast<Index>(nodes_.size()); }
  int dim() const override { return dim_; }
  const Well& well() const override { return well_; }
  std::span<const NodeId> stencil(Index k) const override { return {&nodes_[static_cast<std::size_t>(k)], 1}; }
  double mass(Index, std::size_t) const override { return 0.0; }

  double energy(Index k, std::span<const double> u, double) const override { return energy_at(k, of_node(k, u)); }

  double add_gradient(Index k, std::span<const double> u, double, std::span<double> g) const override {
    const auto of = of_node(k, u);
    for (std::size_t c = 0; c < of.size(); ++c) g[c] += slope(k, c, of[c]);
    return 1.0;
  }

  double energy_at(Index k, std::span<const double> u) const {
    double V = 0.0;
    for (std::size_t c = 0; c < u.size(); ++c) {
      const double q = offset(k, c) + u[c];
      V += 0.5 * well_.stiffness[c] * q * q;
    }
    return V;
  }
  double slope(Index k, std::size_t c, double u) const { return well_.stiffness[c] * (offset(k, c) + u); }
  double stiffness(std::size_t c) const { return well_.stiffness[c]; }

  std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const override {
    return std::make_unique<OneNodeBatch<Wells>>(*this, terms, place);
  }

  void add_hessian(Index, std::span<const double>, double, std::span<double> H) const override {
    const auto d = static_cast<std::size_t>(dim_);
    for (std::size_t c = 0; c < d; ++c) H[c * (d + 1)] += well_.stiffness[c];
  }

  std::string describe(Index k) const override {
    return fmt::format("well of node {}", index(nodes_[static_cast<std::size_t>(k)]));
  }

 private:
  std::span<const double> of_node(Index k, std::span<const double> u) const {
    const auto d = static_cast<std::size_t>(dim_);
    return u.subspan(ordinal(nodes_[static_cast<std::size_t>(k)]) * d, d);
  }
  double offset(Index k, std::size_t c) const { return offsets_[static_cast<std::size_t>(k * dim_) + c]; }

  int dim_;
  std::vector<NodeId> nodes_;
  Well well_;
  std::vector<double> offsets_;  // X - p, dim components a term
};

}  // namespace

std::unique_ptr<Potential> make_wells(std::span<const double> reference, int dim, std::vector<NodeId> nodes,
                                      const Well& well) {
  return std::make_unique<Wells>(reference, dim, std::move(nodes), well);
}

}  // namespace tempi
