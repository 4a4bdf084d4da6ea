// SPDX-License-Identifier: Apache-2.0
// A program run to its end, and what it wrote.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tempi {

struct ChildEnd {
  std::string output;     // all it wrote to its standard output
  int status = 0;         // exit code, where it ended by itself
  int signal = 0;         // 0: it ended by itself
  bool too_slow = false;  // it was killed for taking longer than `seconds`
};

// `words`: the program's path and its arguments; `seconds` of wall time it may take. Its standard error is this one's.
// Throws InputError where it cannot be started.
ChildEnd run_child(const std::vector<std::string>& words, double seconds);

}  // namespace tempi
