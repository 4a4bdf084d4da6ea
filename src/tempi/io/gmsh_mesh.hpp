// SPDX-License-Identifier: Apache-2.0
// What Gmsh reads: .msh (1 to 4.1, ASCII and binary), Medit .mesh, Nastran .bdf .nas, legacy .vtk, I-deas .unv; and
// geometries .geo .step .stp .brep .iges .igs, which are meshed on the way. STEP and IGES arrive in millimetres.
//
// Cells are the elements of the highest dimension: tetrahedra (4, 10 nodes); triangles (3, 6) with all z equal; 2-node
// lines along x. Elements of lower dimension are facets. All are read, in a physical group or not. Points and cells
// come in ascending order of the file's labels; Gmsh numbers the elements of .mesh and .vtk itself, in the order it
// reads, and leaves out points of .msh before version 4 that no element uses.
//
// Groups: physical groups, one for all dimensions that share a name, one a dimension if there is only a tag. An element
// written once per physical group (.msh before version 4) becomes one element in all of them. Where a file has no
// physical groups: one group a dimension and entity of the geometry, property (.bdf) or reference (.mesh), by tag.
// In .unv files: named groups (data set 2477, the first word of the name; 2467 is not understood by Gmsh), otherwise
// properties by tag, never materials. In .vtk files: one group a dimension with tag 1 (cell data are not read).
//
// Geometries: surfaces in the plane whose triangles are all clockwise are reversed (the orientation of a surface is a
// convention of its author); construction points and curves that carry no cell and are in no physical group are left
// out. Mesh files are never reversed.
//
// Order of mid-edge nodes: 10-node tetrahedra and 6-node triangles written by hand after the documentation of each
// format (.msh 2.2 and 4.1, .bdf CTETRA and CTRIA6, .vtk 24 and 22, .mesh TetrahedraP2 and TrianglesP2 in VTK's order,
// .unv 118 and 92) all arrive in Gmsh's own order with Gmsh 4.8.4: none needs a swap of its own. Yet every cell is
// checked (mid_node_order.hpp), since programs write these formats in different orders.
//
// Gmsh runs in a process of its own, the program `tempi-mesh`: files that crash it, hang it or make it take too much
// memory are errors like others, and no symbol of its library meets one of the caller's. The program is looked for as
// TEMPI_MESH_READER in the environment says, beside the running program, in ../libexec/tempi from there, and where it
// was built or installed. Commands in .geo files (SystemCall) are refused unless asked for; a script may still write
// files. Cells of second order on curved geometry that come out folded are straightened, and counted in a warning.
// Throws InputError with the file's name and Gmsh's own message.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

struct MeshOptions;  // read_mesh.hpp

bool is_gmsh_extension(std::string_view lower_case);  // with its dot
bool is_geometry_extension(std::string_view lower_case);
std::string gmsh_extensions();  // ".msh .mesh ...", for messages

// Without the Gmsh library (TEMPI_WITH_GMSH=OFF) always throws InputError.
MeshData read_gmsh(const std::filesystem::path& path, const MeshOptions& options);

}  // namespace tempi
