// SPDX-License-Identifier: Apache-2.0
// What a run has found, at its end: summary.json, and the lines that `tempi run` prints.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tempi/case/simulation.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/diagnostic/energy_residual.hpp"

namespace tempi {

enum class Status { completed, interrupted, failed };
std::string_view name_of(Status status);

struct Summary {
  Status status = Status::completed;
  std::string message;  // why it failed
  std::string title, method;
  bool one_step = false;   // a map of the whole model
  bool particles = false;  // not cells
  Index elements = 0, nodes = 0;
  double end_time = 0.0, reached_time = 0.0;  // [s]
  struct Updates {
    Index total, min, max;
  } updates{};
  Index newmark_updates = 0;
  double newmark_step = 0.0;  // [s]
  double predicted_speedup = 0.0;
  double smallest_step = 0.0, largest_step = 0.0;  // [s]
  struct Lattice {
    StepChoice choice;
    std::vector<std::string> resonant_before;
    std::optional<StepTrial> trial;
    std::string found;  // by the trial
  };
  std::optional<Lattice> lattice;
  Balance::Energy energy{};
  struct Momentum {
    Balance::Momentum balance;
    bool kept;  // by the model; otherwise a change is no error
  } linear_momentum{}, angular_momentum{};
  struct Residual {
    EnergyResidual::Worst worst;
    std::string where;
    double ratio;  // to the largest energy of the element
  };
  std::optional<Residual> residual;
  Integrator::Measures measures;
  std::vector<Integrator::StepHistogram> step_histograms;
  struct Defect {
    std::string name, kind;      // J, L or M
    std::vector<double> values;  // J_1, J_2 ... at the last row
    double length;               // [m] of a front
  };
  std::vector<Defect> path_integrals;
  struct FollowedBody {
    std::string name;            // of the probe
    double mass;                 // [kg]
    std::vector<double> centre;  // of mass [m], where the mesh or the particles have it
  };
  std::vector<FollowedBody> bodies;
  Claims claims{};
  std::vector<std::pair<std::size_t, std::string>> groups;  // those of cells: number in the frames, name
  double wall_time = 0.0;                                   // drifts, forces, scheduling, residuals [s]
  std::optional<double> predicted_wall_time;
  bool has_layers = false;  // of contact: their strikes are not in it
  std::optional<double> trial_time;
  double start_time = 0.0, history_time = 0.0, frame_time = 0.0;  // [s]: up to the first update; rows; frames
  std::vector<EarlierTry> tries;                                  // with larger steps, and how long they took:
  double tries_time = 0.0;                                        // [s]
  double total_time = 0.0;                                        // everything [s]
  Index resumed = 0;                                              // so many times
  int threads = 1;
  std::vector<std::string> warnings;
  std::string caution;
  std::uint64_t fingerprint = 0;       // of the mesh or the particles
  std::uint64_t case_fingerprint = 0;  // of CaseFile::identity
  std::string text;                    // the case as run

  // The saving in updates, the time of one [s]; absent without updates.
  std::optional<double> per_update(double value) const;
};

struct RunFigures {
  Status status;
  std::string message;
  double reached;                                          // time of the last output [s]
  double wall_time, start_time, history_time, frame_time;  // [s]
  double tries_time;                                       // [s]
  double total_time;                                       // [s]
  Index resumed;
  int threads;
  std::vector<double> last_row;  // of the history; empty: none was written
};
Summary summarise(const Simulation& simulation, const Balance& balance, const EnergyResidual* residual,
                  const RunFigures& figures);

std::string to_json(const Summary& summary);
std::string to_text(const Summary& summary);

Index total_updates(const Integrator& integrator, const Model& model);

// "2 m x free"; empty in free space.
std::string text_of_box(const Body& body);

}  // namespace tempi
