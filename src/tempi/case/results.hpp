// SPDX-License-Identifier: Apache-2.0
// What a run writes while it goes: the rows of its history, its frames.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tempi/case/simulation.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/io/frames.hpp"

namespace tempi {

// Of each cell the number of its first group, from 1; 0: in none.
std::vector<std::int64_t> group_of_cells(const Mesh& mesh);

std::vector<std::string> history_columns(const Simulation& simulation);
std::vector<double> history_row(const Simulation& simulation, const Snapshot& snapshot, const Sample& sample,
                                const EnergyResidual* residual);

// `residual` may be absent (integrator.residual = false).
Frame make_frame(const Simulation& simulation, const Snapshot& snapshot, const EnergyResidual* residual);

}  // namespace tempi
