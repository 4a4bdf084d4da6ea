// SPDX-License-Identifier: Apache-2.0
// Which terms of a model a section of the case file takes for its own: cells and bonds by group or place, whatever else
// acts where their nodes are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tempi/case/case_file.hpp"

namespace tempi {

struct Simulation;

struct TakenTerms {
  std::vector<std::size_t> terms;    // ascending
  std::vector<char> node_is_inside;  // by node: of the selection
};

// Cells, and bonds that are drawn as cells, whose centres the selector takes; with particles, every term all of whose
// nodes are among them. Throws InputError as Selection.
TakenTerms terms_of(const Simulation& simulation, const Selector& target, std::string_view purpose);

std::string describe_term(const Simulation& simulation, std::size_t term);

}  // namespace tempi
