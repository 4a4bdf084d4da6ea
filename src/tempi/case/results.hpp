// SPDX-License-Identifier: Apache-2.0
// What a run reports: the rows of its history, its frames, its summary.
#pragma once

#include <string>
#include <vector>

#include "tempi/case/run.hpp"
#include "tempi/case/simulation.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/io/frames.hpp"

namespace tempi {

std::vector<std::string> history_columns(const Simulation& simulation);
std::vector<double> history_row(const Simulation& simulation, const Snapshot& snapshot, const Sample& sample);

// `residual` may be absent (integrator.residual = false).
Frame make_frame(const Simulation& simulation, const Snapshot& snapshot, const EnergyResidual* residual);

struct RunFigures {
  Status status;
  std::string message;  // why it failed
  double reached;       // time of the last output [s]
  double wall_time;     // drifts, forces, scheduling, residuals [s]
  double total_time;    // everything [s]
  int threads;
};
std::string summary_json(const Simulation& simulation, const Balance& balance, const EnergyResidual* residual,
                         const RunFigures& figures);

Index total_updates(const Integrator& integrator, const Model& model);

}  // namespace tempi
