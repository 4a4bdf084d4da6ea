// SPDX-License-Identifier: Apache-2.0
// The strikes of one instant, kept until all of them have been felt, then shown to an observer.
#pragma once

#include <span>
#include <vector>

#include "tempi/integrator/dampers.hpp"
#include "tempi/integrator/integrator.hpp"

namespace tempi {

class StrikeRecord {
 public:
  explicit StrikeRecord(const Model& model) : model_(model) {}

  // Announces a strike: notes the velocities of its nodes, before any strike of this instant is felt.
  void announce(const State& state, TermId term, Index update, double step);
  // The impulses of the announced strikes, in the same order: p, of which q comes from loads.
  void add_impulses(std::span<const double> p, std::span<const double> q);
  void clear();

  // Shows all strikes since the last call, in the order they were announced; `dampers` have acted in the same instant.
  void show(const State& state, double time, const Dampers& dampers, Observer& observer);

  struct Entry {
    TermId term;
    Index update;
    double step;
    std::size_t offset;  // of its figures
  };
  std::span<const Entry> announced() const { return entries_; }
  // Of one whose impulses have been added: p, and q of it.
  std::span<const double> impulses(const Entry& entry) const { return of(p_, entry); }
  std::span<const double> load_impulses(const Entry& entry) const { return of(q_, entry); }

 private:
  std::span<const double> of(const std::vector<double>& values, const Entry& entry) const {
    const std::size_t size = model_.term(entry.term).stencil().size() * static_cast<std::size_t>(model_.dim());
    return std::span(values).subspan(entry.offset, size);
  }

  const Model& model_;
  std::vector<Entry> entries_;
  std::vector<double> p_, q_, before_;
};

}  // namespace tempi
