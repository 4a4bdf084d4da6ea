// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/avi/avi_adaptive.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"

namespace tempi {

AviAdaptive::AviAdaptive(const Model& model, std::vector<double> steps, StepBounds bounds, WithoutRoot without_root,
                         Residuals residuals)
    : model_(model),
      steps_(std::move(steps)),
      bounds_(bounds),
      without_root_(without_root),
      residuals_(residuals),
      kick_drift_(model, 0.1 * bounds.least * *std::ranges::min_element(steps_)),
      around_(node_terms(model)),
      p_(model.largest_stencil() * static_cast<std::size_t>(model.dim())),
      q_(p_.size()),
      trial_(static_cast<std::size_t>(model.node_count() * model.dim()), 0.0),
      seen_(steps_.size(), 0),
      dampers_(model, kick_drift_),
      record_(model) {
  if (model.has_dampers())
    throw InputError("avi-adaptive keeps the energy of every element, which dampers take. Choose avi.");
  TEMPI_ASSERT(static_cast<Index>(steps_.size()) == model.term_count());
  check(bounds);
  for (const double step : steps_) clocks_.push_back({.next = step, .interval = step});
  const std::int32_t source = loop_.add(*this);
  for (Index i = 0; i < model.term_count(); ++i)
    slots_.push_back(loop_.add(source, EventLoop::item_of(make_id<TermId>(i))));
}

void AviAdaptive::advance(State& state, double t_end, Observer* observer) {
  if (!started_) {
    kick_drift_.start(state);
    kick_drift_.kick_all(state, 0.0, [&](TermId term) { return 0.5 * step(term); });
    started_ = true;
  }
  state_ = &state;
  observer_ = observer;
  loop_.run_until(t_end);
}

void AviAdaptive::act(double t, std::span<const EventLoop::Event> due) {
  State& state = *state_;
  const TermId term = EventLoop::term_of(due.front().item);
  Clock& clock = this->clock(term);
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto [potential, k] = model_.term(term);
  const auto nodes = potential->stencil(k);
  const double h = t - clock.last;
  const auto p = std::span(p_).first(nodes.size() * d), q = std::span(q_).first(nodes.size() * d);
  for (const NodeId a : nodes) kick_drift_.drift(state, a, t);
  const double admissibility = kick_drift_.impulses(term, state.displacement, state.velocity, t, h, p, q);
  kick_drift_.require_admissible(term, state.displacement, admissibility, t);
  if ((clock.updates + 1) % updates_between_stability_checks == 0) kick_drift_.require_stable(term, state, h, t);
  const double V = potential->energy(k, state.displacement, t);

  if (clock.updates > 0) {
    const double R = V - clock.target - load_work(state, term, state.displacement, q) / h;
    clock.accumulated += R;
    if (clock.solved != 0) {
      ++adaption_.accepted;
      adaption_.largest_residual_accepted =
          std::max(adaption_.largest_residual_accepted,
                   std::abs(residuals_ == Residuals::carried ? clock.accumulated : R));
    } else {
      ++adaption_.without_root;
      adaption_.gain_without_root += R;
    }
  }
  adaption_.smallest = std::min(adaption_.smallest, h / step(term));
  adaption_.largest = std::max(adaption_.largest, h / step(term));
  kick_drift_.book_load_work(state, term, q, h);

  if (observer_ != nullptr) record_.announce(state, term, clock.updates + 1, h);
  // T^+ - T^- is the impulse times the mean of the velocities before and after.
  const auto half_work = [&] {
    double work = 0.0;
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t c = 0; c < d; ++c) work += 0.5 * p[a * d + c] * state.velocity[ordinal(nodes[a]) * d + c];
    return work;
  };
  double change = half_work();
  for (std::size_t a = 0; a < nodes.size(); ++a)
    kick_drift_.kick(state, nodes[a], p.subspan(a * d, d), q.subspan(a * d, d));
  change += half_work();
  clock.interval = h;
  clock.last = t;
  clock.target = V - change;
  clock.scale = std::max(std::abs(V), std::abs(change));
  ++clock.updates;
  if (observer_ != nullptr) {
    record_.add_impulses(p, q);
    record_.show(state, t, dampers_, *observer_);
  }
  ++round_;
  for (const NodeId a : nodes) loop_.bend(a, t);
}

// A kick bends the lines of a term's nodes: whoever shares one is solved for anew, once for all of them.
void AviAdaptive::line_bent(NodeId node, double t) {
  for (const TermId term : around_[node]) {
    if (std::exchange(seen_[ordinal(term)], round_) == round_) continue;
    if (updates(term) > 0) solve(*state_, term, t);  // a term's first strike has no equation
    loop_.predict_again(slots_[ordinal(term)]);
  }
}

void AviAdaptive::solve(const State& state, TermId term, double now) {
  Clock& clock = this->clock(term);
  const double nominal = step(term), least = std::max(bounds_.least * nominal, now - clock.last);
  const double last = clock.solved != 0 && clock.next > now ? clock.next - clock.last : clock.interval;
  StepSearch search([&](double h) { return residual(state, term, clock.last + h); }, least,
                    std::max(least, bounds_.largest * nominal), 4e-16 * clock.scale);
  FoundStep found = search.from(last);
  if (!found.solved && (without_root_ == WithoutRoot::nominal_step || std::isnan(found.residual))) found.step = nominal;
  clock.solved = found.solved ? 1 : 0;
  clock.next = std::max(now, clock.last + found.step);
}

// R_K of eq. (97), were the term to act at t, with what it carries.
double AviAdaptive::residual(const State& state, TermId term, double t) {
  ++adaption_.evaluations;
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto [potential, k] = model_.term(term);
  for (const NodeId a : potential->stencil(k)) {
    const double elapsed = t - state.clock[ordinal(a)];
    const bool moves = model_.supports().holds(a) && model_.supports().moves(a);
    for (std::size_t c = 0; c < d; ++c) {
      const std::size_t i = ordinal(a) * d + c;
      trial_[i] = state.displacement[i] + state.velocity[i] * elapsed;
      if (!moves) continue;
      if (const auto prescribed = model_.supports().displacement(a, static_cast<int>(c), t)) trial_[i] = *prescribed;
    }
  }
  const Clock& clock = clocks_[ordinal(term)];
  double R = potential->energy(k, trial_, t) - clock.target;
  if (residuals_ == Residuals::carried) R += clock.accumulated;
  if (model_.force_slot(term) >= 0) {
    const auto q = std::span(q_).first(potential->stencil(k).size() * d);
    kick_drift_.load_impulses(term, trial_, state.velocity, t, 1.0, q);
    R -= load_work(state, term, trial_, q);
  }
  return R;
}

// Of the loads q on the way from the term's last strike to u.
double AviAdaptive::load_work(const State& state, TermId term, std::span<const double> u,
                              std::span<const double> q) const {
  const Index slot = model_.force_slot(term);
  if (slot < 0) return 0.0;
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto nodes = model_.term(term).stencil();
  double work = 0.0;
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (std::size_t c = 0; c < d; ++c)
      work += q[a * d + c] *
              (u[ordinal(nodes[a]) * d + c] - state.load_displacement[static_cast<std::size_t>(slot) + a * d + c]);
  return work;
}

// Impulses so far cover the time up to last + step / 2: the starting half kick, and every interval since.
Snapshot AviAdaptive::synchronized(const State& state, double t) const {
  return kick_drift_.synchronized(state, t, started_,
                                  [&](TermId term) { return t - clocks_[ordinal(term)].last - 0.5 * step(term); });
}

void AviAdaptive::save(ArchiveWriter& archive) const {
  save_model(archive, model_);
  archive.put("steps", steps_);
  archive.put("bounds", bounds_);
  archive.put("without_root", without_root_);
  archive.put("residuals", residuals_);
  archive.put("started", started_);
  archive.put("clocks", clocks_);
  archive.put("adaption", adaption_);
}

void AviAdaptive::load(ArchiveReader& archive) {
  std::vector<double> steps(steps_.size());
  StepBounds bounds;
  WithoutRoot without_root{};
  Residuals residuals{};
  bool started = false;
  std::vector<Clock> clocks(clocks_.size());
  Adaption adaption;
  require_same_model(archive, model_);
  archive.get("steps", steps);
  archive.get("bounds", bounds);
  archive.get("without_root", without_root);
  archive.get("residuals", residuals);
  if (steps != steps_ || bounds.least != bounds_.least || bounds.largest != bounds_.largest ||
      without_root != without_root_ || residuals != residuals_)
    throw InputError("the checkpoint was written with other time steps or bounds on them. Use the same case.");
  archive.get("started", started);
  archive.get("clocks", clocks);
  archive.get("adaption", adaption);
  started_ = started;
  clocks_ = std::move(clocks);
  adaption_ = adaption;
  loop_.predict_all();
}

Integrator::Measures AviAdaptive::measures() const {
  const double strikes = static_cast<double>(std::max<Index>(adaption_.accepted + adaption_.without_root, 1));
  return {{"fraction_accepted", static_cast<double>(adaption_.accepted) / strikes},
          {"fraction_without_root", static_cast<double>(adaption_.without_root) / strikes},
          {"energy_gained_without_root", adaption_.gain_without_root},
          {"smallest_step_over_nominal", adaption_.smallest},
          {"largest_step_over_nominal", adaption_.largest},
          {"residual_evaluations", static_cast<double>(adaption_.evaluations)}};
}

}  // namespace tempi
