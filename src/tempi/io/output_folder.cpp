// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/output_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

namespace fs = std::filesystem;

constexpr const char* results[] = {"summary.json", "history.csv", "frames.pvd", "frames"};

}  // namespace

void check_output_folder(const fs::path& folder, Existing existing) {
  if (folder.empty()) throw InputError("the output folder has an empty name. Give one with --out.");
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    throw InputError(fmt::format("the output folder '{}' is a file. Choose another with --out.", folder.string()));
  for (const char* name : results)
    if (existing == Existing::refuse && fs::exists(folder / name, ignored))
      throw InputError(
          fmt::format("the output folder '{}' already holds results ({}). Choose another with --out, or "
                      "allow --overwrite.",
                      folder.string(), name));
  fs::path there = fs::absolute(folder, ignored);
  while (!fs::exists(there, ignored) && there.has_parent_path() && there != there.parent_path())
    there = there.parent_path();
  if (!fs::is_directory(there, ignored) || access(there.c_str(), W_OK | X_OK) != 0)
    throw InputError(fmt::format("the output folder '{}' cannot be written to ('{}': {}). Choose another with --out.",
                                 folder.string(), there.string(),
                                 fs::is_directory(there, ignored) ? std::strerror(errno) : "not a folder"));
}

void prepare_output_folder(const fs::path& folder, Existing existing) {
  check_output_folder(folder, existing);
  std::error_code error;
  const bool existed = fs::exists(folder, error);
  fs::create_directories(folder, error);
  if (error)
    throw InputError(fmt::format("cannot create the output folder '{}' ({}). Choose another with --out.",
                                 folder.string(), error.message()));
  const fs::path trial = folder / "trial";
  try {
    write_text(trial, std::string(4096, ' '));
  } catch (const OutputError& e) {
    if (!existed) fs::remove(folder, error);
    throw InputError(fmt::format("the output folder '{}' cannot be written to: {}", folder.string(), e.what()));
  }
  fs::remove(trial, error);
  for (const char* name : results) fs::remove_all(folder / name, error);
}

void write_text(const fs::path& file, const std::string& text) {
  fs::path part = file;
  part += ".part";
  std::ofstream out(part, std::ios::binary);
  out << text;
  out.close();
  std::error_code error;
  if (!out) {
    const std::string reason = std::strerror(errno);
    fs::remove(part, error);
    throw OutputError(fmt::format("cannot write '{}' ({}).", file.string(), reason));
  }
  fs::rename(part, file, error);
  if (error) throw OutputError(fmt::format("cannot write '{}' ({}).", file.string(), error.message()));
}

}  // namespace tempi
