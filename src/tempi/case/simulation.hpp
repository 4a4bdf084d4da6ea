// SPDX-License-Identifier: Apache-2.0
// A case brought to life: mesh, model, starting state, steps and integrator, ready to run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tempi/case/body.hpp"
#include "tempi/case/case_file.hpp"
#include "tempi/case/output_plan.hpp"
#include "tempi/case/probe_choice.hpp"
#include "tempi/case/step_plan.hpp"
#include "tempi/element/path_integral.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/model/state.hpp"

namespace tempi {

struct EarlierTry {  // of a run whose steps proved too large
  double safety;
  double time;  // [s], when it showed
  std::string message;
};

struct FirstSteps {
  std::optional<double> pace;  // wall time a simulated second takes here [s]; absent where a step has failed
  State state;                 // where they end
  double time;                 // [s]
};

struct Simulation {
  CaseFile input;
  Body body;
  std::unique_ptr<Model> model;
  State state;  // at t = 0
  StepPlan plan;
  std::unique_ptr<Integrator> integrator;
  std::vector<Probe> probes;
  std::vector<PathIntegral> path_integrals;
  OutputPlan outputs;
  int threads = 1;
  double start_time = 0.0;            // wall time of building it [s]
  std::vector<std::string> warnings;  // for every run
  std::vector<std::string> notes;     // for `tempi check`: settings without effect
  std::vector<EarlierTry> tries;      // with larger steps

  bool has_particles() const { return input.particles.has_value(); }
  bool only_particles() const { return input.only_particles(); }
  // Whether a ledger of kinetic energy is kept (EnergyResidual::unbooked); pushes of layers are not shown to it.
  bool books_every_strike() const { return input.integrator.residual && model->layers().empty(); }

  // 2/omega_max of the assembled model where it starts [s]; cost: some 200 force evaluations.
  double assembled_limit() const;
  StepWish step_wish(std::vector<double> of) const;  // what a lattice is chosen for, watched or not
  std::vector<double> costs_per_update() const;      // typical time of an update of each term [ns]
  // A few of the longest steps of a copy of the state, with everything the case has but outputs, in pieces as they will
  // ask for. `on`: an integrator that has not begun, which has then.
  FirstSteps first_steps(Integrator& on) const;
  double time_factor() const;                         // wall time here over typical costs [s/ns]
  double predicted_time(const StepChoice& of) const;  // wall time of the run's updates [s]

  // Whether steps on a lattice grow over the run, tried where it starts: at this price [s], or a little.
  StepTrial try_lattice(const Model& of, const TickLattice& lattice, Coupling coupling, double price) const;
  std::vector<double> nodal(const Model& of) const;  // nodal_stable_steps where it starts

  std::string describe_trial(const StepTrial& of) const;  // "no growth at ...", "grows by ..."
  std::string caution() const;  // what to know about the chosen steps; empty when there is nothing
};

// Reads the mesh and builds everything. Throws InputError with the place for whatever is wrong with it: nothing has
// been written by then, and every formula has been evaluated at the start, the middle and the end of the run.
// `threads`: for the run; its results do not depend on them.
Simulation build(CaseFile input, int threads = 1);

}  // namespace tempi
