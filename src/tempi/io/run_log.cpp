// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/run_log.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace tempi {
namespace {

OutputFile opened(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  return error ? OutputFile(file, OutputFile::Unfinished::kept) : OutputFile(file, size);
}

}  // namespace

RunLog::RunLog(const std::filesystem::path& file) : file_(opened(file)) {}

void RunLog::say(const std::string& line) {
  file_.write(fmt::format("{:%Y-%m-%d %H:%M:%S}  {}\n", fmt::localtime(std::time(nullptr)), line));
  file_.flush();
}

}  // namespace tempi
