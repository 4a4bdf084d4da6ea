// SPDX-License-Identifier: Apache-2.0
// What every integrator offers: it turns forces into kicks (momentum changes) and drifts (positions move), says what
// it keeps, and can stop and go on without a trace.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tempi/model/state.hpp"

namespace tempi {

enum class Conservation { exact, bounded, none };

// What a method keeps on a free, frame-indifferent model; tests hold every integrator to it.
struct Claims {
  double order;  // of positions and reported velocities in time; of methods without steps in their energy step
  Conservation linear_momentum, angular_momentum, energy;
  bool symplectic, reversible;
};

// One term striking its nodes at time t = update * step. Strikes at the same time are one event: velocities "before"
// and "after" are those before and after all of them, which is the mean of the limits from either order (Lew, Marsden,
// Ortiz, West 2004, below eq. (46), leaves coincident times to limits).
struct Strike {
  TermId term;
  Index update;             // j >= 1
  double time, step;        // [s]
  double kinetic_before;    // T^-: sum over its nodes of m_a |v_a|^2 / 2 with total nodal masses [J], eq. (98)
  double kinetic_change;    // T^+ - T^- due to this term: its impulses times the mean of both velocities [J]
  double damping_work;      // the part of it that is due to dampers within the term [J]
  double potential_energy;  // V_K at its strike [J]
  std::span<const double>
      load_impulses;   // of the loads within the term [N s], dim components a stencil node; may be empty
  const State& state;  // displacements of the term's nodes are those of `time`
};

// Strikes of terms that act together, as fast engines show them: figures of Strike, a place each.
struct Strikes {
  std::span<const TermId> terms;
  Index place;   // of the first in the engine's own order, always the same; rows of 16 places begin with `place`
  Index update;  // j >= 1
  double time, step;
  std::span<const double> kinetic_before, kinetic_change, damping_work, potential_energy;
  std::span<const double> load_work;  // of the loads' forces now on the way since the term's last strike [J]
};

// Sees every strike, after it; must not change the run.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_strike(const Strike& strike) = 0;

  // Whether it takes strikes together where an engine has them so; then threads call on_strikes at the same time, for
  // different terms. Before it shows any, an engine says how many places it has: some are nobody's.
  virtual bool takes_strikes_together() const { return false; }
  virtual void make_room(Index /*places*/) {}
  virtual void on_strikes(const Strikes& /*strikes*/) {}
};

// What a section of layered contact does at an instant.
struct ContactNow {
  double force = 0.0;                // sum of the magnitudes between pairs [N]
  std::array<double, 3> on_first{};  // on what is of the first side alone [N]; where all is of both, from rigid things
  double distance = 0.0;             // the smallest [m], or that from which the first layer pushes
  Index layers = 0, pairs = 0;       // most that anybody touches; pairs that push
};

// A state brought to one time for output.
struct Snapshot {
  double time;
  State state;                // all clocks at `time`; velocities of second order
  std::vector<double> force;  // internal, external and of constraints, without support reactions [N], dim a node
  double potential_energy;    // sum V_K [J], from V(I) = 0
  std::vector<ContactNow> contact{};  // of the model's layers, in their order
  bool admissible = true;  // whether every term is, there (Potential::add_gradient): det F > 0, particles apart
};

class Integrator {
 public:
  virtual ~Integrator() = default;

  virtual std::string_view name() const = 0;
  virtual Claims claims() const = 0;

  // Performs every update at a time < t_end. advance_to(a); advance_to(b) gives the bits of advance_to(b).
  // Throws SolveError: an element inverted, particles that meet, a position not finite, a step that has become unsafe
  // (term, time, J or steps, what to try); nothing has been kicked then by the offending update and no update counted:
  // velocities are those of the moment before it (on a lattice to rounding, and but for nodes that met a NaN), nodes it
  // touches may have drifted to its time. Returns t_end, or the earlier time [s] from which it came back.
  double advance_to(State& state, double t_end) {
    advance(state, t_end, nullptr);
    return std::min(t_end, came_back_at());
  }
  double advance_to(State& state, double t_end, Observer& observer) {
    advance(state, t_end, &observer);
    return std::min(t_end, came_back_at());
  }

  // Methods that go from event to event, between which hardly any time may pass, ask every few of them, and where told
  // to, come back from advance_to as if it had been asked for the time they have got to.
  virtual void come_back_when(std::function<bool()> /*enough*/) {}

  // Every node drifted to time t >= all clocks, velocities v + sum_K (t - (j_K + 1/2) step_K) (-dV_K/dx) / m at the
  // drifted positions, j_K updates so far. A copy: the run does not notice. Cost: one force evaluation of all terms;
  // synchronous methods other than newmark make a shorter step instead, with a solve where they are implicit.
  virtual Snapshot synchronized(const State& state, double t) const = 0;

  virtual double step(TermId term) const = 0;    // [s]; the nominal one of methods that choose their steps
  virtual Index updates(TermId term) const = 0;  // so far

  // How far T + V of its states may be from what it keeps [J]: the energy steps of methods that keep a terrace's
  // energy.
  virtual double energy_resolution() const { return 0.0; }

  // What else the method has counted or measured of the run so far, by name, for its summary.
  using Measures = std::vector<std::pair<std::string, double>>;
  virtual Measures measures() const { return {}; }

  // How long steps were so far, of methods that find them: counts[i] lasted from edges[i] to edges[i + 1] [s].
  struct StepHistogram {
    std::string of;
    std::vector<double> edges;
    std::vector<Index> counts;
  };
  virtual std::vector<StepHistogram> step_histograms() const { return {}; }

  // Threads for what can use them; results do not depend on their number.
  virtual void use_threads(int /*threads*/) {}

  // Where a term acts when its nodes are at displacements u: moves those of the term there. Implicit asynchronous
  // methods only; stresses and energies of such terms belong to these places.
  virtual void act_at(TermId /*term*/, std::span<double> /*u*/) const {}

  virtual void save(ArchiveWriter& archive) const = 0;
  virtual void load(ArchiveReader& archive) = 0;  // into an integrator made with the same model and steps

 private:
  virtual void advance(State& state, double t_end, Observer* observer) = 0;
  virtual double came_back_at() const { return std::numeric_limits<double>::infinity(); }
};

}  // namespace tempi
