// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Dense>
#include <algorithm>
#include <vector>

#include "tempi/force/force.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi {
namespace {

// One element after the other, from an array of displacements as add_damping wants it: of those that act at the same
// time none writes where another one looks.
class DamperLoop final : public DampingBatch {
 public:
  DamperLoop(const Force& force, int dim, std::span<const Index> elements, std::span<const std::int32_t> place)
      : force_(force),
        dim_(static_cast<std::size_t>(dim)),
        elements_(elements.begin(), elements.end()),
        place_(place.begin(), place.end()),
        u_(place.size() * dim_, 0.0) {
    for (const Index k : elements_)
      if (k >= 0) nodes_ = std::max(nodes_, force.stencil(k).size());
  }

  double resist(Index first, Index last, const Sweep& sweep, std::span<NodeLine> nodes,
                std::span<double> kept) const override {
    double work = 0.0;
    for (Index i = first * pack_width(), end = last * pack_width(); i < end; ++i) {
      const auto at = static_cast<std::size_t>(sweep.backward ? end - 1 - (i - first * pack_width()) : i);
      if (at >= elements_.size() || elements_[at] < 0) continue;
      work +=
          resist_one(elements_[at], sweep, nodes, kept.empty() ? std::span<double>() : kept.subspan(at * row(), row()));
    }
    return work;
  }

  std::size_t row() const override { return nodes_ * dim_; }
  void works(Index first, Index last, std::span<const double> kept, std::span<const NodeMean> velocities,
             std::span<double> work) const override {
    const auto end = std::min(static_cast<std::size_t>(last * pack_width()), elements_.size());
    for (auto i = static_cast<std::size_t>(first * pack_width()); i < end; ++i) {
      work[i] = 0.0;
      if (elements_[i] < 0) continue;
      const double* p = &kept[i * row()];
      for (const NodeId a : force_.stencil(elements_[i]))
        for (std::size_t c = 0; c < dim_; ++c) work[i] += *p++ * velocities[line(a)].velocity[c];
    }
  }
  void impulse(std::size_t element, std::span<const double> kept, std::span<double> p) const override {
    std::ranges::copy(kept.subspan(element * row(), row()), p.begin());
  }

 private:
  std::size_t line(NodeId a) const { return static_cast<std::size_t>(place_[ordinal(a)]); }

  double resist_one(Index k, const Sweep& sweep, std::span<NodeLine> nodes, std::span<double> kept) const {
    const auto stencil = force_.stencil(k);
    const auto n = static_cast<Index>(stencil.size() * dim_);
    Eigen::VectorXd v(n), inverse_mass(n);
    const auto each = [&](auto&& visit) {
      Index i = 0;
      for (const NodeId a : stencil)
        for (std::size_t c = 0; c < dim_; ++c) visit(i++, line(a), c);
    };
    each([&](Index i, std::size_t at, std::size_t c) {
      u_[ordinal(stencil[static_cast<std::size_t>(i) / dim_]) * dim_ + c] = nodes[at].displacement[c];
      v(i) = nodes[at].velocity[c];
      inverse_mass(i) = !sweep.held.empty() && sweep.held[at][c] ? 0.0 : nodes[at].inverse_mass;
    });
    Eigen::MatrixXd C = Eigen::MatrixXd::Zero(n, n);  // symmetric
    force_.add_damping(k, u_, sweep.t, {C.data(), static_cast<std::size_t>(n * n)});
    Eigen::MatrixXd A = sweep.relax * (inverse_mass.asDiagonal() * C);
    A.diagonal().array() += 1.0;
    const Eigen::VectorXd w = A.partialPivLu().solve(v), p = -sweep.step * (C * w);
    each([&](Index i, std::size_t at, std::size_t c) {
      nodes[at].velocity[c] += inverse_mass(i) * p(i);
      if (!sweep.held.empty() && sweep.held[at][c]) sweep.withheld[at][c] += p(i);
    });
    if (!kept.empty()) std::copy_n(p.data(), n, kept.begin());
    return p.dot(w);
  }

  const Force& force_;
  std::size_t dim_, nodes_ = 0;
  std::vector<Index> elements_;
  std::vector<std::int32_t> place_;
  mutable std::vector<double> u_;
};

}  // namespace

std::unique_ptr<DampingBatch> Force::damping_batch(int dim, std::span<const Index> elements,
                                                   std::span<const std::int32_t> place,
                                                   std::span<const std::array<bool, 3>> /*held*/) const {
  return std::make_unique<DamperLoop>(*this, dim, elements, place);
}

}  // namespace tempi
