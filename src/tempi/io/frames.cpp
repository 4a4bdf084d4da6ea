// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/frames.hpp"

#include <fmt/format.h>

#include <string>
#include <system_error>

#include "tempi/core/error.hpp"
#include "tempi/core/output_file.hpp"

namespace tempi {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::error_code& reason) {
  throw OutputError(fmt::format("cannot write '{}' ({}). Free some space, or choose another folder with --out.",
                                path.string(), reason.message()));
}

std::string frame_name(std::size_t i) { return fmt::format("frame_{:05}.vtu", i); }

bool is_frame_name(const std::string& name) {
  return name.starts_with("frame_") && name.ends_with(".vtu") && name.size() > 10 &&
         name.find_first_not_of("0123456789", 6) == name.size() - 4;
}

// All but the first `keep`.
void remove_frames(const fs::path& directory, std::size_t keep) {
  std::error_code error;
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(directory / "frames", error)) {
    const std::string name = entry.path().filename().string();
    if (is_frame_name(name) && std::stoull(name.substr(6)) >= keep) old.push_back(entry.path());
  }
  if (error) fail(directory / "frames", error);
  for (const fs::path& path : old)
    if (!fs::remove(path, error) && error) fail(path, error);
}

}  // namespace

FrameWriter::FrameWriter(fs::path directory, const Mesh& mesh) : directory_(std::move(directory)), mesh_(mesh) {
  std::error_code error;
  fs::create_directories(directory_ / "frames", error);
  if (error) fail(directory_ / "frames", error);
  fs::remove(directory_ / "frames.pvd", error);
  if (error) fail(directory_ / "frames.pvd", error);
  remove_frames(directory_, 0);
}

FrameWriter::FrameWriter(fs::path directory, const Mesh& mesh, std::vector<double> times)
    : directory_(std::move(directory)), mesh_(mesh), times_(std::move(times)), synced_(times_.size()) {
  std::error_code error;
  for (std::size_t i = 0; i < times_.size(); ++i)
    if (const fs::path frame = directory_ / "frames" / frame_name(i); !fs::is_regular_file(frame, error))
      throw InputError(
          fmt::format("the frame '{}' of the run to go on with is missing. Run the case again with "
                      "--overwrite.",
                      frame.string()));
  fs::create_directories(directory_ / "frames", error);
  if (error) fail(directory_ / "frames", error);
  if (!times_.empty()) write_collection();
  remove_frames(directory_, times_.size());
}

void FrameWriter::write(const Frame& frame) {
  TEMPI_ASSERT(times_.empty() || times_.back() <= frame.time);
  write_vtu(directory_ / "frames" / frame_name(times_.size()), mesh_, frame);
  times_.push_back(frame.time);
  write_collection();
}

void FrameWriter::write_collection() const {
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n"
      "  <Collection>\n";
  for (std::size_t i = 0; i < times_.size(); ++i)
    text += fmt::format("    <DataSet timestep=\"{}\" part=\"0\" file=\"frames/{}\"/>\n", times_[i], frame_name(i));
  text += "  </Collection>\n</VTKFile>\n";
  replace_file(directory_ / "frames.pvd", text);
}

void FrameWriter::sync() {
  for (; synced_ < times_.size(); ++synced_) tempi::sync(directory_ / "frames" / frame_name(synced_));
  tempi::sync(directory_ / "frames");
}

}  // namespace tempi
