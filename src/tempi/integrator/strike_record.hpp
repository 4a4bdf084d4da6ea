// SPDX-License-Identifier: Apache-2.0
// The strikes of one instant, kept until all of them have been felt, then shown to an observer.
#pragma once

#include <span>
#include <vector>

#include "tempi/integrator/integrator.hpp"

namespace tempi {

class StrikeRecord {
 public:
  explicit StrikeRecord(const Model& model) : model_(model) {}

  // Keeps a strike: impulses p, of which q comes from loads, and the velocities its nodes have now, before any strike
  // of this instant is felt.
  void add(const State& state, TermId term, Index update, double step, std::span<const double> p,
           std::span<const double> q);

  // Shows all strikes kept since the last call, in the order they were added.
  void show(const State& state, double time, Observer& observer);

  struct Entry {
    TermId term;
    Index update;
    double step;
    std::size_t offset, size;  // of its figures in p, q
  };
  std::span<const Entry> entries() const { return entries_; }
  std::span<const double> p(const Entry& e) const { return std::span(p_).subspan(e.offset, e.size); }
  std::span<const double> q(const Entry& e) const { return std::span(q_).subspan(e.offset, e.size); }

 private:
  const Model& model_;
  std::vector<Entry> entries_;
  std::vector<double> p_, q_, before_;
};

}  // namespace tempi
