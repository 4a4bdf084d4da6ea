// SPDX-License-Identifier: Apache-2.0
// A case brought to life: mesh, model, starting state, steps and integrator, ready to run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/model/state.hpp"
#include "tempi/model/steps.hpp"
#include "tempi/potential/elastic_cells.hpp"

namespace tempi {

struct Probe {
  std::string name;
  std::vector<NodeId> nodes;  // the mean of these
};

struct Simulation {
  CaseFile input;
  std::unique_ptr<Mesh> mesh;
  std::vector<const ElasticCells*> cells;  // the model's potentials, in order
  std::unique_ptr<Model> model;
  State state;                // at t = 0
  std::vector<double> steps;  // chosen, per term [s]
  std::vector<Probe> probes;
  std::unique_ptr<Integrator> integrator;
  std::vector<std::string> warnings;  // for every run
  std::vector<std::string> notes;     // for `tempi check`: settings without effect

  double smallest_step() const;
  double difference_spacing() const { return 0.1 * smallest_step(); }  // [s], for derivatives of prescribed motions
  Index newmark_updates(double time) const;                            // cells * ceil(time / smallest step)

  std::vector<Index> term_of_cell() const;
  std::string caution() const;  // what to know about the chosen steps; empty when there is nothing
};

// Reads the mesh and builds everything. Throws InputError with the place for whatever is wrong with it: nothing has
// been written by then, and every formula has been evaluated at the start, the middle and the end of the run.
Simulation build(CaseFile input);

}  // namespace tempi
