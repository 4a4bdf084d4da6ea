// SPDX-License-Identifier: Apache-2.0
// A table of numbers that grows row by row: history.csv. Numbers are written so that they read back to the same bits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tempi/core/output_file.hpp"

namespace tempi {

std::string to_line(std::span<const double> row);

class HistoryWriter {
 public:
  // Throws OutputError when the file cannot be opened; names with a comma or quote are quoted.
  HistoryWriter(std::filesystem::path file, const std::vector<std::string>& columns);
  // Goes on after the first `size` bytes of a history of these columns; what came later is lost. Throws InputError
  // where the file is shorter or has other columns.
  HistoryWriter(std::filesystem::path file, const std::vector<std::string>& columns, std::uint64_t size);

  void write(std::span<const double> row);      // with the system when it returns; throws OutputError
  void sync() { file_.sync(); }                 // to the device
  std::uint64_t size() const { return size_; }  // [bytes] of the whole rows written

 private:
  void put(const std::string& line);

  OutputFile file_;
  std::uint64_t size_ = 0;
};

}  // namespace tempi
