// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <utility>

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

std::string header(const std::vector<std::string>& columns) {
  std::vector<std::string> names;
  for (const std::string& column : columns) names.push_back(quoted(column));
  return fmt::format("{}\n", fmt::join(names, ","));
}

// The file, once it is known to be a history of these columns with `size` bytes at least.
std::filesystem::path checked(std::filesystem::path file, const std::vector<std::string>& columns, std::uint64_t size) {
  const std::string expected = header(columns);
  std::string found(expected.size(), ' ');
  std::ifstream in(file, std::ios::binary);
  in.read(found.data(), static_cast<std::streamsize>(found.size()));
  std::error_code error;
  const std::uintmax_t has = std::filesystem::file_size(file, error);
  if (!in || found != expected || error || has < size)
    throw InputError(
        fmt::format("'{}' is not the history that the checkpoint goes on with (it is missing, shorter or has other "
                    "columns). Run the case again with --overwrite.",
                    file.string()));
  return file;
}

}  // namespace

HistoryWriter::HistoryWriter(std::filesystem::path file, const std::vector<std::string>& columns)
    : file_(std::move(file), OutputFile::Unfinished::kept) {
  put(header(columns));
}

HistoryWriter::HistoryWriter(std::filesystem::path file, const std::vector<std::string>& columns, std::uint64_t size)
    : file_(checked(std::move(file), columns, size), size), size_(size) {}

std::string to_line(std::span<const double> row) { return fmt::format("{}\n", fmt::join(row, ",")); }

void HistoryWriter::write(std::span<const double> row) { put(to_line(row)); }

void HistoryWriter::put(const std::string& line) {
  try {
    file_.write(line);
    file_.flush();
  } catch (const OutputError&) {
    file_.cut(size_);  // whole rows only
    throw;
  }
  size_ += line.size();
}

}  // namespace tempi
