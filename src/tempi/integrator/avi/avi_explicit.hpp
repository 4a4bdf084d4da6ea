// SPDX-License-Identifier: Apache-2.0
// Explicit asynchronous variational integrator on an exact event queue: Lew, Marsden, Ortiz, West (2004), Fig. 7, with
// the starting half step of its section 4.6. The reference engine: slow, obvious, exact.
//
//   at t = j step_K:  x_a += v_a (t - tau_a), tau_a = t, v_a -= step_K dV_K/dx_a / m_a   for all nodes a of K
//
// A sum of terms that come and go is struck term by term, in the order of their keys: all its nodes drift to its times,
// so that a run has the bits of one whose pairs are all terms of the model. Dampers act after the kicks of their
// instant (dampers.hpp). Steps may have any ratio. Momenta are exact, energy stays in a band. Each step must stay below
// the stable step of its term; steps that do not nest can resonate, slowly, from about a third of it (see
// docs/theory.md). Order 2.
#pragma once

#include <array>
#include <vector>

#include "tempi/integrator/avi/strike_record.hpp"
#include "tempi/integrator/dampers.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/kick_drift.hpp"
#include "tempi/model/per_term.hpp"
#include "tempi/schedule/event_loop.hpp"

namespace tempi {

class AviExplicit final : public Integrator, private EventLoop::Source {
 public:
  // `steps`: one per term [s], positive. `model` must outlive the integrator.
  AviExplicit(const Model& model, std::vector<double> steps);

  std::string_view name() const override { return "avi"; }
  Claims claims() const override {
    return {2, Conservation::exact, Conservation::exact, Conservation::bounded, true, false};
  }
  Snapshot synchronized(const State& state, double t) const override;
  double step(TermId term) const override { return steps_[term]; }
  Index updates(TermId term) const override { return updates_[term]; }
  // Of the terms of sums: how many there are, how many came and went, how often they were struck.
  Measures measures() const override;
  void come_back_when(std::function<bool()> enough) override { loop_.coming_back().when(std::move(enough)); }
  void save(ArchiveWriter& archive) const override;
  void load(ArchiveReader& archive) override;

  // The parts of the algorithm, for other orders of events: the starting half kick, the next time of a term, and one
  // update of a term at that time.
  void start(State& state);
  double next_time(TermId term) const;
  void update(State& state, TermId term);

 private:
  void advance(State& state, double t_end, Observer* observer) override;
  double came_back_at() const override { return loop_.coming_back().at(); }
  double predict(const EventLoop::Item& item) override { return next_time(EventLoop::term_of(item)); }
  void act(double t, std::span<const EventLoop::Event> due) override;
  bool acts_together() const override { return observer_ != nullptr || model_.has_dampers(); }
  struct Changes {  // of the terms of sums, over the run
    Index came = 0, went = 0, struck = 0;
  };
  void take_back(State& state);
  double evaluate(const State& state, TermId term, double t);
  void strike(State& state, TermId term);
  void prepare(State& state, TermId term);
  void kick(State& state, TermId term, std::span<const double> p, std::span<const double> q);

  const Model& model_;
  PerTerm<double> steps_;
  PerTerm<Index> updates_;  // of terms of sums: since they came
  Changes changes_;
  bool started_ = false;
  KickDrift kick_drift_;
  Dampers dampers_;
  EventLoop loop_;
  State* state_ = nullptr;        // in hand
  Observer* observer_ = nullptr;  // of the call in hand
  std::vector<double> p_, q_;     // impulses of the term in hand, those of its loads
  SumImpulses of_terms_;          // where it is a sum: of its terms
  std::array<double, 3> no_load_{};
  std::vector<std::size_t> local_;  // of each node of the model its place in the stencil of the sum in hand
  StrikeRecord record_;
};

}  // namespace tempi
