// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/output_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/core/output_file.hpp"

namespace tempi {
namespace {

namespace fs = std::filesystem;

// The summary first: as long as it is there, the run it tells of is.
constexpr const char* results[] = {
    "summary.json", "history.csv", "frames.pvd", "frames", "run.log", "checkpoint.bin", "checkpoint.previous.bin"};

}  // namespace

void check_output_folder(const fs::path& folder, Existing existing) {
  if (folder.empty()) throw InputError("the output folder has an empty name. Give one with --out.");
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    throw InputError(fmt::format("the output folder '{}' is a file. Choose another with --out.", folder.string()));
  for (const char* name : results)
    if (existing == Existing::refuse && fs::exists(folder / name, ignored))
      throw InputError(
          fmt::format("the output folder '{}' already holds results ({}). Choose another with --out, go on "
                      "with them by --resume, or allow --overwrite.",
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
  try {
    replace_file(folder / "trial", std::string(4096, ' '));
  } catch (const OutputError& e) {
    if (!existed) fs::remove(folder, error);
    throw InputError(fmt::format("the output folder '{}' cannot be written to: {}", folder.string(), e.what()));
  }
  fs::remove(folder / "trial", error);
}

void move_results_aside(const fs::path& folder) {
  std::error_code error;
  const auto there = [&](const char* name) { return fs::exists(folder / name, error); };
  if (std::ranges::none_of(results, there)) return;
  const fs::path previous = folder / "previous";
  fs::remove_all(previous, error);
  fs::create_directory(previous, error);
  for (const char* name : results) {
    if (!there(name)) continue;
    fs::rename(folder / name, previous / name, error);
    if (error)
      throw InputError(fmt::format("'{}' cannot be moved to '{}' ({}).", (folder / name).string(), previous.string(),
                                   error.message()));
  }
}

FolderLock::FolderLock(const fs::path& folder) : file_(folder / ".lock") {
  while (true) {
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return;  // a run that cannot write fails where it does
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const bool taken = errno == EWOULDBLOCK;
      ::close(std::exchange(descriptor_, -1));
      if (!taken) return;
      throw InputError(fmt::format("another run is writing to '{}'. Wait for it, or choose another folder with --out.",
                                   folder.string()));
    }
    struct stat locked {
    }, named{};  // whoever had it may have removed the file in between
    if (::fstat(descriptor_, &locked) == 0 && ::stat(file_.c_str(), &named) == 0 && locked.st_ino == named.st_ino)
      return;
    ::close(descriptor_);
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ < 0) return;
  std::error_code ignored;
  fs::remove(file_, ignored);
  ::close(descriptor_);
}

}  // namespace tempi
