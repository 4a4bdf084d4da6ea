// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/frames.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::error_code& reason) {
  throw OutputError(
      fmt::format("cannot write {} ({}). Free some space or choose another folder.", path.string(), reason.message()));
}

std::string frame_name(std::size_t i) { return fmt::format("frame_{:05}.vtu", i); }

bool is_frame_name(const std::string& name) {
  return name.starts_with("frame_") && name.ends_with(".vtu") && name.size() > 10 &&
         name.find_first_not_of("0123456789", 6) == name.size() - 4;
}

void remove_old_frames(const fs::path& directory) {
  std::error_code error;
  fs::remove(directory / "frames.pvd", error);
  if (error) fail(directory / "frames.pvd", error);
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(directory / "frames", error))
    if (is_frame_name(entry.path().filename().string())) old.push_back(entry.path());
  if (error) fail(directory / "frames", error);
  for (const fs::path& path : old)
    if (!fs::remove(path, error) && error) fail(path, error);
}

void write_text(const fs::path& path, const std::string& text) {
  const auto reason = [] { return std::error_code(errno, std::generic_category()); };
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) fail(path, reason());
  std::error_code error;
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) error = reason();
  if (std::fclose(file) != 0 && !error) error = reason();
  if (error) fail(path, error);
}

}  // namespace

FrameWriter::FrameWriter(fs::path directory, const Mesh& mesh) : directory_(std::move(directory)), mesh_(mesh) {
  std::error_code error;
  fs::create_directories(directory_ / "frames", error);
  if (error) fail(directory_ / "frames", error);
  remove_old_frames(directory_);
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
  const fs::path complete = directory_ / "frames.pvd";
  const fs::path partial = directory_ / "frames.pvd.tmp";
  write_text(partial, text);
  std::error_code error;
  fs::rename(partial, complete, error);
  if (error) fail(complete, error);
}

}  // namespace tempi
