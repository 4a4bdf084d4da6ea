// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/run_checkpoint.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tempi/case/smaller_steps.hpp"
#include "tempi/core/error.hpp"
#include "tempi/core/fingerprint.hpp"
#include "tempi/simd/instruction_set.hpp"
#include "tempi/version.hpp"

namespace tempi {
namespace {

namespace fs = std::filesystem;

std::string build_text() { return fmt::format("{} {} {}", version, git_hash, name_of(instruction_set())); }

// "'end_time = 2.0' was 'end_time = 1.0'": the first line that differs.
std::string first_difference(const std::string& was, const std::string& is) {
  std::istringstream before(was), now(is);
  std::string old_line, new_line;
  while (true) {
    const bool more_old = static_cast<bool>(std::getline(before, old_line));
    const bool more_new = static_cast<bool>(std::getline(now, new_line));
    if (!more_old) old_line = "(nothing)";
    if (!more_new) new_line = "(nothing)";
    if (old_line != new_line || (!more_old && !more_new)) return fmt::format("'{}' was '{}'", new_line, old_line);
  }
}

}  // namespace

fs::path checkpoint_file(const fs::path& folder) { return folder / "checkpoint.bin"; }

Sections case_sections(const Simulation& s) {
  Sections sections;
  sections.add("case", s.input.identity);
  sections.add("build", build_text());
  put_tries(sections, s.tries);
  return sections;
}

std::string require_same_case(const Sections& sections, const Simulation& s) {
  if (const std::string& was = sections["case"]; was != s.input.identity)
    throw InputError(
        fmt::format("the case has changed since the checkpoint was written ({}; only energy_tolerance, checkpoint and "
                    "wall_limit may). Run the case as it was, or anew with --overwrite.",
                    first_difference(was, s.input.identity)));
  if (sections["build"] == build_text()) return "";
  return fmt::format(
      "the checkpoint was written by another build or on another machine ({}; this is {}): the results "
      "may differ in their last digits from those of an uninterrupted run.",
      sections["build"], build_text());
}

bool is_complete(const fs::path& folder, const CaseFile& input) {
  std::error_code error;
  const fs::path checkpoint = checkpoint_file(folder), summary = folder / "summary.json";
  if (fs::exists(checkpoint, error) || fs::exists(generation_before(checkpoint), error)) return false;
  if (!fs::exists(summary, error)) {
    if (!fs::exists(folder / "history.csv", error)) return false;
    throw InputError(
        fmt::format("the output folder '{}' holds results but no checkpoint to go on from. Run the case "
                    "again with --overwrite.",
                    folder.string()));
  }
  std::ifstream in(summary);
  const nlohmann::json j = nlohmann::json::parse(in, nullptr, false);
  const auto text = [&](const char* key) { return j.is_object() ? j.value(key, "") : std::string(); };
  const bool same =
      text("case_fingerprint") == fmt::format("{:016x}", fingerprint(std::as_bytes(std::span(input.identity))));
  if (same && text("status") == "completed") return true;
  throw InputError(
      fmt::format("the output folder '{}' holds the results of {} and no checkpoint to go on from. Choose "
                  "another with --out, or allow --overwrite.",
                  folder.string(), same ? "a run that did not end" : "another case"));
}

void remove_checkpoints(const fs::path& folder) {
  std::error_code ignored;  // a run that is complete is complete
  fs::remove(generation_before(checkpoint_file(folder)), ignored);
  fs::remove(checkpoint_file(folder), ignored);
}

}  // namespace tempi
