// SPDX-License-Identifier: Apache-2.0
// Asynchronous variational integrator whose steps solve the local equation of energy: Lew, Marsden, Ortiz, West (2004),
// section 6.3, eqs (95)-(99); 2003, section 3.6, eqs (58), (59). The papers describe it and never ran it.
//
//   at t = t_K^j:  x_a += v_a (t - tau_a), tau_a = t, v_a -= (t_K^j - t_K^{j-1}) dV_K/dx_a / m_a   for all nodes a of K
//   t_K^{j+1}:     V_K(x_K(t)) = V_K(x_K^j) + T_K^{j-} - T_K^{j+} - sum_i<j R_K^i,   x_K(t) along the present lines
//
// The last sum is what earlier strikes of K have left over, and not in the papers: it is zero while all find a root,
// and where one did not, the next root pays it back (Residuals::carried; forgotten: as the papers have it).
//
// A kick bends the lines of K's nodes, so K and every term sharing a node with it are solved for anew. Where there is
// no root within the bounds on the step, a term keeps its nominal step (or takes that of the least residual) and is
// solved for again after its neighbours' kicks. The first step is the nominal one, after a starting half kick; the
// impulse of a kick belongs to the interval before it. Strikes at the same time act one after the other, by id, each
// with velocities before and after of its own. Loads belong to V_K by their work, as in diagnostic/energy_residual.hpp.
//
// Why it must be carried (docs/adaption.md has the numbers). The change of the discrete energy is sum_K sum_j R_K^j
// (2004, eq. (100)): strikes with a root add nothing to it, those without all there is. Along a straight line V_K has a
// minimum; where the target lies below it there is no root and R_K > 0 for every step. Forgotten, that heats bodies
// until an element inverts, the sooner the wider the bounds, with 95 % of the strikes solved for and at a twentieth of
// the stable step. Carried, energy drifts 2 to 160 times less there, still more than with fixed steps; at a fifth of
// the stable step wide bounds heat all the same. Smooth motion is no way out: the equation makes h^2 dV_K/dt constant,
// and dV_K/dt changes its sign with every vibration of K. A term alone is the oscillator of the papers' Fig. 17,
// without a solution on the way to its equilibrium. Keeping the nominal step where there is no root heats less than the
// least residual, which leaves fewer roots.
//
// Momenta are exact, whatever the steps are. Order about 1, irregularly: neighbouring steps differ by the bounds' ratio
// however small the nominal ones are. Not symplectic at given times. Not for: anything but experiments; use avi.
#pragma once

#include <vector>

#include "tempi/integrator/avi/strike_record.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/kick_drift.hpp"
#include "tempi/integrator/one_step/step_search.hpp"
#include "tempi/schedule/event_loop.hpp"

namespace tempi {

enum class WithoutRoot { nominal_step, least_residual };
enum class Residuals { carried, forgotten };  // of earlier strikes without a root

class AviAdaptive final : public Integrator, private EventLoop::Source {
 public:
  // `steps`: the nominal ones, one per term [s], positive; their largest multiple must be stable. `model` must outlive
  // the integrator. Throws InputError: bounds out of range, dampers.
  AviAdaptive(const Model& model, std::vector<double> steps, StepBounds bounds = {},
              WithoutRoot without_root = WithoutRoot::nominal_step, Residuals residuals = Residuals::carried);

  std::string_view name() const override { return "avi-adaptive"; }
  Claims claims() const override {
    return {1, Conservation::exact, Conservation::exact, Conservation::none, false, false};
  }
  Snapshot synchronized(const State& state, double t) const override;
  double step(TermId term) const override { return steps_[ordinal(term)]; }  // the nominal one
  Index updates(TermId term) const override { return clocks_[ordinal(term)].updates; }
  void come_back_when(std::function<bool()> enough) override { loop_.coming_back().when(std::move(enough)); }
  void save(ArchiveWriter& archive) const override;
  void load(ArchiveReader& archive) override;

  struct Adaption {
    Index accepted = 0;              // strikes at a root of their term's equation
    Index without_root = 0;          // the others, but for each term's first
    double gain_without_root = 0.0;  // sum of R_K over strikes without a root [J]: what total energy has gained by them
    Index evaluations = 0;           // of R, in the search for roots
    double smallest = 1.0, largest = 1.0;    // steps taken, in multiples of the nominal ones
    double largest_residual_accepted = 0.0;  // what an accepted strike leaves: |R_K|, with what was carried [J]
  };
  const Adaption& adaption() const { return adaption_; }
  Measures measures() const override;
  // sum_j R_K^j of a term [J], eq. (97): of the order of rounding while all its strikes are accepted.
  double accumulated_residual(TermId term) const { return clocks_[ordinal(term)].accumulated; }

 private:
  struct Clock {          // of a term
    double last = 0.0;    // t_K^j [s]
    double next;          // t_K^{j+1} [s]
    double interval;      // t_K^j - t_K^{j-1} [s]
    double target = 0.0;  // V_K(x_K^j) + T_K^{j-} - T_K^{j+} [J]
    double scale = 0.0;   // largest summand of the target [J]
    double accumulated = 0.0;
    Index updates = 0;
    Index solved = 0;  // whether `next` is a root: 0 or 1
  };

  void advance(State& state, double t_end, Observer* observer) override;
  double came_back_at() const override { return loop_.coming_back().at(); }
  double predict(const EventLoop::Item& item) override { return clock(EventLoop::term_of(item)).next; }
  void act(double t, std::span<const EventLoop::Event> due) override;
  void line_bent(NodeId node, double t) override;
  void solve(const State& state, TermId term, double now);
  double residual(const State& state, TermId term, double t);
  double load_work(const State& state, TermId term, std::span<const double> u, std::span<const double> q) const;
  Clock& clock(TermId term) { return clocks_[ordinal(term)]; }

  const Model& model_;
  std::vector<double> steps_;
  StepBounds bounds_;
  WithoutRoot without_root_;
  Residuals residuals_;
  std::vector<Clock> clocks_;
  Adaption adaption_;
  bool started_ = false;
  KickDrift kick_drift_;
  NodeTerms around_;
  EventLoop loop_;
  std::vector<EventLoop::Slot> slots_;  // of each term
  State* state_ = nullptr;              // in hand
  Observer* observer_ = nullptr;        // of the call in hand
  std::vector<double> p_, q_;           // impulses of the term in hand, those of its loads
  std::vector<double> trial_;           // displacements of the term being solved for
  std::vector<Index> seen_;             // the last round in which a term was solved for
  Index round_ = 0;
  Dampers dampers_;  // none: for the record
  StrikeRecord record_;
};

}  // namespace tempi
