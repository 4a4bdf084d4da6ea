// SPDX-License-Identifier: Apache-2.0
// Explicit asynchronous variational integrator on a lattice of ticks: the algorithm of avi_explicit.hpp (Lew, Marsden,
// Ortiz, West (2004), Fig. 7 and section 4.6) for steps that are whole multiples m_K of one tick. The fast engine.
//
//   at tick s, t = s tick, for all K with m_K | s together:
//     x_a += v_a (t - tau_a), tau_a = t for their nodes;  then  v_a -= m_K tick dV_K/dx_a / m_a
//
// Neighbours may keep steps such as 7 and 9 ticks: no ratio need be whole. With all m_K = 1 it is explicit Newmark in
// leapfrog form. Loads and supports act after the strikes of their tick, then dampers (dampers.hpp), on one thread and
// term by term. The bits do not depend on the number of threads; they depend on the width of the machine's vector
// instructions. Order 2.
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/avi/lattice_groups.hpp"
#include "tempi/integrator/dampers.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/kick_drift.hpp"

namespace tempi {

struct LatticeOptions {
  int threads = 1;
  // The part of each step that must stay within its term's own stable step as the term deforms. Below 1 for a
  // synchronous step chosen by the assembled limit, which may exceed that of single terms; 0: never looked after.
  double rechecked = 1.0;
};

class AviLattice final : public Integrator {
 public:
  // `lattice`: one step per term, each below its term's stable step. `model` must outlive the integrator.
  AviLattice(const Model& model, TickLattice lattice, LatticeOptions options = {});

  std::string_view name() const override { return synchronous_ ? "newmark" : "avi"; }
  Claims claims() const override {
    return {2, Conservation::exact, Conservation::exact, Conservation::bounded, true, synchronous_};
  }
  Snapshot synchronized(const State& state, double t) const override;
  double step(TermId term) const override { return lattice_.tick * ticks(term); }
  Index updates(TermId term) const override { return now_ / ticks(term); }
  void save(ArchiveWriter& archive) const override;
  void load(ArchiveReader& archive) override;

  const TickLattice& lattice() const { return lattice_; }

  // Wall time [s] of drifting every node and striking every term once, dampers left out, as measured here and now: what
  // predictions of a run's time are scaled by. Changes nothing of the run.
  double time_of_pass(const State& state);

  // -sum_K dV_K/dx of every node at the displacements u [N], without loads and reactions.
  std::vector<double> internal_forces(std::span<const double> u, double t) const;

 private:
  void advance(State& state, double t_end, Observer* observer) override;
  void set_due();
  void act(State& state, Index s, Observer* observer);
  void drift(State& state, const LatticeGroup& group, Index s);
  template <class Item>
  void each_block(const LatticePart& part, Item&& item) const;
  bool strike(const LatticeGroup& group, double step, double t, std::span<NodeLine> nodes) const;
  void recheck_stability(State& state, const LatticeGroup& group, Index update, double t);
  [[noreturn]] void fail(State& state, double t);
  void evaluate_loads(State& state, const LatticeGroup& group, double t);
  void apply_loads(State& state, const LatticeGroup& group, double sign);
  void take_back(State& state, double t);
  std::span<double> load_impulses(TermId term);
  void settle_supports(State& state, const LatticeGroup& group);
  void announce_dampers(State& state);
  void apply_dampers(State& state, double t);
  void measure(const LatticeGroup& group, double t);
  void show(const State& state, Index s, Observer& observer);

  std::int32_t ticks(TermId term) const { return lattice_.ticks[ordinal(term)]; }
  double step(const LatticeGroup& group) const { return lattice_.tick * group.ticks; }
  NodeLine& line(NodeId a) { return lines_[static_cast<std::size_t>(plan_.line_of_node[ordinal(a)])]; }
  void to_lines(const State& state);
  void to_line(const State& state, NodeId a);
  AlignedVector<NodeLine> lines_at(std::span<const double> u) const;
  template <class Duration>
  std::vector<double> impulses(std::span<NodeLine> nodes, double t, Duration&& duration) const;
  double potential_energy(std::span<const NodeLine> nodes, double t) const;
  void add_loads(Snapshot& snapshot, std::span<double> impulse, std::span<double> load_impulse) const;
  void to_state(State& state);
  void to_state(State& state, NodeId a);
  void to_state(State& state, TermId term);
  template <class Visit>
  void each_line(const LatticeGroup& group, Visit&& visit);

  const Model& model_;
  TickLattice lattice_;
  double rechecked_;
  bool synchronous_;
  LatticeGroups plan_;
  KickDrift kick_drift_;
  Dampers dampers_;
  mutable ThreadTeam team_;
  AlignedVector<NodeLine> lines_;
  Index now_ = 0;           // the last tick done
  std::vector<Index> due_;  // of each group, its next tick
  std::vector<const LatticeGroup*> acting_;
  std::vector<TermId> rechecked_terms_;
  bool started_ = false;
  std::vector<double> p_, q_;  // impulses of the term in hand, those of its loads

  // For observers, of the tick in hand: by line the velocities before it, by term of the acting groups V_K and dV_K/dx,
  // by force slot the impulses of loads.
  std::vector<std::array<double, 3>> before_;
  std::vector<double> energies_, gradients_, load_impulses_;
};

}  // namespace tempi
