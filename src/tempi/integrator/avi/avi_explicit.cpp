// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/avi/avi_explicit.hpp"

#include <algorithm>
#include <functional>

#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"

namespace tempi {

AviExplicit::AviExplicit(const Model& model, std::vector<double> steps)
    : model_(model),
      steps_(std::move(steps)),
      updates_(model.term_count()),
      kick_drift_(model, 0.1 * *std::ranges::min_element(steps_.values()), ConstraintsKept::none, SumsStruck::by_terms),
      dampers_(model, kick_drift_),
      p_(model.largest_stencil() * static_cast<std::size_t>(model.dim())),
      q_(p_.size()),
      local_(static_cast<std::size_t>(model.node_count())),
      record_(model) {
  TEMPI_ASSERT(steps_.size() == model.term_count());
  const std::int32_t source = loop_.add(*this);
  for (Index i = 0; i < model.term_count(); ++i) loop_.add(source, EventLoop::item_of(make_id<TermId>(i)));
}

double AviExplicit::next_time(TermId term) const { return static_cast<double>(updates_[term] + 1) * steps_[term]; }

void AviExplicit::start(State& state) {
  kick_drift_.start(state);
  kick_drift_.kick_all(state, 0.0, [&](TermId term) { return 0.5 * step(term); });
  started_ = true;
}

// The impulses of a term, p_ and q_; of the terms of a sum one by one, too. Returns the admissibility.
double AviExplicit::evaluate(const State& state, TermId term, double t) {
  const auto nodes = model_.term(term).stencil();
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto p = std::span(p_).first(nodes.size() * d), q = std::span(q_).first(nodes.size() * d);
  const ManyBodySum* sum = kick_drift_.struck_by_terms(term);
  if (sum == nullptr) return kick_drift_.impulses(term, state.displacement, state.velocity, t, steps_[term], p, q);
  const double admissibility = of_terms_.evaluate(*sum, state.displacement, t, steps_[term]);
  if (!acts_together()) return admissibility;  // nobody wants the sum of them
  std::ranges::fill(p, 0.0);
  std::ranges::fill(q, 0.0);
  for (std::size_t a = 0; a < nodes.size(); ++a) local_[ordinal(nodes[a])] = a;
  of_terms_.each([&](std::span<const NodeId> some, std::span<const double> impulses) {
    for (std::size_t i = 0; i < impulses.size(); ++i) p[local_[ordinal(some[i / d])] * d + i % d] += impulses[i];
  });
  return admissibility;
}

// Drifts the term's nodes to its next time and evaluates its impulses there.
void AviExplicit::prepare(State& state, TermId term) {
  const double t = next_time(term);
  const auto nodes = model_.term(term).stencil();
  const std::size_t size = nodes.size() * static_cast<std::size_t>(model_.dim());
  for (const NodeId a : nodes) kick_drift_.drift(state, a, t);
  kick_drift_.require_admissible(term, state.displacement, evaluate(state, term, t), t);
  kick_drift_.book_load_work(state, term, std::span(q_).first(size), steps_[term]);
  if ((updates_[term] + 1) % updates_between_stability_checks == 0)
    kick_drift_.require_stable(term, state, steps_[term], t);
}

void AviExplicit::kick(State& state, TermId term, std::span<const double> p, std::span<const double> q) {
  const auto nodes = model_.term(term).stencil();
  const auto d = static_cast<std::size_t>(model_.dim());
  for (std::size_t a = 0; a < nodes.size(); ++a)
    kick_drift_.kick(state, nodes[a], p.subspan(a * d, d), q.subspan(a * d, d));
}

void AviExplicit::strike(State& state, TermId term) {
  prepare(state, term);
  if (kick_drift_.struck_by_terms(term) != nullptr) {
    const auto d = static_cast<std::size_t>(model_.dim());
    of_terms_.each([&](std::span<const NodeId> nodes, std::span<const double> p) {
      for (std::size_t a = 0; a < nodes.size(); ++a)
        kick_drift_.kick(state, nodes[a], p.subspan(a * d, d), std::span(no_load_).first(d));
    });
    const auto [came, went] = updates_.exchange(term, of_terms_.keys(), [](Index& updates) { ++updates; });
    changes_.came += came;
    changes_.went += went;
    changes_.struck += std::ssize(of_terms_.keys());
  } else {
    kick(state, term, p_, q_);
  }
  ++updates_[term];
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
    --updates_[entry.term];
    if (kick_drift_.struck_by_terms(entry.term) == nullptr) continue;
    updates_.each_of(entry.term, [&](Index& updates) {
      --updates;
      --changes_.struck;
    });
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

AviExplicit::Measures AviExplicit::measures() const {
  if (changes_.came == 0) return {};
  const auto number = [](Index count) { return static_cast<double>(count); };
  return {{"changing_terms", number(std::ssize(updates_.changing()))},
          {"terms_came", number(changes_.came)},
          {"terms_went", number(changes_.went)},
          {"changing_term_updates", number(changes_.struck)}};
}

void AviExplicit::save(ArchiveWriter& archive) const {
  save_model(archive, model_);
  archive.put("started", started_);
  archive.put("steps", steps_.values());
  updates_.save(archive, "updates");
  archive.put("changes", changes_);
}

void AviExplicit::load(ArchiveReader& archive) {
  bool started = false;
  std::vector<double> steps(steps_.values().size());
  PerTerm<Index> updates = updates_;
  Changes changes;
  require_same_model(archive, model_);
  archive.get("started", started);
  archive.get("steps", steps);
  if (steps != steps_.values())
    throw InputError("the checkpoint was written with other time steps. Use the same case.");
  updates.load(archive, "updates");
  archive.get("changes", changes);
  started_ = started;
  updates_ = std::move(updates);
  changes_ = changes;
  loop_.predict_all();
}

}  // namespace tempi
