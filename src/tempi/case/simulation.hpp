// SPDX-License-Identifier: Apache-2.0
// A case brought to life: mesh, model, starting state, steps and integrator, ready to run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/case/step_choice.hpp"
#include "tempi/diagnostic/step_trial.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/model/state.hpp"
#include "tempi/model/steps.hpp"
#include "tempi/space/box.hpp"
#include "tempi/element/elastic_cells.hpp"

namespace tempi {

struct Probe {
  std::string name;
  std::vector<NodeId> nodes;  // the mean of these
};

struct Simulation {
  CaseFile input;
  std::unique_ptr<Mesh> mesh;              // of particles: a point each, then lines for bonds
  std::vector<const ElasticCells*> cells;  // the model's first potentials, in order
  Box box;
  std::unique_ptr<Model> model;
  State state;  // at t = 0
  int threads = 1;
  std::vector<double> own_steps;      // per term [s], as safety, courant or step and `steps` have them
  std::vector<double> wished_steps;   // per term [s], before a lattice rounds them down: Newmark's are all alike
  std::vector<double> steps;          // per term [s], as they are
  double safety = 0.0;                // largest own step over its term's stable step; 0: one step for all
  std::optional<StepChoice> choice;   // of the lattice; absent on the queue
  std::vector<double> nodal_steps;    // of avi: nodal_stable_steps where it starts; otherwise empty
  std::optional<StepTrial> trial;     // of the chosen lattice; absent where steps are equal or were not tried
  double trial_time = 0.0;            // [s] of wall time: choosing and trying the lattice
  std::vector<std::string> resonant;  // choices that were tried before and grew
  double machine_factor = 1.0;        // time of an update here over its typical cost, as measured by `build`
  std::vector<Probe> probes;
  std::unique_ptr<Integrator> integrator;
  std::vector<std::string> warnings;  // for every run
  std::vector<std::string> notes;     // for `tempi check`: settings without effect

  std::vector<Index> particle_terms;  // of each cell of a mesh of particles, or -1

  Index implicit_terms = 0;  // of avi-implicit
  bool in_field = false;     // wells or uniform fields hold the model, so its momenta are not kept

  bool has_particles() const { return input.particles.has_value(); }
  double smallest_step() const;                                        // [s], of the wished: Newmark's
  double difference_spacing() const { return 0.1 * smallest_step(); }  // [s], for derivatives of prescribed motions
  Index newmark_updates(double time) const;                            // terms * ceil(time / smallest step)

  Index updates_until(TermId term, double time) const;
  // 2/omega_max of the assembled model where it starts [s]; cost: some 200 force evaluations.
  double assembled_limit() const;
  StepWish step_wish(std::vector<double> of) const;  // what a lattice is chosen for, watched or not
  // Typical time of an update of each term [ns]; watched: with what the case's residual costs.
  std::vector<double> costs_per_update(bool watched) const;
  CellType type_of(const ElasticCells& potential) const;
  double predicted_time(const StepChoice& of) const;  // wall time of the run [s], without output

  // Whether steps on a lattice grow over the run, tried where it starts: at this price [s], or a little.
  StepTrial try_lattice(const Model& of, const TickLattice& lattice, double price) const;
  bool steps_may_resonate() const;                   // unequal ones on a lattice
  std::vector<double> nodal(const Model& of) const;  // nodal_stable_steps where it starts

  std::vector<Index> term_of_cell() const;                // -1: none
  std::string describe_trial(const StepTrial& of) const;  // "no growth at ...", "grows by ..."
  std::string caution() const;  // what to know about the chosen steps; empty when there is nothing
};

// Reads the mesh and builds everything. Throws InputError with the place for whatever is wrong with it: nothing has
// been written by then, and every formula has been evaluated at the start, the middle and the end of the run.
// `threads`: for the run; its results do not depend on them.
Simulation build(CaseFile input, int threads = 1);

}  // namespace tempi
