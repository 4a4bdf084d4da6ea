// SPDX-License-Identifier: Apache-2.0
// Runs a simulation and writes its results: history.csv, frames, summary.json, run.log, checkpoints.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "tempi/case/summary.hpp"
#include "tempi/io/output_folder.hpp"

namespace tempi {

struct Progress {
  double time, end_time;  // simulated [s]
  Index updates;          // so far
  double wall_time;       // [s]
  double energy_change;   // of total energy less external work since the start, over E_ref
};

struct RunOptions {
  std::filesystem::path folder;
  Existing existing = Existing::refuse;
  int threads = 1;
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();  // for total_time
  std::function<void(const Progress&)> on_progress;    // several times a second; may be empty
  const std::atomic<bool>* stop = nullptr;             // set from outside to end early; may be absent
  std::function<void(const std::string&)> on_warning;  // what is found only now; may be empty
};

// With Existing::resume goes on from the folder's checkpoint, to the bits of a run that was never interrupted; from the
// start where there is nothing yet. Checkpoints are written every so often, when `stop` is set and before the wall
// limit (both end with Status::interrupted), and removed when the run is complete. Steps that the case leaves open and
// that prove too large for the motion are made smaller and the run begins again (smaller_steps.hpp): `simulation` is
// another then. Throws InputError before anything is computed (folder, a checkpoint of another case), SolveError and
// OutputError during the run; what was computed until then has been written, and the summary's status says what
// happened.
Summary run(Simulation& simulation, const RunOptions& options);

}  // namespace tempi
