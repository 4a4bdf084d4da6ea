// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/avi/sum_impulses.hpp"

#include <cmath>

namespace tempi {

double SumImpulses::evaluate(const ManyBodySum& sum, std::span<const double> u, double t, double dt) {
  dim_ = static_cast<std::size_t>(sum.dim());
  keys_.clear();
  nodes_.clear();
  p_.clear();
  begin_.assign(1, 0);
  double least = 1.0;
  const auto take = [&](const ManyBodySum::Present& term) {
    keys_.push_back(term.key);
    nodes_.insert(nodes_.end(), term.nodes.begin(), term.nodes.end());
    begin_.push_back(nodes_.size());
    for (const double g : term.gradient) p_.push_back(-dt * g);
    if (term.admissibility < least || std::isnan(term.admissibility)) least = term.admissibility;
  };
  sum.each_present(u, t, std::cref(take));
  return least;
}

}  // namespace tempi
