// SPDX-License-Identifier: Apache-2.0
// Looks after a run on a lattice of unequal steps: growth of the smallest scales is noticed where a sample is taken
// anyway, and told from other causes by trying the steps about the configuration reached.
//
// The energy of the smallest scales at a sample, from the forces f_a on nodes and their stable steps 2/omega_a:
//
//   e = sum_a |f_a|^2 / (2 m_a omega_a^2)
//
// what nodes displaced one by one would hold. Smooth motion of frequency omega has (omega / omega_a)^2 of its energy
// in it; a resonance doubles it again and again. A pass over the nodes a sample; no cost an update.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tempi/diagnostic/step_trial.hpp"
#include "tempi/integrator/integrator.hpp"

namespace tempi {

class ResonanceGuard {
 public:
  // `nodal`: nodal_stable_steps where the run starts; `run_price`: what its updates take [s of one core], counted as in
  // TrialOptions. Looks cost at most a fifth of that or 0.03 s. All must outlive the guard.
  ResonanceGuard(const Model& model, const TickLattice& lattice, Coupling coupling, std::span<const double> nodal,
                 double run_price, int threads);

  // After each sample; `reference`: the energy that counts as much [J] (E_ref of Balance), `time_left` [s] of the run.
  // Throws StepError where the smallest scales have grown tenfold, to a thousandth of the reference or more, and the
  // steps are found to resonate. Tried again only where both their energy and its share of the reference have grown
  // fourfold (a share above a quarter counts as grown): a load that sets in lifts the reference with it.
  void look(const Snapshot& snapshot, double reference, double time_left);

  // Whether the steps resonate about the last sample: for the message of a run that failed. Empty if not.
  std::string verdict(double time_left) const;

  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);  // of the same run

 private:
  TrialOptions closer() const;
  std::string verdict(double time_left, TrialOptions options) const;
  bool exceeds_own_limit(NodeId node) const;

  const Model& model_;
  const TickLattice& lattice_;
  Coupling coupling_;
  std::span<const double> nodal_;
  double run_price_;
  int threads_;
  std::vector<double> displacement_, of_nodes_;  // of the last sample; energies of its nodes
  double least_ = 0.0, looked_at_ = 0.0;  // energies of the smallest scales [J]: the least seen, the last one tried
  double share_looked_at_ = 0.0;          // of the reference
  bool first_ = true;
};

}  // namespace tempi
