// SPDX-License-Identifier: Apache-2.0
// The steps of a case: as its keys have them, as a lattice rounds them, as they were tried; and the integrator that
// takes them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tempi/case/domain_choice.hpp"
#include "tempi/case/step_choice.hpp"
#include "tempi/diagnostic/stability.hpp"
#include "tempi/diagnostic/step_trial.hpp"

namespace tempi {

struct StepPlan {
  std::vector<double> own;           // per term [s], as safety, courant or step and `steps` have them
  std::vector<double> wished;        // per term [s], before a lattice rounds them down: Newmark's are all alike
  std::vector<double> steps;         // per term [s], as they are
  double safety = 0.0;               // largest own step over its term's stable step; 0: one step for all
  std::optional<StepChoice> choice;  // of the lattice; absent on the queue
  std::vector<double> nodal;         // of avi: nodal_stable_steps where it starts; otherwise empty
  std::optional<StepTrial> trial;    // of the chosen lattice; absent where steps are equal or were not tried
  struct WholeTrial {
    StabilityReport report;
    Index run_steps;  // longest steps of the run
    bool grows;       // by more than StepTrial::tolerated_amplitude over the run
  };
  std::optional<WholeTrial> whole;    // of steps that do not nest: the linear motion of the whole model
  double trial_time = 0.0;            // [s] of wall time: choosing and trying the lattice
  std::vector<std::string> resonant;  // choices that were tried before and grew
  std::optional<double> pace;         // [s] of wall time a simulated second takes here, as measured, outputs left out
  Index implicit_terms = 0;           // of avi-implicit
  std::optional<DomainPlan> domains;  // of multi-domain

  double smallest() const;                                        // [s], of the wished: Newmark's
  double difference_spacing() const { return 0.1 * smallest(); }  // [s], for derivatives of prescribed motions
  bool unequal() const;
  bool may_resonate() const;                 // unequal ones on a lattice
  Index newmark_updates(double time) const;  // terms * ceil(time / smallest step)
  Index updates_until(TermId term, double time) const;
};

struct Simulation;

// Fills in `plan` and `integrator` of a simulation that has everything else, and adds to its warnings. Throws
// PlacedError: steps that the method does not take.
void plan_steps(Simulation& simulation, const std::vector<TermsOfOneStep>& together);

}  // namespace tempi
