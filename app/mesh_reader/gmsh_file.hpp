// SPDX-License-Identifier: Apache-2.0
// A file as Gmsh holds it, out of Gmsh. The only file that knows Gmsh.
#pragma once

#include <filesystem>

#include "tempi/io/mesh_stream.hpp"
#include "tempi/io/read_mesh.hpp"

namespace tempi {

// In a session of its own, which ends with the process. Throws InputError with the file's name and Gmsh's own message,
// bad_alloc. What it prints and what it sets is the caller's to bear.
MeshExtract extract_by_gmsh(const std::filesystem::path& path, bool is_geometry, const MeshOptions& options);

}  // namespace tempi
