// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/gmsh_mesh.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "tempi/core/error.hpp"
#include "tempi/io/child_process.hpp"
#include "tempi/io/element_blocks.hpp"
#include "tempi/io/letter_case.hpp"
#include "tempi/io/mesh_stream.hpp"
#include "tempi/io/mid_node_order.hpp"
#include "tempi/io/read_mesh.hpp"
#include "tempi/io/straighten.hpp"

namespace tempi {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 12> extensions = {".msh", ".mesh", ".bdf", ".nas",  ".vtk",  ".unv",
                                                         ".geo", ".step", ".stp", ".brep", ".iges", ".igs"};
constexpr std::size_t first_geometry = 6;

fs::path find_reader() {
  std::vector<fs::path> places;
  if (const char* given = std::getenv("TEMPI_MESH_READER")) places.emplace_back(given);
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  places.insert(places.end(), {here / "tempi-mesh", here / "../libexec/tempi/tempi-mesh", TEMPI_MESH_READER_BUILT,
                               TEMPI_MESH_READER_INSTALLED});
  for (const fs::path& place : places)
    if (fs::is_regular_file(place, error)) return place;
  throw InputError(
      "the program tempi-mesh, which reads meshes by Gmsh, is neither beside this program nor where it was installed. "
      "Install Tempi, or give its path in the environment variable TEMPI_MESH_READER.");
}

// Memory that a mesh file justifies; for geometries most of what the machine has left.
double memory_limit(double file_size, bool is_geometry) {
  if (!is_geometry) return 1e9 + 200.0 * file_size;
  std::ifstream in("/proc/meminfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("MemAvailable:")) return 0.8 * 1024.0 * std::strtod(line.c_str() + 13, nullptr);
  return 4e9;
}

[[noreturn]] void refuse(const std::string& file, const ChildEnd& end, double seconds, double memory) {
  if (end.too_slow || end.signal == SIGXCPU)
    throw InputError(
        fmt::format("{}: Gmsh takes more than the {:.3g} s that a file of this size justifies (it hangs). Open the "
                    "file in Gmsh, and export it again.",
                    file, seconds));
  throw InputError(
      fmt::format("{}: Gmsh {} while it read or meshed it (it may have {:.2g} GB of memory). Open the file in Gmsh to "
                  "see where it is damaged, or give a larger mesh.size.",
                  file, end.signal != 0 ? fmt::format("crashed (signal {})", end.signal) : "gave up", 1e-9 * memory));
}

MeshExtract extract(const fs::path& path, bool is_geometry, const MeshOptions& options) {
  const std::string file = path.string();
  std::error_code error;
  const auto size = static_cast<double>(fs::file_size(path, error));
  const double memory = memory_limit(size, is_geometry), cpu = std::floor(2.0 + 10e-6 * size);
  // Wall time for a machine that does other things too; geometries take what they take.
  const double seconds = is_geometry ? 1e9 : 20.0 + 10.0 * cpu;
  const ChildEnd end =
      run_child({find_reader().string(), file, is_geometry ? "geometry" : "mesh", fmt::format("{}", options.order),
                 fmt::format("{}", options.size), fmt::format("{}", options.refine),
                 options.curved ? "curved" : "straight", options.system_calls ? "system-calls" : "none",
                 fmt::format("{:.0f}", memory), fmt::format("{:.0f}", is_geometry ? 0.0 : cpu)},
                seconds);
  if (end.too_slow || end.signal != 0 || end.status != 0) refuse(file, end, end.too_slow ? seconds : cpu, memory);
  std::istringstream in(end.output);
  return receive_mesh(in);
}

}  // namespace

bool is_gmsh_extension(std::string_view lower_case) {
  return std::ranges::find(extensions, lower_case) != extensions.end();
}

bool is_geometry_extension(std::string_view lower_case) {
  return std::ranges::find(extensions.begin() + first_geometry, extensions.end(), lower_case) != extensions.end();
}

std::string gmsh_extensions() { return fmt::format("{}", fmt::join(extensions, " ")); }

MeshData read_gmsh(const fs::path& path, const MeshOptions& options) {
  const std::string file = path.string();
#ifndef TEMPI_WITH_GMSH
  throw InputError(
      fmt::format("mesh file '{}' needs Gmsh (this Tempi was built without it). Build with -DTEMPI_WITH_GMSH=ON, or "
                  "give an Abaqus .inp file.",
                  file));
#endif
  const std::string extension = lower_case(path.extension().string());
  const bool is_upper = path.extension() == upper_case(extension) && extension != ".brep";
  if (path.extension() != extension && !is_upper)
    throw InputError(fmt::format("mesh file '{}' has the extension '{}' (Gmsh knows it only as '{}'). Rename the file.",
                                 file, path.extension().string(), extension));
  const bool is_geometry = is_geometry_extension(extension);
  MeshExtract extracted = extract(path, is_geometry, options);
  sort_points(extracted.blocks, file);
  const bool in_space = options.shells.any();
  if (is_geometry && !in_space && top_dimension(extracted.blocks) == 2) reverse_clockwise(extracted.blocks);
  MeshData mesh = assemble(std::move(extracted.blocks), extracted.repeated, file, in_space);
  if (is_geometry) straighten_folded(mesh);
  settle_mid_node_order(mesh, file);
  return mesh;
}

}  // namespace tempi
