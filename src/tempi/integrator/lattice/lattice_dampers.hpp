// SPDX-License-Identifier: Apache-2.0
// Dampers of a lattice engine, packed: drags on nodes (lattice_drag.hpp), dampers whose elements can be solved one
// by one (force/damping_batch.hpp): the viscosity of cells, dashpots, the stiffness of pairs, contacts with a
// restitution (lattice_impacts.hpp). They act at the middle of the instant's kick,
//
//   v_m = (v- + v_P) / 2;   v_m <- each damper alone, exactly, one after the other;   v+ = v_m + (v_P - v-) / 2
//
// which for a single damper is the equation of dampers.hpp. Several that share nodes are not solved together there but
// in an order, taken forwards or backwards by turns: by the completely multiplicative function of the tick that is the
// character mod 3 and -1 at 3. On the multiples of any number it is the same sequence or its negative, with sums that
// grow as a logarithm at most, so that what two dampers of any two steps owe to their order cancels: order 2 (decision
// 0011). Every damper takes energy, however stiff it is; but where they are stiff together, r = the largest eigenvalue
// of M^-1 sum_K step_K C_K well above 1, one turn each says little of what they do to slow motions. So an instant has
// as many turns as r asks for, each for its part of the steps, both ways. Colour by colour, blocks of a colour on all
// threads; the bits do not depend on their number.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/lattice/damper_forces.hpp"
#include "tempi/integrator/lattice/lattice_drag.hpp"
#include "tempi/integrator/lattice/lattice_groups.hpp"
#include "tempi/integrator/lattice/lattice_impacts.hpp"
#include "tempi/integrator/lattice/lattice_supports.hpp"

namespace tempi {

class LatticeDampers {
 public:
  using Vector = std::array<double, 3>;
  using Memory = LatticeImpacts::Memory;

  // All must outlive it. `tick` [s].
  LatticeDampers(const Model& model, const LatticeGroups& plan, const LatticeSupports& supports, ThreadTeam& team,
                 double tick);

  int turns() const { return turns_; }            // of an instant; 0 before the first
  void begin() { acting_.clear(); }               // a new instant
  void announce(std::size_t group, double step);  // it acts in it
  // Kicks, after everything else of the instant, which is that of tick `now`; `before`: v-, by line. Supports have to
  // settle once more. `keep`: for look_at_works. Throws SolveError (a restitution out of range, a damper without a
  // matrix), and nothing has changed but by rounding.
  void act(double now, std::span<NodeLine> nodes, std::span<const Vector> before, bool keep, Memory& memory,
           Ledger& ledger);

  // What the instant's dampers have done, its nodes' mean velocities being those; then that of those within a term [J],
  // the damped terms of the plan counted in its order.
  void look_at_works(std::span<const NodeMean> means);
  double work(std::size_t damped, TermId term, std::span<const NodeMean> means) const {
    double sum = 0.0;
    for (std::size_t i = first_share_[damped]; i < first_share_[damped + 1]; ++i)
      sum += shares_[i].factor * *shares_[i].work;
    if (impacts_.any()) impacts_.add_work(term, means, sum);
    return sum;
  }

  // For reports (Dampers::report) at t, by line: impulses [N s] when groups act for durations of any sign; `nodes` as
  // they are then, with v- + |durations| (force but for dampers) / m as velocities, which are lost. `memory` is told of
  // their places.
  std::vector<Vector> impulses(double t, std::span<NodeLine> nodes, std::span<const double> duration_of_group,
                               Memory& memory) const;
  // Forces [N] at these places and velocities; masses are lost.
  std::vector<Vector> forces(double t, std::span<NodeLine> nodes, const Memory& memory) const;

 private:
  struct Part : DamperPart {
    std::vector<double> kept, of_turn;  // impulses of the instant, and of one turn of it
    std::vector<double> works;          // of these; where somebody looks
  };
  struct Share {  // of a term in what dampers have done
    double factor;
    const double* work;
  };

  double sweep(const Part& part, const DampingBatch::Sweep& sweep, std::span<NodeLine> nodes,
               std::span<double> kept) const;
  double largest_rate(double now, std::span<const NodeLine> nodes) const;
  void resist(double now, std::span<NodeLine> nodes, bool keep, const Memory& memory, Ledger& ledger);
  void find_shares();
  const std::vector<std::int32_t>& touched();
  std::vector<std::int32_t> lines_of(const ActingGroups& acting) const;

  const Model& model_;
  const LatticeGroups& plan_;
  const LatticeSupports& supports_;
  ThreadTeam& team_;
  double tick_;
  LatticeDrag drag_;
  LatticeImpacts impacts_;
  Memory memory_;  // of the instant in hand
  bool any_parts_ = false;
  int turns_ = 0;                                    // of an instant; 0: not known yet
  std::vector<double> steps_;                        // of each group [s]
  std::vector<std::vector<Part>> parts_;             // of each group
  std::vector<std::vector<std::int32_t>> lines_;     // of each group, those of its damped terms
  ActingGroups acting_;                              // of the instant in hand
  MadeOfActing<std::vector<std::int32_t>> touched_;  // by an instant, in no order
  std::vector<Vector> felt_;                         // by line, the mean velocities of drags; where somebody looks
  std::vector<Vector> half_kick_;                    // by line, (v_P - v-) / 2
  std::vector<std::array<bool, 3>> held_;            // by line; empty without supports
  mutable std::vector<Vector> withheld_;             // by line
  mutable std::vector<double> of_block_;
  mutable std::unique_ptr<DamperForces> forces_;  // made when first wanted
  std::vector<double> drag_power_;        // by line, -felt . mean velocity; as soon as somebody looks, as what follows
  std::vector<Share> shares_;             // by damped term
  std::vector<std::size_t> first_share_;  // of each, and behind the last
};

}  // namespace tempi
