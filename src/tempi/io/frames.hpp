// SPDX-License-Identifier: Apache-2.0
// The frames of a run: frames/frame_00000.vtu, frame_00001.vtu, ... and frames.pvd, the collection ParaView opens.
// The collection is replaced as a whole after each frame and names complete frames only, so an interrupted run,
// even a killed one, stays readable.
#pragma once

#include <filesystem>
#include <vector>

#include "tempi/io/vtu.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {

class FrameWriter {
 public:
  // Creates `directory`/frames and removes the frames of an earlier run from it. Keeps a reference to `mesh`.
  // Throws OutputError.
  FrameWriter(std::filesystem::path directory, const Mesh& mesh);
  // Goes on after the frames at `times`, which are there, and removes later ones. Throws InputError where one is not.
  FrameWriter(std::filesystem::path directory, const Mesh& mesh, std::vector<double> times);

  // Times must not decrease. Throws OutputError; the frames before stay listed and readable.
  void write(const Frame& frame);
  void sync();  // to the device, those written since the last time
  const std::vector<double>& times() const { return times_; }

 private:
  void write_collection() const;

  std::filesystem::path directory_;
  const Mesh& mesh_;
  std::vector<double> times_;  // of the frames written so far
  std::size_t synced_ = 0;     // so many of them
};

}  // namespace tempi
