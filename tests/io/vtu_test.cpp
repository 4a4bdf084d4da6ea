// SPDX-License-Identifier: Apache-2.0
// Frames are read back by VTK's own reader, not by one of ours: see check_vtu.py.
#include "tempi/io/vtu.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <sstream>
#include <string>

#include "tempi/core/error.hpp"
#include "tempi/io/frames.hpp"

namespace tempi {
namespace {

namespace fs = std::filesystem;

// A folder of one test, empty at its start.
fs::path fresh_folder() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const fs::path folder = fs::path(testing::TempDir()) / "tempi_vtu_test" / test->name();
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

std::string bytes_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

template <class T>
void dump(const fs::path& path, std::span<const T> values) {
  std::ofstream out(path, std::ios::binary);
  const auto bytes = std::as_bytes(values);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void dump_field(const fs::path& folder, const std::string& place, const Field& field) {
  dump<double>(folder / (place + "." + field.name + "." + std::to_string(field.components) + ".f64"), field.values);
  if (field.component_names.empty()) return;
  std::ofstream names(folder / (place + "." + field.name + ".names"));
  for (const std::string& name : field.component_names) names << name << '\n';
}

// What check_vtu.py compares a frame with; VTK's cell numbers are given by the caller, not taken from the library.
void dump_expected(const fs::path& folder, const Mesh& mesh, const std::vector<std::uint8_t>& types,
                   const Frame& frame) {
  fs::create_directories(folder);
  dump<double>(folder / "time.f64", std::span(&frame.time, 1));
  dump<double>(folder / "points.f64", frame.points);
  std::vector<std::int64_t> connectivity;
  for (const NodeId a : mesh.cells().nodes) connectivity.push_back(index(a));
  dump<std::int64_t>(folder / "connectivity.i64", connectivity);
  dump<std::int64_t>(folder / "offsets.i64", mesh.cells().offsets);
  dump<std::uint8_t>(folder / "types.u8", types);
  for (const Field& field : frame.point_data) dump_field(folder, "point", field);
  for (const Field& field : frame.cell_data) dump_field(folder, "cell", field);
  for (const IntegerField& field : frame.integer_cell_data)
    dump<std::int64_t>(folder / ("cell." + field.name + ".1.i64"), field.values);
}

// Runs check_vtu.py; what it prints is why the test fails.
testing::AssertionResult vtk_reads(const fs::path& run, const fs::path& expected) {
  const std::string command = "/usr/bin/python3 '" TEMPI_TEST_SOURCE_DIR "/io/check_vtu.py' '" + run.string() + "' '" +
                              expected.string() + "' 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return testing::AssertionFailure() << "cannot start: " << command;
  std::string output;
  std::array<char, 4096> part;
  while (std::fgets(part.data(), static_cast<int>(part.size()), pipe) != nullptr) output += part.data();
  if (pclose(pipe) == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << command << "\n" << output;
}

// Numbers whose bits are easily lost: signs of zero, subnormals, infinities, NaN, the last digit.
std::vector<double> awkward_values(std::size_t count, double seed) {
  using limits = std::numeric_limits<double>;
  const std::array<double, 7> special = {
      -0.0, limits::denorm_min(), limits::infinity(), limits::quiet_NaN(), limits::max(), 0.1 + 0.2, std::numbers::pi};
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = i % 3 == 0 ? special[i / 3 % special.size()] : seed / static_cast<double>(i + 1);
  return values;
}

Frame awkward_frame(const Mesh& mesh, double time) {
  const auto nodes = static_cast<std::size_t>(mesh.node_count()), cells = static_cast<std::size_t>(mesh.cells().size());
  Frame frame;
  frame.time = time;
  for (std::size_t i = 0; i < 3 * nodes; ++i) frame.points.push_back(time + 1.0 / static_cast<double>(i + 3));
  frame.point_data = {{"displacement", 3, awkward_values(3 * nodes, 1.0), {}},
                      {"mass", 1, awkward_values(nodes, 7.0), {}}};
  frame.cell_data = {{"step", 1, awkward_values(cells, 1e-7), {}},
                     {"stress", 6, awkward_values(6 * cells, 1e9), {"XX", "YY", "ZZ", "XY", "YZ", "XZ"}}};
  IntegerField updates{"updates", {}};
  for (std::size_t i = 0; i < cells; ++i)
    updates.values.push_back(std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(i * i));
  frame.integer_cell_data = {updates, {"group", std::vector<std::int64_t>(cells, -1)}};
  return frame;
}

struct SampleMesh {
  Mesh mesh;
  std::vector<std::uint8_t> vtk_types;
};

template <std::size_t N>
void add_cell(MeshData& data, CellType type, const std::array<int, N>& nodes) {
  std::vector<NodeId> ids;
  for (const int a : nodes) ids.push_back(make_id<NodeId>(a));
  data.cells.push_back(type, ids, data.cells.size() + 1);
}

void add_points(MeshData& data, std::vector<double> points) {
  data.points = std::move(points);
  for (std::size_t a = 0; a < data.points.size() / static_cast<std::size_t>(data.dim); ++a)
    data.point_labels.push_back(static_cast<Index>(a) + 1);
}

// A 3-node triangle below the diagonal of a unit square, a 6-node triangle above it.
SampleMesh mixed_triangles() {
  MeshData data;
  data.dim = 2;
  add_points(data, {0, 0, 1, 0, 0, 1, 1, 1, 1, 0.5, 0.5, 1, 0.5, 0.5});
  add_cell<3>(data, CellType::triangle3, {0, 1, 2});
  add_cell<6>(data, CellType::triangle6, {1, 3, 2, 4, 5, 6});
  return {Mesh(std::move(data)), {5, 22}};
}

// A 4-node and a 10-node tetrahedron, mirror images about their common face 0 1 2.
SampleMesh mixed_tetrahedra() {
  MeshData data;
  data.dim = 3;
  add_points(data, {0, 0,   0,   1, 0, 0,   0, 1, 0, 0,   0, 1,  0,   0,  -1, 0.5, 0,
                    0, 0.5, 0.5, 0, 0, 0.5, 0, 0, 0, -.5, 0, .5, -.5, .5, 0,  -.5});
  add_cell<10>(data, CellType::tetrahedron10, {0, 2, 1, 4, 7, 6, 5, 8, 10, 9});
  add_cell<4>(data, CellType::tetrahedron4, {0, 1, 2, 3});
  return {Mesh(std::move(data)), {24, 10}};
}

// `cells` two-node lines in a row.
SampleMesh chain(int cells) {
  MeshData data;
  data.dim = 1;
  std::vector<double> points;
  for (int a = 0; a <= cells; ++a) points.push_back(a);
  add_points(data, std::move(points));
  for (int i = 0; i < cells; ++i) add_cell<2>(data, CellType::line2, {i, i + 1});
  return {Mesh(std::move(data)), std::vector<std::uint8_t>(static_cast<std::size_t>(cells), 3)};
}

void expect_vtk_reads_back(const SampleMesh& sample, const std::vector<double>& times) {
  const fs::path folder = fresh_folder();
  FrameWriter writer(folder / "run", sample.mesh);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Frame frame = awkward_frame(sample.mesh, times[i]);
    writer.write(frame);
    dump_expected(folder / "expected" / std::to_string(i), sample.mesh, sample.vtk_types, frame);
  }
  EXPECT_TRUE(vtk_reads(folder / "run", folder / "expected"));
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const OutputError& error) {
    return error.what();
  }
  return "no OutputError";
}

TEST(Vtu, VtkReadsBackAMixedMeshInTwoDimensionsBitForBit) {
  expect_vtk_reads_back(mixed_triangles(), {0.0, 1e-7 / 3.0, 0.1 + 0.2});
}

TEST(Vtu, VtkReadsBackAMixedMeshInThreeDimensionsBitForBit) {
  expect_vtk_reads_back(mixed_tetrahedra(), {0.0, 2.5e-3});
}

// 2^17 cells: a scalar of 8 bytes fills one block of 1 MiB exactly, the points begin a second one.
TEST(Vtu, VtkReadsBackArraysOfWholeAndOfPartialBlocks) { expect_vtk_reads_back(chain(1 << 17), {1.0}); }

// Noise is stored as it is, a few bytes a block longer; what repeats shrinks.
TEST(Vtu, WhatDoesNotShrinkIsStored) {
  const SampleMesh sample = chain(1 << 15);
  const Mesh& mesh = sample.mesh;
  const auto cells = static_cast<std::size_t>(mesh.cells().size());
  const auto nodes = static_cast<std::size_t>(mesh.node_count());
  const auto size_with = [&](const std::vector<double>& values) {
    Frame frame;
    frame.points.assign(3 * nodes, 0.0);
    if (!values.empty()) frame.cell_data = {{"values", 1, values, {}}};
    const fs::path path = fresh_folder() / "frame.vtu";
    write_vtu(path, mesh, frame);
    return static_cast<double>(fs::file_size(path));
  };
  std::mt19937_64 random(1);
  std::vector<double> noise(cells);
  for (double& x : noise) x = std::bit_cast<double>(random());
  const double bare = size_with({}), raw = 8.0 * static_cast<double>(cells);
  EXPECT_NEAR(size_with(noise) - bare, raw, 300.0);
  EXPECT_LT(size_with(std::vector<double>(cells, 0.1)) - bare, 0.02 * raw);
}

TEST(Vtu, TheComparisonNoticesOneChangedBit) {
  const fs::path folder = fresh_folder();
  const SampleMesh sample = mixed_triangles();
  Frame frame = awkward_frame(sample.mesh, 0.0);
  FrameWriter(folder / "run", sample.mesh).write(frame);
  frame.cell_data[1].values[11] = std::nextafter(frame.cell_data[1].values[11], 0.0);
  dump_expected(folder / "expected" / "0", sample.mesh, sample.vtk_types, frame);
  EXPECT_FALSE(vtk_reads(folder / "run", folder / "expected"));
}

TEST(Vtu, FieldNamesMayHoldWhatXmlReserves) {
  const fs::path folder = fresh_folder();
  const SampleMesh sample = mixed_triangles();
  Frame frame = awkward_frame(sample.mesh, 0.0);
  frame.point_data[0].name = "a<b>&\"c\"";
  FrameWriter(folder / "run", sample.mesh).write(frame);
  dump_expected(folder / "expected" / "0", sample.mesh, sample.vtk_types, frame);
  EXPECT_TRUE(vtk_reads(folder / "run", folder / "expected"));
}

TEST(Vtu, TheSameFrameGivesTheSameBytes) {
  const fs::path folder = fresh_folder();
  const SampleMesh sample = mixed_tetrahedra();
  write_vtu(folder / "a.vtu", sample.mesh, awkward_frame(sample.mesh, 1.0));
  write_vtu(folder / "b.vtu", sample.mesh, awkward_frame(sample.mesh, 1.0));
  EXPECT_EQ(bytes_of(folder / "a.vtu"), bytes_of(folder / "b.vtu"));
}

TEST(Vtu, AFullDiskIsAnOutputErrorWithTheFileAndTheReason) {
  const SampleMesh sample = chain(1 << 17);
  const std::string message = message_of([&] { write_vtu("/dev/full", sample.mesh, awkward_frame(sample.mesh, 0.0)); });
  EXPECT_NE(message.find("'/dev/full' (No space left on device)"), std::string::npos) << message;
}

TEST(Vtu, AFullDiskIsNoticedAlsoWhenTheFileFitsABuffer) {
  const SampleMesh sample = mixed_triangles();
  const std::string message = message_of([&] { write_vtu("/dev/full", sample.mesh, awkward_frame(sample.mesh, 0.0)); });
  EXPECT_NE(message.find("'/dev/full' (No space left on device)"), std::string::npos) << message;
}

TEST(Frames, AFolderBelowAFileIsAnOutputErrorWithTheReason) {
  const fs::path folder = fresh_folder();
  std::ofstream(folder / "file") << "not a folder";
  const SampleMesh sample = mixed_triangles();
  const std::string message = message_of([&] { FrameWriter(folder / "file", sample.mesh); });
  EXPECT_NE(message.find((folder / "file" / "frames").string() + "' (Not a directory)"), std::string::npos) << message;
}

TEST(Frames, WhatWasWrittenBeforeAFailureStaysReadable) {
  const fs::path folder = fresh_folder();
  const SampleMesh sample = mixed_tetrahedra();
  FrameWriter writer(folder / "run", sample.mesh);
  const Frame frame = awkward_frame(sample.mesh, 0.5);
  writer.write(frame);
  dump_expected(folder / "expected" / "0", sample.mesh, sample.vtk_types, frame);
  fs::create_directory(folder / "run" / "frames" / "frame_00001.vtu");  // where the next frame should go
  EXPECT_THROW(writer.write(frame), OutputError);
  EXPECT_TRUE(vtk_reads(folder / "run", folder / "expected"));
}

TEST(Frames, FramesOfAnEarlierRunAreRemovedAndOtherFilesStay) {
  const fs::path folder = fresh_folder();
  const SampleMesh sample = mixed_triangles();
  FrameWriter(folder, sample.mesh).write(awkward_frame(sample.mesh, 0.0));
  std::ofstream(folder / "frames" / "frame_notes.vtu") << "a user's own";
  const FrameWriter next(folder, sample.mesh);
  EXPECT_FALSE(fs::exists(folder / "frames.pvd"));
  EXPECT_FALSE(fs::exists(folder / "frames" / "frame_00000.vtu"));
  EXPECT_TRUE(fs::exists(folder / "frames" / "frame_notes.vtu"));
}

}  // namespace
}  // namespace tempi
