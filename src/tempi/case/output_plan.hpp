// SPDX-License-Identifier: Apache-2.0
// How much a run writes, and what that and the rest of it will take.
//
// Rows of the history and frames that the case does not count are as many as take a twentieth of the run each, by
// typical costs: numbers that depend on the case alone, not on the machine or the moment.
#pragma once

#include <optional>

namespace tempi {

struct OutputPlan {
  int rows = 0, frames = 0;                         // intervals between them
  bool rows_chosen = false, frames_chosen = false;  // here, not by the case
  double moment = 0.0;  // [s]: of methods that have only whole steps to show for little; 0: any time is as good
  bool ahead = false;   // outputs find the steps that the run takes then: their time is the run's
};

// Of a case with these counts of its own; all costs in the same unit: of the run's updates, of a row, of a frame.
OutputPlan plan_outputs(std::optional<int> rows, std::optional<int> frames, double updates, double row, double frame);

struct Simulation;
OutputPlan plan_outputs(const Simulation& simulation);

// Wall times [s], as measured here and now: a few steps, then a row and a frame. Not a number where that fails. The
// integrator has begun a copy's run then, and is not for another.
struct Prediction {
  double start, updates, history, frames;
  double events = 0.0;  // of methods that have events instead of steps
  double total() const { return start + updates + history + frames; }
};
Prediction predict(Simulation& simulation);

}  // namespace tempi
