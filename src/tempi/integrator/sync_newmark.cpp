// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/sync_newmark.hpp"

#include <algorithm>

#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"

namespace tempi {

SyncNewmark::SyncNewmark(const Model& model, double step)
    : model_(model),
      step_(step),
      kick_drift_(model, 0.1 * step),
      dampers_(model, kick_drift_),
      impulse_(static_cast<std::size_t>(model.node_count() * model.dim())),
      load_impulse_(impulse_.size()),
      p_(model.largest_stencil() * static_cast<std::size_t>(model.dim())),
      q_(p_.size()),
      record_(model) {}

void SyncNewmark::assemble(State& state, double t, Observer* observer) {
  const auto d = static_cast<std::size_t>(model_.dim());
  std::ranges::fill(impulse_, 0.0);
  std::ranges::fill(load_impulse_, 0.0);
  record_.clear();
  dampers_.begin();
  const Index turn = (steps_done_ + 1) % updates_between_stability_checks;
  for (Index i = 0; i < model_.term_count(); ++i) {
    const auto term = make_id<TermId>(i);
    const auto nodes = model_.term(term).stencil();
    const auto p = std::span(p_).first(nodes.size() * d), q = std::span(q_).first(nodes.size() * d);
    const double admissibility = kick_drift_.impulses(term, state.displacement, state.velocity, t, step_, p, q);
    kick_drift_.require_admissible(term, state.displacement, admissibility, t);
    kick_drift_.book_load_work(state, term, q, step_);
    if (i % updates_between_stability_checks == turn) kick_drift_.require_stable(term, state, step_, t);
    dampers_.announce(state, term, step_);
    if (observer != nullptr) {
      record_.announce(state, term, steps_done_ + 1, step_);
      record_.add_impulses(p, q);
    }
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t c = 0; c < d; ++c) {
        const std::size_t global = ordinal(nodes[a]) * d + c;
        impulse_[global] += p[a * d + c];
        load_impulse_[global] += q[a * d + c];
      }
  }
}

void SyncNewmark::advance(State& state, double t_end, Observer* observer) {
  const auto d = static_cast<std::size_t>(model_.dim());
  if (!started_) {
    kick_drift_.start(state);
    kick_drift_.kick_all(state, 0.0, [&](TermId) { return 0.5 * step_; });
    started_ = true;
  }
  for (double t = static_cast<double>(steps_done_ + 1) * step_; t < t_end;
       t = static_cast<double>(steps_done_ + 1) * step_) {
    for (Index a = 0; a < model_.node_count(); ++a) kick_drift_.drift(state, make_id<NodeId>(a), t);
    assemble(state, t, observer);
    const auto kick_all = [&] {
      for (Index a = 0; a < model_.node_count(); ++a) {
        const auto at_node = static_cast<std::size_t>(a) * d;
        kick_drift_.kick(state, make_id<NodeId>(a), std::span(impulse_).subspan(at_node, d),
                         std::span(load_impulse_).subspan(at_node, d));
      }
    };
    kick_all();
    try {
      dampers_.act(state, t);
    } catch (...) {  // the kicks are taken back
      for (auto* impulses : {&impulse_, &load_impulse_})
        for (double& p : *impulses) p = -p;
      kick_all();
      throw;
    }
    if (observer != nullptr) record_.show(state, t, dampers_, *observer);
    ++steps_done_;
  }
}

Snapshot SyncNewmark::synchronized(const State& state, double t) const {
  const double duration = t - (static_cast<double>(steps_done_) + 0.5) * step_;
  return kick_drift_.synchronized(state, t, started_, [&](TermId) { return duration; });
}

void SyncNewmark::save(ArchiveWriter& archive) const {
  save_model(archive, model_);
  archive.put("started", started_);
  archive.put("step", step_);
  archive.put("steps_done", steps_done_);
}

void SyncNewmark::load(ArchiveReader& archive) {
  bool started = false;
  double step = 0.0;
  Index steps_done = 0;
  require_same_model(archive, model_);
  archive.get("started", started);
  archive.get("step", step);
  if (step != step_) throw InputError("the checkpoint was written with another time step. Use the same case.");
  archive.get("steps_done", steps_done);
  started_ = started;
  steps_done_ = steps_done;
}

}  // namespace tempi
