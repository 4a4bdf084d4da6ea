// SPDX-License-Identifier: Apache-2.0
// A mesh as a file of Gmsh's (MSH 4.1, text), with all its groups, to be read here again, or by Gmsh.
#pragma once

#include <filesystem>
#include <span>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

// `points`: places of the nodes, dim components each, instead of the mesh's own; 17 digits. Nodes keep their numbers
// where these are positive and all different; cells are numbered anew. Nodes listed in groups become points. Shells
// are triangles there. Throws OutputError.
void write_msh(const std::filesystem::path& file, const Mesh& mesh, std::span<const double> points);

}  // namespace tempi
