// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\n") == std::string::npos) return name;
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

HistoryWriter::HistoryWriter(std::filesystem::path file, const std::vector<std::string>& columns)
    : path_(std::move(file)), file_(std::fopen(path_.c_str(), "w")) {
  if (!file_) throw OutputError(fmt::format("cannot open '{}' ({}).", path_.string(), std::strerror(errno)));
  std::vector<std::string> names;
  for (const std::string& column : columns) names.push_back(quoted(column));
  put(fmt::format("{}\n", fmt::join(names, ",")));
}

void HistoryWriter::write(std::span<const double> row) { put(fmt::format("{}\n", fmt::join(row, ","))); }

void HistoryWriter::put(const std::string& line) {
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
  if (written && std::fflush(file_.get()) == 0) {
    size_ += line.size();
    return;
  }
  const std::string reason = std::strerror(errno);
  file_.reset();  // whatever of the row is left in buffers goes out or not
  std::error_code ignored;
  std::filesystem::resize_file(path_, size_, ignored);  // whole rows only
  throw OutputError(fmt::format("cannot write to '{}' ({}). Free some space, or choose another folder with --out.",
                                path_.string(), reason));
}

}  // namespace tempi
