// SPDX-License-Identifier: Apache-2.0
// run.log: what a run has to say, line by line with date and time, whoever listens to the command or not.
#pragma once

#include <filesystem>
#include <string>

#include "tempi/core/output_file.hpp"

namespace tempi {

class RunLog {
 public:
  explicit RunLog(const std::filesystem::path& file);  // goes on where there is one. Throws OutputError.
  void say(const std::string& line);                   // throws OutputError

 private:
  OutputFile file_;
};

}  // namespace tempi
