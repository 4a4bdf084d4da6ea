// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/avi/strike_record.hpp"

namespace tempi {

void StrikeRecord::announce(const State& state, TermId term, Index update, double step) {
  const auto d = static_cast<std::size_t>(model_.dim());
  entries_.push_back({term, update, step, before_.size()});
  for (const NodeId a : model_.term(term).stencil())
    for (std::size_t c = 0; c < d; ++c) before_.push_back(state.velocity[ordinal(a) * d + c]);
}

void StrikeRecord::add_impulses(std::span<const double> p, std::span<const double> q) {
  p_.insert(p_.end(), p.begin(), p.end());
  q_.insert(q_.end(), q.begin(), q.end());
}

void StrikeRecord::show(const State& state, double time, const Dampers& dampers, Observer& observer) {
  const auto d = static_cast<std::size_t>(model_.dim());
  for (const Entry& e : entries_) {
    const auto [potential, k] = model_.term(e.term);
    const auto nodes = potential->stencil(k);
    const auto resistance = dampers.impulses(e.term);
    double kinetic_before = 0.0, change = 0.0, damping_work = 0.0;
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t c = 0; c < d; ++c) {
        const double after = state.velocity[ordinal(nodes[a]) * d + c];
        // A supported component is not kicked: it has the velocity of its motion before and after.
        const bool held = model_.supports().support_of(nodes[a], static_cast<int>(c)) != Supports::none;
        const double before = held ? after : before_[e.offset + a * d + c];
        kinetic_before += 0.5 * model_.mass(nodes[a]) * before * before;
        change += 0.5 * p_[e.offset + a * d + c] * (before + after);
        if (!resistance.empty()) damping_work += 0.5 * resistance[a * d + c] * (before + after);
      }
    const auto loads = std::span<const double>(q_).subspan(e.offset, nodes.size() * d);
    const double energy = potential->energy(k, state.displacement, time);
    observer.on_strike(
        {e.term, e.update, time, e.step, kinetic_before, change + damping_work, damping_work, energy, loads, state});
  }
  clear();
}

void StrikeRecord::clear() {
  entries_.clear();
  p_.clear();
  q_.clear();
  before_.clear();
}

}  // namespace tempi
