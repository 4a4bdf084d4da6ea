// SPDX-License-Identifier: Apache-2.0
// Triangles of a file that are shells: cells in space, not facets of solids nor cells of a plane. Files do not tell;
// whoever asks for the mesh does.
#pragma once

#include <string>
#include <vector>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

struct ShellGroups {
  bool everything = false;  // all triangles; then there are no solids
  std::vector<std::string> names;
  std::vector<int> tags;

  bool any() const { return everything || !names.empty() || !tags.empty(); }
};

// Of a mesh in space, in which all triangles are facets: makes 3-node ones of these groups cells of type shell3, behind
// the others. Throws InputError: 6-node ones, everything beside solids (both name `file`), nothing left to be a cell.
void promote_shells(MeshData& mesh, const ShellGroups& shells, const std::string& file);

// A body may be made of several files, of which one has the shells. Throws InputError: none of them has.
void require_shells(const Mesh& mesh, const ShellGroups& shells);

}  // namespace tempi
