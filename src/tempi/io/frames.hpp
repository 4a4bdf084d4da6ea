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

  // Times must not decrease. Throws OutputError; the frames before stay listed and readable.
  void write(const Frame& frame);

 private:
  void write_collection() const;

  std::filesystem::path directory_;
  const Mesh& mesh_;
  std::vector<double> times_;  // of the frames written so far
};

}  // namespace tempi
