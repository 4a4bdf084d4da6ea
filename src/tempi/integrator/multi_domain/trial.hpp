// SPDX-License-Identifier: Apache-2.0
// Not for others than multi_domain.cpp and interface_solve.cpp.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tempi/core/error.hpp"
#include "tempi/integrator/multi_domain/multi_domain.hpp"

namespace tempi {

// All domains over one system step, at one velocity of the interface after another.
class MultiDomainMap::Trial {
 public:
  Trial(const MultiDomainMap& map, const State& state, SystemStep step)
      : map_(map), time_(step.t0), impulses_(map.all_.size(), nullptr) {
    for (const auto& domain : map_.all_) domain->begin(state, step);
  }

  bool attempt(const Vector& w) {
    return go(w, [](Domain& d, const Vector& of_part) { return &d.attempt(of_part); });
  }
  void run(const Vector& w) {
    if (!go(w, [](Domain& d, const Vector& of_part) { return &d.run(of_part); })) throw StepError(fault(), time_);
  }

  std::string fault() const {
    for (const Domain::Impulses* i : impulses_)
      if (i != nullptr && !i->admissible) return i->fault;
    return "";
  }
  const Domain::Impulses& impulses(std::size_t d) const { return *impulses_[d]; }
  // sum_d C^T x_d, by psi; and its unknown components.
  template <class OfDomain>
  Vector gather(OfDomain&& x) const {
    Vector sum = Vector::Zero(std::ssize(map_.interface_.psi()));
    for (std::size_t d = 0; d < impulses_.size(); ++d) sum += map_.interface_.parts()[d].C.transpose() * x(d);
    return sum;
  }
  Vector unknown(const Vector& x) const { return x(map_.interface_.unknown()); }
  // `of_interface`, and after it what inner equations leave.
  Vector with_inner(const Vector& of_interface) const {
    Vector all(std::ssize(map_.unknown_));
    Index next = of_interface.size();
    all.head(next) = of_interface;
    for (const Domain::Impulses* i : impulses_) {
      all.segment(next, i->left.size()) = i->left;
      next += i->left.size();
    }
    return all;
  }
  double largest_inner() const {
    double largest = 0.0;
    for (const Domain::Impulses* i : impulses_) largest = std::max(largest, i->largest);
    return largest;
  }
  Vector early() const {
    return gather([&](std::size_t d) -> const Vector& { return impulses_[d]->early; });
  }
  Vector late() const {
    return gather([&](std::size_t d) -> const Vector& { return impulses_[d]->late; });
  }

 private:
  template <class How>
  bool go(const Vector& w, How&& how) {
    map_.team_->for_each(std::ssize(map_.all_), [&](Index i) {
      const auto d = static_cast<std::size_t>(i);
      const DomainInterface::Matrix& C = map_.interface_.parts()[d].C;
      const Index inner = map_.inner_from_[d + 1] - map_.inner_from_[d];
      Vector x(C.rows() + inner);
      x.head(C.rows()) = C * w.head(C.cols());
      x.tail(inner) = w.segment(map_.inner_from_[d], inner);
      impulses_[d] = how(*map_.all_[d], x);
    });
    return std::ranges::all_of(impulses_, [](const Domain::Impulses* i) { return i->admissible; });
  }

  const MultiDomainMap& map_;
  double time_;  // [s], where the step begins
  std::vector<const Domain::Impulses*> impulses_;
};

}  // namespace tempi
