// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/linearised.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/core/error.hpp"
#include "tempi/potential/stiffness_kernels.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi {
namespace {

constexpr std::size_t largest_size = 30;  // of the library's terms: 10 nodes in 3-D

// Packs of terms with equally many nodes; the last one is filled up with terms of no stiffness.
class StiffnessBatch final : public Batch {
 public:
  StiffnessBatch(StiffnessStrike kernel, Index width, std::unique_ptr<Batch> loop, AlignedVector<double> stiffness,
                 AlignedVector<std::int32_t> places)
      : kernel_(kernel),
        width_(width),
        loop_(std::move(loop)),
        stiffness_(std::move(stiffness)),
        places_(std::move(places)) {}

  bool strike(Index first, Index last, double step, double, std::span<NodeLine> nodes) const override {
    kernel_({stiffness_.data(), places_.data()}, first / width_, (last + width_ - 1) / width_, step, nodes.data());
    return true;
  }
  Index row() const override { return loop_->row(); }
  void measure(Index first, Index last, double t, std::span<const NodeLine> nodes, std::span<double> energies,
               std::span<double> gradients) const override {
    loop_->measure(first, last, t, nodes, energies, gradients);
  }

 private:
  StiffnessStrike kernel_;
  Index width_;
  std::unique_ptr<Batch> loop_;  // for what need not be fast
  AlignedVector<double> stiffness_;
  AlignedVector<std::int32_t> places_;
};

class Linearised final : public LocalPotential {
 public:
  Linearised(const LocalPotential& original, std::span<const double> u) : original_(original), first_{0} {
    for (Index k = 0; k < original.size(); ++k) {
      const std::size_t n = size_of(k);
      first_.push_back(first_.back() + n * n);
      K_.resize(first_.back(), 0.0);
      const auto K = std::span(K_).subspan(first_[static_cast<std::size_t>(k)]);
      original.add_hessian(k, u, 0.0, K);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j) K[i * n + j] = K[j * n + i] = 0.5 * (K[i * n + j] + K[j * n + i]);
    }
  }

  Index size() const override { return original_.size(); }
  int dim() const override { return original_.dim(); }
  std::span<const NodeId> stencil(Index k) const override { return original_.stencil(k); }
  double mass(Index k, std::size_t a) const override { return original_.mass(k, a); }
  std::string describe(Index k) const override { return original_.describe(k); }

  double energy(Index k, std::span<const double> u, double) const override {
    const Local d = gather(k, u);
    double V = 0.0;
    each_row(k, d, [&](std::size_t i, double force) { V += 0.5 * d[i] * force; });
    return V;
  }

  double add_gradient(Index k, std::span<const double> u, double, std::span<double> g) const override {
    each_row(k, gather(k, u), [&](std::size_t i, double force) { g[i] += force; });
    return 1.0;
  }

  void add_hessian(Index k, std::span<const double>, double, std::span<double> H) const override {
    const auto begin = first_[static_cast<std::size_t>(k)], end = first_[static_cast<std::size_t>(k) + 1];
    for (std::size_t i = begin; i < end; ++i) H[i - begin] += K_[i];
  }

  std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const override {
    auto loop = Potential::batch(terms, place);
    const std::size_t nodes = stencil(terms.front()).size(), n = size_of(terms.front());
    const StiffnessStrike kernel = stiffness_strike(nodes, dim());
    if (kernel == nullptr || std::ranges::any_of(terms, [&](Index k) { return size_of(k) != n; })) return loop;
    const auto W = static_cast<std::size_t>(pack_width());
    const std::size_t packs = (terms.size() + W - 1) / W, entries = n * (n + 1) / 2;
    AlignedVector<double> stiffness(packs * W * entries, 0.0);
    AlignedVector<std::int32_t> places(packs * W * nodes);
    for (std::size_t i = 0; i < packs * W; ++i) {
      const Index k = terms[std::min(i, terms.size() - 1)];
      for (std::size_t a = 0; a < nodes; ++a) places[(i / W * nodes + a) * W + i % W] = place[ordinal(stencil(k)[a])];
      if (i >= terms.size()) continue;
      double* lane = &stiffness[i / W * entries * W + i % W];
      const double* row = K_.data() + first_[static_cast<std::size_t>(k)];
      for (std::size_t a = 0; a < n; ++a, row += n)
        for (std::size_t b = a; b < n; ++b, lane += W) *lane = row[b];
    }
    return std::make_unique<StiffnessBatch>(kernel, pack_width(), std::move(loop), std::move(stiffness),
                                            std::move(places));
  }

 private:
  using Local = std::array<double, largest_size>;

  std::size_t size_of(Index k) const { return original_.stencil(k).size() * static_cast<std::size_t>(original_.dim()); }

  Local gather(Index k, std::span<const double> u) const {
    const auto d = static_cast<std::size_t>(original_.dim());
    Local local;
    double* next = local.data();
    for (const NodeId a : original_.stencil(k)) next = std::copy_n(u.data() + ordinal(a) * d, d, next);
    return local;
  }

  // visit(i, (K d)_i)
  template <class Visit>
  void each_row(Index k, const Local& d, Visit&& visit) const {
    const std::size_t n = size_of(k);
    const double* row = K_.data() + first_[static_cast<std::size_t>(k)];
    for (std::size_t i = 0; i < n; ++i, row += n) {
      double force = 0.0;
      for (std::size_t j = 0; j < n; ++j) force += row[j] * d[j];
      visit(i, force);
    }
  }

  const LocalPotential& original_;
  std::vector<std::size_t> first_;  // where each term's matrix begins in K_, and the end
  std::vector<double> K_;           // row major
};

}  // namespace

std::unique_ptr<Potential> linearise(const Potential& potential, std::span<const double> u) {
  const LocalPotential* local = potential.as_local();
  if (local == nullptr)
    throw InputError(fmt::format("{} cannot be linearised (it acts on many nodes at once).", potential.describe(0)));
  return std::make_unique<Linearised>(*local, u);
}

}  // namespace tempi
