// SPDX-License-Identifier: Apache-2.0
// One frame of a run as a VTK unstructured grid (.vtu), readable by ParaView and by VTK's own reader.
// XML header, then appended raw binary: little-endian Float64, Int64 and UInt8, compressed by zlib in blocks.
// The bytes depend on the mesh, the frame and the zlib version only.
// Limits: little-endian machines; the target must allow seeking (a file, not a pipe).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

// Values at the points or in the cells, `components` numbers each, one entity after the other.
// Vectors have 3 components (z = 0 in 2-D); symmetric tensors have 6, in VTK's order XX YY ZZ XY YZ XZ.
struct Field {
  std::string name;
  int components = 1;
  std::vector<double> values;
  std::vector<std::string> component_names;  // empty, or one per component
};

struct IntegerField {
  std::string name;
  std::vector<std::int64_t> values;
};

// What a run looks like at one time.
struct Frame {
  double time = 0.0;           // [s], stored as the field data "TimeValue"
  std::vector<double> points;  // places [m], 3 per node of the mesh
  bool deformed = true;        // those at this time; false: at rest. Stored as the field data "PointsAreDeformed"
  std::vector<Field> point_data;
  std::vector<Field> cell_data;
  std::vector<IntegerField> integer_cell_data;
  bool float32 = false;  // numbers in single precision in the file
};

// Writes the cells of `mesh` at the frame's places. The sizes in `frame` must fit the mesh.
// Memory beyond the arguments: a few MiB. Not atomic: after a failure an incomplete regular file is removed.
// Throws OutputError with the file and the system's reason.
void write_vtu(const std::filesystem::path& file, const Mesh& mesh, const Frame& frame);

// The same to a temporary file that is removed at once: to know how long it takes.
void write_vtu_to_nowhere(const Mesh& mesh, const Frame& frame);

}  // namespace tempi
