// SPDX-License-Identifier: Apache-2.0
// Explicit asynchronous variational integrator on a lattice of ticks: the algorithm of avi_explicit.hpp (Lew, Marsden,
// Ortiz, West (2004), Fig. 7 and section 4.6) for steps that are whole multiples m_K of one tick. The fast engine.
//
//   at tick s, t = s tick, for all K with m_K | s together:
//     x_a += v_a (t - tau_a), tau_a = t for their nodes;  then  v_a -= m_K tick dV_K/dx_a / m_a
//
// Neighbours may keep steps such as 7 and 9 ticks: no ratio need be whole. With all m_K = 1 it is explicit Newmark in
// leapfrog form, or another rule of its family (LatticeOptions::ahead). An instant has phases, each in a file of its
// own: nodes drift (lattice_nodes.hpp), terms strike (lattice_strikes.hpp; lattice_watch.hpp where somebody looks),
// loads act (lattice_loads.hpp), supports settle (lattice_supports.hpp), dampers act (lattice_dampers.hpp). Between
// ticks, and at them, layers of contact act (lattice_contact.hpp), in windows of time that are run again until nobody
// is missed. Coupled mollified the kicks of an instant are those of lattice_mollifier.hpp: another method of order 2,
// as symplectic, with a far smaller error where steps change. The bits do not depend on the number of threads; they
// depend on the width of the machine's vector instructions. Order 2, those other rules 1.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/kick_drift.hpp"
#include "tempi/integrator/lattice/lattice_contact.hpp"
#include "tempi/integrator/lattice/lattice_dampers.hpp"
#include "tempi/integrator/lattice/lattice_groups.hpp"
#include "tempi/integrator/lattice/lattice_loads.hpp"
#include "tempi/integrator/lattice/lattice_mollifier.hpp"
#include "tempi/integrator/lattice/lattice_nodes.hpp"
#include "tempi/integrator/lattice/lattice_strikes.hpp"
#include "tempi/integrator/lattice/lattice_supports.hpp"
#include "tempi/integrator/lattice/lattice_watch.hpp"

namespace tempi {

struct LatticeOptions {
  int threads = 1;
  // The part of each step that must stay within its term's own stable step as the term deforms. Below 1 for a
  // synchronous step chosen by the assembled limit, which may exceed that of single terms; 0: never looked after.
  double rechecked = 1.0;
  Coupling coupling = Coupling::plain;
  double window = 0.0;  // where there are layers of contact, how long windows are [ticks]; 0: as costs have it
  // The part of its step by which every term kicks at the start. 1/2 is Newmark's. With steps that are all alike others
  // are what trapezoidal_action(1 - ahead) asks for (2004 paper, eqs (16)-(18)), of order 1; 1 and 0 are symplectic
  // Euler. For models without layers of contact, and dampers, which those rules take otherwise.
  double ahead = 0.5;
  std::string_view name = {};  // of the method, where it is neither avi nor newmark; must outlive the integrator
};

class AviLattice final : public Integrator {
 public:
  // `lattice`: one step per term, each below its term's stable step. `model` must outlive the integrator.
  AviLattice(const Model& model, TickLattice lattice, LatticeOptions options = {});

  std::string_view name() const override { return !name_.empty() ? name_ : synchronous_ ? "newmark" : "avi"; }
  Claims claims() const override {
    const bool centred = ahead_ == 0.5;
    return {centred ? 2.0 : 1.0,    Conservation::exact, Conservation::exact, Conservation::bounded, true,
            synchronous_ && centred};
  }
  Snapshot synchronized(const State& state, double t) const override;
  double step(TermId term) const override { return lattice_.tick * ticks(term); }
  Index updates(TermId term) const override { return now_ / ticks(term); }
  Measures measures() const override;
  void save(ArchiveWriter& archive) const override;
  void load(ArchiveReader& archive) override;

  const TickLattice& lattice() const { return lattice_; }

  // Forgets the run: what has been tried on a copy of the state leaves no trace.
  std::unique_ptr<LatticeWatch> new_watch() const;
  void rewind();

  // -sum_K dV_K/dx of every node at the displacements u [N], without loads and reactions.
  std::vector<double> internal_forces(std::span<const double> u, double t) const;

 private:
  using Vector = std::array<double, 3>;

  using Fine = LatticeContact::Fine;
  struct Kept {  // what takes a window back
    AlignedVector<NodeLine> nodes;
    Ledger loads, damping, constraints;
    std::vector<Ledger> supports;
    std::vector<std::vector<Touch>> memory;
    std::vector<double> ways;
    Index now;
    Fine fine;
  };

  void advance(State& state, double t_end, Observer* observer) override;
  void go(State& state, double t_end, Fine until, Observer* observer);
  void go_in_windows(State& state, double t_end, Observer* observer);
  bool run_window(State& state, double t_end, Fine until, double to, double& went);
  Fine longest_window() const;
  void choose_window(double went, bool whole);
  void try_sharing();
  void note_sharing(double cost);
  void keep(const State& state);
  void go_back(State& state, double to);
  void start(State& state);
  void set_due();
  void act(State& state, Index s, Observer* observer);
  void instant(State& state, double now, double part, Observer* observer);
  bool strike(double t, double part, bool watched, LatticeCorrections* corrections);
  void strike_loads(State& state, double part, LatticeCorrections* corrections);
  void drift(State& state, double now, bool watched);
  void recheck_stability(State& state, double now);
  std::vector<double> displacements() const;
  void strike_back(double t, double part);
  void gather(std::span<const std::size_t> groups, double part);
  std::span<const double> steps(double part);
  [[noreturn]] void fail(State& state, double t, double part);
  void take_back(State& state, double t, double part);
  void announce_dampers(double part);
  void apply_dampers(State& state, double now, bool watched);
  void show(State& state, double now, Observer& observer);
  void add_damping(Snapshot& snapshot, std::span<NodeLine> nodes, std::span<const double> durations,
                   const LatticeStrikes::NodalSums& sums) const;

  std::int32_t ticks(TermId term) const { return lattice_.ticks[ordinal(term)]; }
  const LatticeGroup& group(std::size_t g) const { return plan_.groups[g]; }
  double step(std::size_t g) const { return lattice_.tick * group(g).ticks; }
  template <class Visit>
  void each_acting_line(Visit&& visit);

  const Model& model_;
  TickLattice lattice_;
  double rechecked_, ahead_;
  std::string_view name_;
  bool synchronous_;
  LatticeGroups plan_;
  KickDrift kick_drift_;
  mutable ThreadTeam team_;
  LatticeNodes nodes_;
  LatticeStrikes strikes_;
  mutable LatticeLoads loads_;  // reports evaluate them
  LatticeSupports supports_;
  std::unique_ptr<LatticeMollifier> mollifier_;  // where steps are unequal and it was asked for
  std::unique_ptr<LatticeContact> contact_;      // where the model has layers
  LatticeDampers dampers_;
  std::unique_ptr<LatticeWatch> watch_;  // as soon as somebody looks
  Index now_ = 0;                        // the last tick done
  Fine fine_ = 0;                        // the last instant done; of layers, between ticks
  double asked_window_;                  // [ticks]; 0: as costs have it
  Fine going_ = 0;                       // the instant in hand
  Fine window_;                          // how long windows are; 1: to be chosen
  struct WindowCost {                    // of windows of this length, wall times [s]
    double fixed = 0.0;                  // of searches, and all that windows begin and end with
    double wasted = 0.0;                 // of runs that were taken back
  } cost_;
  struct Sharing {                 // of contact's loops among threads
    bool pays = true;              // as it was found last
    Index windows = 0;             // since it was tried first
    std::array<double, 2> cost{};  // of windows with it and without, while it is tried: wall time over their own
  } sharing_;
  double window_from_ = 0.0;  // where the next begins [ticks]
  std::unique_ptr<Kept> kept_;
  std::vector<Index> due_;           // of each group, its next tick
  std::vector<std::size_t> acting_;  // groups, in the instant in hand
  LatticeStrikes::Together together_;
  std::vector<double> steps_;
  std::vector<Vector> before_;  // by line, velocities before its kicks; where there are dampers
  std::vector<TermId> rechecked_terms_;
  std::vector<double> failed_at_;  // where a group looked when a term of it was not admissible
  bool started_ = false;
};

}  // namespace tempi
