// SPDX-License-Identifier: Apache-2.0
// A mesh from a file, by its extension (upper or lower case): .inp is Abaqus (abaqus_mesh.hpp), everything else is read
// by Gmsh (gmsh_mesh.hpp), if Tempi was built with it: meshes .msh .mesh .bdf .nas .vtk .unv, and geometries .geo .step
// .stp .brep .iges .igs, which are meshed on the way.
// Throws InputError: no such file, an extension or element type that is not supported, a mesh that is none.
#pragma once

#include <filesystem>

#include "tempi/io/shell_facets.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {

// How a geometry is meshed, without effect on mesh files; and what are shells in either.
struct MeshOptions {
  int order = 1;       // 1 or 2: vertices only, or mid-edge nodes on the true geometry too
  double size = 0.0;   // [m] of the edges, everywhere; 0: as the geometry says
  int refine = 0;      // how often every cell is then cut at the middles of its edges: 4 times the triangles each time
  bool curved = true;  // mid-edge nodes on the true geometry, unless a .geo says otherwise; false: on straight edges
  bool system_calls = false;  // whether a .geo may run commands
  ShellGroups shells{};       // with any the mesh lies in space, whatever the file holds
};

// Whether the file is a geometry, by its extension: only then do the options matter.
bool is_geometry(const std::filesystem::path& file);

Mesh read_mesh(const std::filesystem::path& file, const MeshOptions& options = {});

}  // namespace tempi
