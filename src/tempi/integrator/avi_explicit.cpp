// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/avi_explicit.hpp"

#include <algorithm>

#include "tempi/core/error.hpp"

namespace tempi {

AviExplicit::AviExplicit(const Model& model, std::vector<double> steps)
    : model_(model),
      steps_(std::move(steps)),
      updates_(steps_.size(), 0),
      kick_drift_(model, 0.1 * *std::ranges::min_element(steps_)),
      dampers_(model, kick_drift_),
      queue_(next_times()),
      p_(model.largest_stencil() * static_cast<std::size_t>(model.dim())),
      q_(p_.size()),
      record_(model) {
  TEMPI_ASSERT(static_cast<Index>(steps_.size()) == model.term_count());
}

double AviExplicit::next_time(TermId term) const {
  const auto i = static_cast<std::size_t>(index(term));
  return static_cast<double>(updates_[i] + 1) * steps_[i];
}

std::vector<double> AviExplicit::next_times() const {
  std::vector<double> times(steps_.size());
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = next_time(make_id<TermId>(static_cast<Index>(i)));
  return times;
}

void AviExplicit::start(State& state) {
  kick_drift_.start(state);
  kick_drift_.kick_all(state, 0.0, [&](TermId term) { return 0.5 * step(term); });
  started_ = true;
}

// Drifts the term's nodes to its next time and evaluates its impulses there.
void AviExplicit::prepare(State& state, TermId term) {
  const auto i = static_cast<std::size_t>(index(term));
  const double t = next_time(term);
  const auto nodes = model_.term(term).stencil();
  const std::size_t size = nodes.size() * static_cast<std::size_t>(model_.dim());
  for (const NodeId a : nodes) kick_drift_.drift(state, a, t);
  const double admissibility = kick_drift_.impulses(term, state.displacement, state.velocity, t, steps_[i],
                                                    std::span(p_).first(size), std::span(q_).first(size));
  kick_drift_.require_admissible(term, state.displacement, admissibility, t);
  kick_drift_.book_load_work(state, term, std::span(q_).first(size), steps_[i]);
  if ((updates_[i] + 1) % updates_between_stability_checks == 0) kick_drift_.require_stable(term, state, steps_[i], t);
}

void AviExplicit::kick(State& state, TermId term, std::span<const double> p, std::span<const double> q) {
  const auto nodes = model_.term(term).stencil();
  const auto d = static_cast<std::size_t>(model_.dim());
  for (std::size_t a = 0; a < nodes.size(); ++a)
    kick_drift_.kick(state, nodes[a], p.subspan(a * d, d), q.subspan(a * d, d));
}

void AviExplicit::strike(State& state, TermId term) {
  prepare(state, term);
  kick(state, term, p_, q_);
  ++updates_[static_cast<std::size_t>(index(term))];
}

void AviExplicit::update(State& state, TermId term) {
  const double t = next_time(term);
  dampers_.begin();
  dampers_.announce(state, term, step(term));
  strike(state, term);
  dampers_.act(state, t);
}

// All updates of one instant, exactly as one by one but for dampers, which act together; the velocities before any of
// them are noted first.
void AviExplicit::update_instant(State& state, Observer* observer) {
  const double t = queue_.next_time();
  record_.clear();
  dampers_.begin();
  while (!queue_.empty() && queue_.next_time() == t) {
    const auto term = make_id<TermId>(queue_.next_id());
    record_.announce(state, term, updates(term) + 1, step(term));
    dampers_.announce(state, term, step(term));
    queue_.reschedule(index(term), EventQueue::never);
  }
  auto next = record_.announced().begin();
  try {
    for (; next != record_.announced().end(); ++next) {
      const auto& strike = *next;
      this->strike(state, strike.term);
      const std::size_t size = model_.term(strike.term).stencil().size() * static_cast<std::size_t>(model_.dim());
      record_.add_impulses(std::span(p_).first(size), std::span(q_).first(size));
      queue_.reschedule(index(strike.term), next_time(strike.term));
    }
  } catch (...) {
    for (; next != record_.announced().end(); ++next) dampers_.withdraw(next->term);
    dampers_.act(state, t);
    queue_ = EventQueue(next_times());
    throw;
  }
  dampers_.act(state, t);
  if (observer != nullptr) record_.show(state, t, dampers_, *observer);
}

void AviExplicit::advance(State& state, double t_end, Observer* observer) {
  if (!started_) start(state);
  while (!queue_.empty() && queue_.next_time() < t_end) {
    if (observer != nullptr || model_.has_dampers()) {
      update_instant(state, observer);
      continue;
    }
    const auto term = make_id<TermId>(queue_.next_id());
    update(state, term);
    queue_.reschedule(index(term), next_time(term));
  }
}

Snapshot AviExplicit::synchronized(const State& state, double t) const {
  return kick_drift_.synchronized(state, t, started_, [&](TermId term) {
    return t - (static_cast<double>(updates(term)) + 0.5) * step(term);
  });
}

void AviExplicit::save(ArchiveWriter& archive) const {
  archive.put("model", model_.fingerprint());
  archive.put("started", started_);
  archive.put("steps", steps_);
  archive.put("updates", updates_);
}

void AviExplicit::load(ArchiveReader& archive) {
  std::uint64_t model = 0;
  bool started = false;
  std::vector<double> steps(steps_.size());
  std::vector<Index> updates(updates_.size());
  archive.get("model", model);
  if (model != model_.fingerprint())
    throw InputError("the checkpoint was written by another model. Use the same case.");
  archive.get("started", started);
  archive.get("steps", steps);
  if (steps != steps_) throw InputError("the checkpoint was written with other time steps. Use the same case.");
  archive.get("updates", updates);
  started_ = started;
  updates_ = std::move(updates);
  queue_ = EventQueue(next_times());
}

}  // namespace tempi
