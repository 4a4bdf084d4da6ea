// SPDX-License-Identifier: Apache-2.0
// The kinds of cells and facets, and the order of their nodes.
//
// Vertices come first, then mid-edge nodes. Triangle6: edges 01 12 20. Tetrahedron10: edges 01 12 20 03 13 23 (the
// order of VTK and Abaqus; Gmsh swaps the last two). Triangles are counter-clockwise; node 3 of a tetrahedron lies on
// the side to which the right-handed normal of 0, 1, 2 points.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tempi {

enum class CellType : std::uint8_t { point1, line2, line3, triangle3, triangle6, tetrahedron4, tetrahedron10 };

struct CellTypeInfo {
  std::string_view name;
  int dim;
  int nodes;
  int vertices;
  int vtk;  // VTK's number of this cell
};

constexpr CellTypeInfo info(CellType type) {
  constexpr std::array<CellTypeInfo, 7> table = {{
      {"point", 0, 1, 1, 1},
      {"2-node line", 1, 2, 2, 3},
      {"3-node line", 1, 3, 2, 21},
      {"3-node triangle", 2, 3, 3, 5},
      {"6-node triangle", 2, 6, 3, 22},
      {"4-node tetrahedron", 3, 4, 4, 10},
      {"10-node tetrahedron", 3, 10, 4, 24},
  }};
  return table[static_cast<std::size_t>(type)];
}

// End vertices of each mid-edge node, in node order after the vertices.
std::span<const std::array<int, 2>> mid_edges(CellType type);

// The facets (cells of one dimension less) of a cell: type and local nodes, oriented so that the normal points out:
// right of the direction of travel in 2-D, right-handed in 3-D.
struct LocalFacet {
  CellType type;
  std::array<int, 6> nodes;
};
std::span<const LocalFacet> local_facets(CellType type);

}  // namespace tempi
