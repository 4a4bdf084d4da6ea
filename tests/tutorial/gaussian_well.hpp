// SPDX-License-Identifier: Apache-2.0
// The potential of docs/own-potential.md, word for word.
#pragma once

#include <cmath>
#include <vector>

#include "tempi/potential/potential.hpp"

// V = -depth exp(-|x|^2 / (2 width^2)) of every node: a term each, x = X + u its position.
class GaussianWell final : public tempi::LocalPotential {
 public:
  GaussianWell(std::vector<double> reference, int dim, double depth, double width)
      : X_(std::move(reference)), dim_(dim), depth_(depth), width_(width) {
    for (std::size_t a = 0; a < X_.size() / static_cast<std::size_t>(dim); ++a)
      nodes_.push_back(tempi::make_id<tempi::NodeId>(static_cast<tempi::Index>(a)));
  }
  tempi::Index size() const override { return std::ssize(nodes_); }
  int dim() const override { return dim_; }
  std::span<const tempi::NodeId> stencil(tempi::Index k) const override {
    return std::span(nodes_).subspan(static_cast<std::size_t>(k), 1);
  }
  double energy(tempi::Index k, std::span<const double> u, double) const override {
    double r2 = 0.0;
    for (int c = 0; c < dim_; ++c) r2 += x(k, c, u) * x(k, c, u);
    return -depth_ * std::exp(-0.5 * r2 / (width_ * width_));
  }
  double add_gradient(tempi::Index k, std::span<const double> u, double t, std::span<double> g) const override {
    for (int c = 0; c < dim_; ++c) g[static_cast<std::size_t>(c)] -= energy(k, u, t) / (width_ * width_) * x(k, c, u);
    return 1.0;  // no configuration is inadmissible
  }
  void add_hessian(tempi::Index k, std::span<const double> u, double t, std::span<double> H) const override {
    const double s = -energy(k, u, t) / (width_ * width_);
    for (int r = 0; r < dim_; ++r)
      for (int c = 0; c < dim_; ++c)
        H[static_cast<std::size_t>(r * dim_ + c)] += s * ((r == c) - x(k, r, u) * x(k, c, u) / (width_ * width_));
  }
  double mass(tempi::Index, std::size_t) const override { return 0.0; }
  std::string describe(tempi::Index k) const override { return "well of node " + std::to_string(k); }

 private:
  double x(tempi::Index k, int c, std::span<const double> u) const {
    const auto i = static_cast<std::size_t>(k * dim_ + c);
    return X_[i] + u[i];
  }
  std::vector<double> X_;
  int dim_;
  double depth_, width_;
  std::vector<tempi::NodeId> nodes_;
};
