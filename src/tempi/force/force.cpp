// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/force.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

// One element after the other, from an array of displacements as add_impulse wants it: one thread at a time.
class ElementLoop final : public LoadBatch {
 public:
  ElementLoop(const Force& force, int dim, std::span<const Index> elements, std::span<const std::int32_t> place)
      : force_(force),
        dim_(static_cast<std::size_t>(dim)),
        elements_(elements.begin(), elements.end()),
        place_(place.begin(), place.end()),
        u_(place.size() * dim_, 0.0),
        none_(u_.size(), 0.0) {
    for (const Index k : elements_) nodes_ = std::max(nodes_, force.stencil(k).size());
  }

  void prepare(double t) override { t_ = t; }
  Index row() const override { return static_cast<Index>(nodes_ * dim_); }
  void evaluate(Index first, Index last, std::span<const NodeLine> nodes, std::span<double> forces) const override {
    const std::lock_guard alone(in_use_);
    for (Index i = first; i < last; ++i) {
      const Index k = elements_[static_cast<std::size_t>(i)];
      const auto stencil = force_.stencil(k);
      for (const NodeId a : stencil)
        std::copy_n(nodes[static_cast<std::size_t>(place_[ordinal(a)])].displacement, dim_, &u_[ordinal(a) * dim_]);
      const auto f = forces.subspan(static_cast<std::size_t>((i - first) * row()), nodes_ * dim_);
      std::ranges::fill(f, 0.0);
      force_.add_impulse(k, u_, none_, t_, 1.0, f.first(stencil.size() * dim_));
    }
  }

 private:
  const Force& force_;
  std::size_t dim_, nodes_ = 0;
  std::vector<Index> elements_;
  std::vector<std::int32_t> place_;
  double t_ = 0.0;
  mutable std::mutex in_use_;
  mutable std::vector<double> u_;
  std::vector<double> none_;  // velocities: a load does not depend on them
};

}  // namespace

std::unique_ptr<LoadBatch> Force::batch(int dim, std::span<const Index> elements,
                                        std::span<const std::int32_t> place) const {
  return std::make_unique<ElementLoop>(*this, dim, elements, place);
}

void Force::add_damping(Index, std::span<const double>, double, std::span<double>) const {
  throw SolveError("a damper does not tell its matrix. Give it add_damping.");
}

}  // namespace tempi
