// SPDX-License-Identifier: Apache-2.0
// Energy-stepping and asynchronous energy-stepping: Gonzalez (2011), chapters 2 and 4. Each subdomain's potential
// energy is replaced by a terrace, V_h = h floor(V / h), whose trajectories are known: straight flights between level
// sets, and at a level set, with n = dV/dx (pointing uphill, of any length) and m_n = n . M^-1 n,
//
//   v += lambda M^-1 n,   lambda = -2 (v.n) / m_n                                           where (v.n)^2 <= 2 dE m_n
//                         lambda = (-v.n + sign(dE) sqrt((v.n)^2 - 2 dE m_n)) / m_n         otherwise
//
// dE = h uphill, -h downhill: eqs. (2.35), (2.36), (4.31), (4.32), without their misprints (n is uphill, not "in the
// direction of advance"; the sign of (4.30); M^-1 is the assembled mass's, held components count as infinitely heavy).
// The level is an integer, so T + sum_i k_i h_i is kept to rounding for ever however well roots are found, and T + V
// within [0, sum_i h_i) of it; momenta are exact where the V_i have the symmetry; symplectic and reversible between
// grazing events. One subdomain is energy-stepping. Several, each with its own events, are the asynchronous method:
// after an event only those search anew that share a component that has changed. Walls are steps of infinite height,
// met where a node first reaches them, eq. (2.92): lambda as in reflection, with the wall's normal for n.
//
// There is no step and no solve, and one thread. An event costs one gradient and some four evaluations of V along a
// flight (level_search.hpp); the larger h, the fewer events. Errors fall as sqrt(h). When not to use it: where energy
// is put in or taken out (loads, dampers, moving supports are refused: they have no potential; constant gravity is one,
// as the potential uniform-field), where accuracy per cost is all that counts, or where motions start across the
// forces, v . n = 0: convergence wants levels crossed transversally (definition 2.4.1, example 2.4.3); where V is
// convex along the flight such a motion is reflected by the level above, comes back to where V was, and so for ever,
// however small h is.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tempi/contact/wall.hpp"
#include "tempi/core/compensated_sum.hpp"
#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/kick_drift.hpp"
#include "tempi/integrator/lattice/batch_forces.hpp"
#include "tempi/integrator/stepping/level_search.hpp"
#include "tempi/integrator/stepping/step_counts.hpp"
#include "tempi/schedule/event_loop.hpp"

namespace tempi {

// Which terms step together, and by how much.
struct Subdomains {
  std::vector<std::int32_t> of_term;  // from 0
  std::vector<double> energy_step;    // h of each [J], > 0
};
Subdomains one_subdomain(const Model& model, double energy_step);

// A wall, `checked`, that no node of these goes beyond.
struct HardWall {
  Wall wall;
  std::vector<NodeId> nodes;
};

class SteppingEnergy final : public Integrator, private EventLoop::Source {
 public:
  // `nominal` [s]: what step() tells before anything has happened, one a term. `model` must outlive the integrator.
  // Throws InputError: an energy step that is not positive; constraints, loads, dampers, supports that move; sums that
  // have no shortest_length().
  SteppingEnergy(const Model& model, Subdomains subdomains, std::vector<double> nominal,
                 std::vector<HardWall> walls = {});
  ~SteppingEnergy() override;

  std::string_view name() const override;
  Claims claims() const override;
  Snapshot synchronized(const State& state, double t) const override;
  double step(TermId term) const override;  // mean time between its subdomain's events so far
  Index updates(TermId term) const override;
  double energy_resolution() const override;  // sum_i h_i
  Measures measures() const override;
  std::vector<StepHistogram> step_histograms() const override;  // of each subdomain, or of more than 16 together
  void use_threads(int threads) override;
  void come_back_when(std::function<bool()> enough) override { loop_.coming_back().when(std::move(enough)); }
  void save(ArchiveWriter& archive) const override;
  void load(ArchiveReader& archive) override;

  // What a subdomain has met so far.
  struct Events {
    Index uphill = 0, downhill = 0, reflected = 0;
    double shortest = std::numeric_limits<double>::infinity(), longest = 0.0,
           last = 0.0;  // between two [s]; the last's time
    Index all() const { return uphill + downhill + reflected; }
  };
  Index subdomain_count() const;
  Index subdomain_of(TermId term) const { return of_term_[ordinal(term)]; }
  const Events& events(Index subdomain) const;
  std::int64_t level(Index subdomain) const;  // k: its V_h is k h
  double energy_step(Index subdomain) const;  // h [J]

  // T + sum_i k_i h_i [J] as it was at the start; what the velocities have strayed from it since, by rounding.
  double stepped_energy() const { return start_energy_; }
  double level_error() const;

  // Called at each event, for those who look: subdomain, time, dE as it was met [J] (0: reflected).
  using Witness = std::function<void(Index subdomain, double t, double jump)>;
  void set_witness(Witness witness) { witness_ = std::move(witness); }

 private:
  struct Part;
  struct WallPart {
    HardWall hard;
    std::vector<std::vector<std::int32_t>> parts, walls;  // of each node, whose flights lean on it
    EventLoop::Slot slot = 0;
    std::size_t next = 0;  // of the nodes, which reaches it
    Index hits = 0, at_once = 0;
    double last = 0.0;  // hit [s]
  };
  void advance(State& state, double t_end, Observer* observer) override;
  double came_back_at() const override { return loop_.coming_back().at(); }
  double predict(const EventLoop::Item& item) override;
  void act(double t, std::span<const EventLoop::Event> due) override;
  void start(State& state);
  void strike(Part& part, double t);
  std::string why_no_time_passes(const Part& part, double t) const;
  void hit(WallPart& wall, double t);
  void start_anew(Part& part, double t);  // predict_anew() once all are told
  void predict_anew();
  Gap gap_of(const WallPart& wall, NodeId node) const;
  std::array<double, 3> place_of(NodeId node) const;
  template <std::size_t d>
  void kick(NodeId node, const std::array<double, d>& impulse);

  const Model& model_;
  std::unique_ptr<ThreadTeam> team_;
  KickDrift kick_drift_;
  std::vector<double> nominal_, inverse_mass_;  // one a term; one a component, 0 where held
  std::vector<std::int32_t> of_term_;
  std::vector<Part> parts_;
  std::vector<WallPart> walls_;
  EventLoop loop_;
  ThreadTeam alone_{1};
  std::vector<Part*> anew_;  // whose flights begin anew at this instant
  std::vector<EventLoop::Slot> slots_;
  State* state_ = nullptr;  // in hand
  bool started_ = false;
  double start_energy_ = 0.0;
  CompensatedSum strayed_;                      // change of T + sum k h [J]
  std::vector<StepCounts> steps_;               // of each subdomain, or of all
  mutable std::unique_ptr<BatchForces> looks_;  // of snapshots, as soon as there is one
  Witness witness_;
};

}  // namespace tempi
