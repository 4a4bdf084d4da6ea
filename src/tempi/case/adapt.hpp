// SPDX-License-Identifier: Apache-2.0
// r-adaption of a case's mesh: `tempi adapt`.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "tempi/adaption/mesh_equilibrium.hpp"
#include "tempi/case/simulation.hpp"

namespace tempi {

struct AdaptRun {
  AdaptionOptions options{};
  const std::atomic<bool>* stop = nullptr;                 // set from outside to end with the best mesh so far
  std::function<void(const AdaptionState&)> on_iteration;  // may be empty
};

struct AdaptReport {
  Index free = 0, sliding = 0, held = 0;  // vertices: inside, on flat surfaces and straight edges, not moved
  AdaptionState first, last;
  bool converged = false;
  std::string fault;  // why it has not converged
};
std::string to_text(const AdaptReport& report);  // lines for a reader

// What of a mesh is written beside the results of the run on it.
inline constexpr const char* adapted_mesh = "adapted.msh";
inline constexpr const char* adaption_history = "adaption.csv";
inline constexpr const char* given_mesh = "given.vtu";

// Finds the equilibrium of the last load step, moves the mesh (mesh_equilibrium.hpp) and writes it to `folder`, which
// exists: adapted_mesh, adaption_history (a row an iteration), given_mesh (the mesh as it was, with the forces on it).
// Nodes stay where supports with formulas of X, loads on them, fronts of J and probes of a point are.
// Throws InputError with the place: a method that is not static, and what has no part in its potential (particles,
// shells, potentials, constraints, contact, walls, ties, follower pressure, gravity by a formula of X); SolveError.
AdaptReport adapt(Simulation& simulation, const std::filesystem::path& folder, const AdaptRun& run);

}  // namespace tempi
