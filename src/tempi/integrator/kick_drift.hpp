// SPDX-License-Identifier: Apache-2.0
// Kicks and drifts of single nodes, with supports and ledgers: what explicit integrators are made of.
//
//   drift: x_a += v_a (t - tau_a)      kick: v_a += p_a / m_a      p_K = -step_K dV_K/dx + loads
//
// A supported component does not drift and is not kicked: it follows its prescribed motion, and what that takes is
// booked as the support's impulse, moment and work.
#pragma once

#include <functional>
#include <span>

#include "tempi/integrator/avi/sum_impulses.hpp"
#include "tempi/integrator/integrator.hpp"

namespace tempi {

// Who keeps the model's constraints: nobody, or the integrator that kicks and drifts its nodes.
enum class ConstraintsKept { none, by_the_integrator };

// How a sum of terms that come and go is struck: as one, or its terms one by one, in the order of their keys, with the
// bits of terms that are always there.
enum class SumsStruck { as_one, by_terms };

// Layers of contact have steps of their own: nobody strikes them, or the integrator does, itself.
enum class LayersStruck { none, by_the_integrator };

class KickDrift {
 public:
  using Memory = std::vector<std::vector<Touch>>;  // State::memory

  // `delta` [s]: spacing of the time differences of prescribed motions; a small part of the smallest step.
  // Throws InputError when the model has constraints or layers of contact and nobody keeps or strikes them.
  KickDrift(const Model& model, double delta, ConstraintsKept kept = ConstraintsKept::none,
            SumsStruck sums = SumsStruck::as_one, LayersStruck layers = LayersStruck::none);

  // Moves node `a` to time t.
  void drift(State& state, NodeId a, double t) const {
    double& clock = state.clock[ordinal(a)];
    if (clock == t) return;
    if (model_.supports().holds(a)) {
      follow_support(state, a, t);
    } else {
      const double elapsed = t - clock;
      const auto i = static_cast<std::size_t>(index(a) * model_.dim());
      for (std::size_t c = i; c < i + static_cast<std::size_t>(model_.dim()); ++c)
        state.displacement[c] += state.velocity[c] * elapsed;
    }
    clock = t;
  }

  // The sum whose terms are to be struck one by one: null for other terms, and where forces act within it.
  const ManyBodySum* struck_by_terms(TermId term) const {
    if (sums_ == SumsStruck::as_one || !model_.forces_within(term).empty()) return nullptr;
    return model_.term(term).potential->as_sum();
  }

  // Impulses [N s] of a term and the loads within it: p = dt * (-dV/dx + loads), q: the loads' part. Overwrites both.
  // Returns the admissibility of Potential::add_gradient.
  double impulses(TermId term, std::span<const double> u, std::span<const double> v, double t, double dt,
                  std::span<double> p, std::span<double> q) const;

  // The loads' part alone.
  void load_impulses(TermId term, std::span<const double> u, std::span<const double> v, double t, double dt,
                     std::span<double> q) const;
  // Impulses [N s] of the dampers within a term at the velocities v, which the others know nothing of, given
  // State::memory. Overwrites q.
  void damping_impulses(TermId term, std::span<const double> u, std::span<const double> v, const Memory& memory,
                        double t, double dt, std::span<double> q) const;
  // The dampers within a term act at state.displacement and the velocities v (none: they are only to know where):
  // changes what they remember, and tells whether any has something to do.
  bool remember(const State& state, TermId term, std::span<const double> v, Memory& memory) const;

  // Books the impulse q on node `a`, and its moment, in a ledger of `state`.
  void book(Ledger& ledger, const State& state, NodeId a, std::span<const double> q) const;

  // Gives node `a` the impulse p, of which q comes from loads; books the loads' impulse and moment, and what supports
  // do.
  void kick(State& state, NodeId a, std::span<const double> p, std::span<const double> q) const {
    if (model_.has_forces() || model_.supports().holds(a)) {
      kick_and_book(state, a, p, q);
      return;
    }
    const double inverse_mass = inverse_mass_[ordinal(a)];
    double* v = &state.velocity[static_cast<std::size_t>(index(a) * model_.dim())];
    for (std::size_t c = 0; c < p.size(); ++c) v[c] += p[c] * inverse_mass;
  }

  // Books the work of the loads within a term since it last acted, by the trapezium rule along its nodes' way:
  // exact for constant dead loads. `q`: their impulses for the duration dt, at the present positions.
  void book_load_work(State& state, TermId term, std::span<const double> q, double dt) const;

  // Gives every term a kick of duration `duration(term)` at the present positions, all clocks at t: an instant of a
  // run, as the starting half kicks, or a report of velocities at t, with durations of any sign. Returns the nodal
  // forces without dampers. In a run throws SolveError where a term is not admissible, before anything is kicked; in a
  // report tells so.
  enum class Purpose { run, report };
  std::vector<double> kick_all(State& state, double t, const std::function<double(TermId)>& duration,
                               Purpose purpose = Purpose::run, bool* admissible = nullptr) const;

  // A copy of `state` for output, drifted to t, each term's kick brought to t by `duration(term)`; 0 before the start.
  Snapshot synchronized(const State& state, double t, bool started,
                        const std::function<double(TermId)>& duration) const;

  // Places supported components where their motion has them at t = 0, and begins the way of the loads there.
  void start(State& state) const;

  // Throws StepError unless `admissibility`, of the displacements u, is a positive finite number.
  void require_admissible(TermId term, std::span<const double> u, double admissibility, double t) const;
  // Throws StepError when `step` exceeds the term's stable step at the present deformation.
  void require_stable(TermId term, const State& state, double step, double t) const;

 private:
  std::span<double> at(std::vector<double>& values, NodeId a) const {
    const auto d = static_cast<std::size_t>(model_.dim());
    return std::span(values).subspan(ordinal(a) * d, d);
  }
  std::array<double, 3> position(const State& state, NodeId a) const;
  enum class Kind { load, damper };
  void force_impulses(Kind kind, TermId term, std::span<const double> u, std::span<const double> v,
                      const Memory& memory, double t, double dt, std::span<double> q) const;
  void add_resistance(const HostedForce& h, std::span<const double> v, std::span<const Touch> memory, double dt,
                      std::span<double> q) const;
  void add_damping_forces(Snapshot& snapshot) const;
  void follow_support(State& state, NodeId a, double t) const;
  void kick_and_book(State& state, NodeId a, std::span<const double> p, std::span<const double> q) const;

  const Model& model_;
  double delta_;
  SumsStruck sums_;
  std::vector<double> inverse_mass_;
};

// How many updates pass between two checks of a term's stable step.
inline constexpr Index updates_between_stability_checks = 64;

}  // namespace tempi
