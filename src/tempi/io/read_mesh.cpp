// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/read_mesh.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/io/abaqus_mesh.hpp"
#include "tempi/io/gmsh_mesh.hpp"
#include "tempi/io/letter_case.hpp"

namespace tempi {
namespace {

[[noreturn]] void refuse_extension(const std::filesystem::path& file, const std::string& extension) {
  if (extension == ".stl")
    throw InputError(
        fmt::format("mesh file '{}' is a surface without an inside (.stl holds no cells). Mesh its inside "
                    "first, or give the geometry as .step.",
                    file.string()));
  throw InputError(fmt::format("mesh file '{}' has the extension '{}' (supported: {} .inp). Convert it to one of them.",
                               file.string(), extension, gmsh_extensions()));
}

void check(const MeshOptions& options) {
  if (options.order != 1 && options.order != 2)
    throw InputError(fmt::format("mesh order = {} (must be 1 or 2). Correct it.", options.order));
  if (!(options.size >= 0.0) || std::isinf(options.size))
    throw InputError(
        fmt::format("mesh size = {} m (must be > 0, or 0 for what the geometry says). Correct it.", options.size));
}

}  // namespace

bool is_geometry(const std::filesystem::path& file) {
  return is_geometry_extension(lower_case(file.extension().string()));
}

Mesh read_mesh(const std::filesystem::path& file, const MeshOptions& options) {
  check(options);
  const std::string extension = lower_case(file.extension().string());
  if (extension != ".inp" && !is_gmsh_extension(extension)) refuse_extension(file, extension);
  if (!std::filesystem::exists(file))
    throw InputError(fmt::format("mesh file '{}' does not exist. Check the name and the folder.", file.string()));
  if (!std::filesystem::is_regular_file(file))
    throw InputError(fmt::format("mesh file '{}' is not a file. Check the name.", file.string()));
  MeshData mesh = extension == ".inp" ? read_abaqus(file, options.shells.any()) : read_gmsh(file, options);
  if (options.shells.any()) promote_shells(mesh, options.shells, file.string());
  return Mesh(std::move(mesh));
}

}  // namespace tempi
