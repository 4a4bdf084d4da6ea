// SPDX-License-Identifier: Apache-2.0
// A table of numbers that grows row by row: history.csv. Numbers are written so that they read back to the same bits.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tempi {

class HistoryWriter {
 public:
  // Throws OutputError when the file cannot be opened; names with a comma or quote are quoted.
  HistoryWriter(std::filesystem::path file, const std::vector<std::string>& columns);
  void write(std::span<const double> row);  // on disk when it returns; throws OutputError

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  void put(const std::string& line);

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uintmax_t size_ = 0;  // [bytes] of the whole rows written
};

}  // namespace tempi
