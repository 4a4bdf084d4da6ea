// SPDX-License-Identifier: Apache-2.0
// The dampers' part of a kick, by the discrete principle of Lagrange and d'Alembert (Lew, Marsden, Ortiz, West 2004,
// section 2.6, eqs. (27), (28)) with the velocity in the middle of the kick. All terms K of one instant together:
//
//   M (v+ - v-) = P - sum_K dt_K C_K(x) w,   w = (v- + v+) / 2
//   =>  (M + 1/2 sum_K dt_K C_K) w = 1/2 M (v- + v_P),   v_P = v- + M^{-1} P: after everything but the dampers
//
// The kinetic energy changes by (P + q) . w exactly, and dampers take -q . w = sum dt_K w . C_K w >= 0 at every step.
// C_K may depend on a memory (Force::remember), which looks at x and (v- + v_P) / 2.
//
// One velocity for the instant, because kicks by dampers that share nodes do not commute: one after the other, always
// in the same order, they would leave an error of first order. The system is that of the nodes of the damped terms that
// act, symmetric and positive definite: conjugate gradients, without a matrix, to rounding. Order 2
// where steps are equal or far apart; where neighbours on an exact queue nearly keep time, each sees velocities between
// the other's kicks for long, and errors fall as h^1.1 to h^2. Times of a queue that differ by rounding are two
// instants.
//
// Steps: the limit of an explicit kick stays that of the undamped model. An oscillator of damping ratio z obeys
//   (1 + z wh) x_{n+1} - (2 - (wh)^2) x_n + (1 - z wh) x_{n-1} = 0,
// whose roots are within the unit circle if and only if wh < 2, whatever z > 0 (with the damping of v- alone, wh < 2
// [sqrt(1 + z^2) - z]). A damper that is stiff, c dt/m > 2, makes the velocity against it change sign at every kick
// with little decay: stable and without meaning; take smaller steps where that motion matters.
#pragma once

#include <span>
#include <vector>

#include "tempi/integrator/kick_drift.hpp"

namespace tempi {

class Dampers {
 public:
  // Both must outlive it.
  Dampers(const Model& model, const KickDrift& kick_drift);

  // A new instant.
  void begin();
  // A term acts in it, for dt [s]; notes the velocities of its nodes: before any kick of the instant. Terms without
  // dampers are passed over.
  void announce(const State& state, TermId term, double dt);
  void withdraw(TermId term);  // it does not act after all
  bool idle() const { return acting_.empty(); }
  std::span<const NodeId> nodes() const { return nodes_; }  // of the terms that act

  // Kicks the nodes at time t, after all other kicks of the instant; books what dampers have done. Throws SolveError
  // where conjugate gradients fail: the dampers are too stiff for the step.
  void act(State& state, double t);

  // The same from an estimate of v+ for reports, when terms act for durations of any sign: (M + sum |dt_K| C_K) w =
  // M v- + `ahead`, `ahead` = sum |dt_K| (force but for dampers) [N s], dim components a node; then
  // M (v+ - v-) = P - sum dt_K C_K w. Of the same order, and bounded however stiff the dampers are.
  void report(State& state, double t, std::span<const double> ahead);

  // Of a term in the last instant: the impulses of its dampers [N s], dim components a stencil node; empty without.
  std::span<const double> impulses(TermId term) const;

 private:
  struct Acting {
    TermId term;
    double dt;
  };
  template <class Visit>
  void each_component(Visit&& visit) const;
  bool is_held(std::size_t i) const;
  void remember(const State& state, std::span<const double> v);
  std::span<double> of(TermId term);
  void find_mean(const State& state, double t, double part);
  void add_resistance(const State& state, double t, double part, const std::vector<double>& v,
                      std::vector<double>& sum);
  void kick(State& state, double t);

  const Model& model_;
  const KickDrift& kick_drift_;
  std::vector<Acting> acting_;
  std::vector<NodeId> nodes_;
  std::vector<char> enlisted_;                        // by node
  std::vector<double> before_;                        // v-, as all below dim components a node
  std::vector<double> mean_;                          // w
  std::vector<double> impulse_;                       // q
  KickDrift::Memory memory_;                          // of the instant in hand
  std::vector<double> residual_, direction_, image_;  // of conjugate gradients
  std::vector<double> of_term_;                       // q by Model::force_slot, of those that act
  std::vector<double> local_;
};

}  // namespace tempi
