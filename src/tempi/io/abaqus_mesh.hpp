// SPDX-License-Identifier: Apache-2.0
// Abaqus input files (.inp): *NODE, *ELEMENT, *NSET, *ELSET, *SURFACE; the rest (materials, steps) is skipped.
//
// Elements: C3D4, C3D10, C3D10M (three dimensions), CPE3, CPE6, CPE6M (plane strain: x and y of the nodes count). In a
// file with tetrahedra the CPE elements are facets. Points and cells come in ascending order of their labels.
// Groups: node sets (as nodes), element sets, element-based surfaces (as facets with label 0; faces S1..S4), joined
// when they share a name. Names are compared without regard to case. With an assembly, a set of the part that has the
// name of a set of the assembly is called "instance.name".
// Limits: flat files or one part with one instance that is not moved; no *INCLUDE, *SYSTEM, *NGEN and the like, no
// nodes of the assembly itself; surfaces other than TYPE=ELEMENT are skipped.
// Throws InputError naming file and line. The order of mid-edge nodes is checked (mid_node_order.hpp).
#pragma once

#include <filesystem>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

// `in_space`: three coordinates, and triangles are facets whatever else there is.
MeshData read_abaqus(const std::filesystem::path& path, bool in_space = false);

}  // namespace tempi
