// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/avi_explicit.hpp"

#include <algorithm>
#include <functional>

#include "tempi/core/error.hpp"

namespace tempi {

AviExplicit::AviExplicit(const Model& model, std::vector<double> steps)
    : model_(model),
      steps_(std::move(steps)),
      updates_(steps_.size(), 0),
      kick_drift_(model, 0.1 * *std::ranges::min_element(steps_)),
      dampers_(model, kick_drift_),
      p_(model.largest_stencil() * static_cast<std::size_t>(model.dim())),
      q_(p_.size()),
      record_(model) {
  TEMPI_ASSERT(static_cast<Index>(steps_.size()) == model.term_count());
  const std::int32_t source = loop_.add(*this);
  for (Index i = 0; i < model.term_count(); ++i) loop_.add(source, EventLoop::item_of(make_id<TermId>(i)));
}

double AviExplicit::next_time(TermId term) const {
  const auto i = static_cast<std::size_t>(index(term));
  return static_cast<double>(updates_[i] + 1) * steps_[i];
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
// them are noted first. Without observers and dampers one.
void AviExplicit::act(double t, std::span<const EventLoop::Event> due) {
  State& state = *state_;
  if (!acts_together()) {
    strike(state, EventLoop::term_of(due.front().item));
    return;
  }
  record_.clear();
  dampers_.begin();
  for (const EventLoop::Event& event : due) {
    const TermId term = EventLoop::term_of(event.item);
    record_.announce(state, term, updates(term) + 1, step(term));
    dampers_.announce(state, term, step(term));
  }
  auto next = record_.announced().begin();
  try {
    for (; next != record_.announced().end(); ++next) {
      strike(state, next->term);
      const std::size_t size = model_.term(next->term).stencil().size() * static_cast<std::size_t>(model_.dim());
      record_.add_impulses(std::span(p_).first(size), std::span(q_).first(size));
    }
  } catch (...) {
    for (; next != record_.announced().end(); ++next) dampers_.withdraw(next->term);
    dampers_.act(state, t);
    throw;
  }
  try {
    dampers_.act(state, t);
  } catch (...) {
    take_back(state);
    throw;
  }
  if (observer_ != nullptr) record_.show(state, t, dampers_, *observer_);
}

// Velocities become those before the instant, to rounding.
void AviExplicit::take_back(State& state) {
  for (const StrikeRecord::Entry& entry : record_.announced()) {
    const auto size = static_cast<std::ptrdiff_t>(record_.impulses(entry).size());
    std::ranges::transform(record_.impulses(entry), p_.begin(), std::negate{});
    std::ranges::transform(record_.load_impulses(entry), q_.begin(), std::negate{});
    kick(state, entry.term, {p_.begin(), p_.begin() + size}, {q_.begin(), q_.begin() + size});
    --updates_[static_cast<std::size_t>(index(entry.term))];
  }
}

void AviExplicit::advance(State& state, double t_end, Observer* observer) {
  if (!started_) start(state);
  state_ = &state;
  observer_ = observer;
  loop_.run_until(t_end);
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
  loop_.predict_all();
}

}  // namespace tempi
