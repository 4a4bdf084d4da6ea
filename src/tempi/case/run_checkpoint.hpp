// SPDX-License-Identifier: Apache-2.0
// What a checkpoint of a run belongs to, and how far the run has come.
#pragma once

#include <filesystem>
#include <string>

#include "tempi/case/simulation.hpp"
#include "tempi/core/section_file.hpp"

namespace tempi {

// Of the outputs and of the clock; [s] simulated, then [s] of wall time.
struct RunPosition {
  Index row = 0, picture = 0;  // the next ones
  double reached = 0.0, last_row = -1.0, last_picture = -1.0, slice = 0.0;
  double wall_time = 0.0, start_time = 0.0, history_time = 0.0, frame_time = 0.0, total_time = 0.0;
  double tries_time = 0.0;  // of earlier tries
  double energy_change = 0.0;
  std::uint64_t history_size = 0;  // [bytes]
  Index resumed = 0;               // so many times
};

std::filesystem::path checkpoint_file(const std::filesystem::path& folder);

// A checkpoint of the case with nothing computed yet.
Sections case_sections(const Simulation& simulation);

// Throws InputError with the first difference where `sections` are of another case. Returns what to warn of: another
// build or other instructions wrote them.
std::string require_same_case(const Sections& sections, const Simulation& simulation);

// Whether the folder holds the finished run of this case, and nothing to go on with. Throws InputError where it holds
// results that cannot be gone on with: of another case, or without a checkpoint.
bool is_complete(const std::filesystem::path& folder, const CaseFile& input);

void remove_checkpoints(const std::filesystem::path& folder);

}  // namespace tempi
