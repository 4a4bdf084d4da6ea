// SPDX-License-Identifier: Apache-2.0
// The terms of a sum that are present at some displacements, and their impulses: for methods that strike them one by
// one.
#pragma once

#include <span>
#include <vector>

#include "tempi/model/model.hpp"

namespace tempi {

class SumImpulses {
 public:
  // p = -dt dV/dx [N s] of every term. Returns the least admissibility (Potential::add_gradient), 1 without terms.
  double evaluate(const ManyBodySum& sum, std::span<const double> u, double t, double dt);

  std::span<const TermKey> keys() const { return keys_; }  // ascending
  // visit(nodes, p), in the order of the keys.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      const std::size_t first = begin_[k], count = begin_[k + 1] - first;
      visit(std::span(nodes_).subspan(first, count), std::span(p_).subspan(first * dim_, count * dim_));
    }
  }

 private:
  std::size_t dim_ = 1;
  std::vector<TermKey> keys_;
  std::vector<std::size_t> begin_{0};  // of each term's nodes, and the end
  std::vector<NodeId> nodes_;
  std::vector<double> p_;
};

}  // namespace tempi
