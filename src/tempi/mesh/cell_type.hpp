// SPDX-License-Identifier: Apache-2.0
// The kinds of cells and facets, and the order of their nodes.
//
// Vertices come first, then mid-edge nodes. Triangle6: edges 01 12 20. Tetrahedron10: edges 01 12 20 03 13 23 (the
// order of VTK and Abaqus; Gmsh swaps the last two). Triangles in a plane are counter-clockwise; node 3 of a
// tetrahedron lies on the side to which the right-handed normal of 0, 1, 2 points.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tempi {

enum class CellType : std::uint8_t { point1, line2, line3, triangle3, triangle6, tetrahedron4, tetrahedron10, shell3 };

constexpr std::size_t cell_types = 8;

struct CellTypeInfo {
  std::string_view name;
  int dim;
  int nodes;
  int vertices;
  int vtk, gmsh;                           // their numbers of this cell
  std::array<std::string_view, 2> abaqus;  // its names there
};

constexpr CellTypeInfo info(CellType type) {
  constexpr std::array<CellTypeInfo, cell_types> table = {{
      {"point", 0, 1, 1, 1, 15, {}},
      {"2-node line", 1, 2, 2, 3, 1, {}},
      {"3-node line", 1, 3, 2, 21, 8, {}},
      {"3-node triangle", 2, 3, 3, 5, 2, {"CPE3"}},
      {"6-node triangle", 2, 6, 3, 22, 9, {"CPE6", "CPE6M"}},
      {"4-node tetrahedron", 3, 4, 4, 10, 4, {"C3D4"}},
      {"10-node tetrahedron", 3, 10, 4, 24, 11, {"C3D10", "C3D10M"}},
      {"3-node shell", 2, 3, 3, 5, 2, {}},
  }};
  return table[static_cast<std::size_t>(type)];
}

// The first type for which test(info) holds.
template <class Test>
std::optional<CellType> find_cell_type(Test&& test) {
  for (std::size_t i = 0; i < cell_types; ++i)
    if (test(info(static_cast<CellType>(i)))) return static_cast<CellType>(i);
  return std::nullopt;
}

// End vertices of each mid-edge node, in node order after the vertices.
inline std::span<const std::array<int, 2>> mid_edges(CellType type) {
  static constexpr std::array<std::array<int, 2>, 1> line = {{{0, 1}}};
  static constexpr std::array<std::array<int, 2>, 3> triangle = {{{0, 1}, {1, 2}, {2, 0}}};
  static constexpr std::array<std::array<int, 2>, 6> tetrahedron = {{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
  switch (type) {
    case CellType::line3: return line;
    case CellType::triangle6: return triangle;
    case CellType::tetrahedron10: return tetrahedron;
    default: return {};
  }
}

// The facets of a cell, of one dimension less than space: type and local nodes, oriented so that the normal points out:
// right of the direction of travel in 2-D, right-handed in 3-D. A shell is its own facet, seen from where its nodes are
// counter-clockwise.
struct LocalFacet {
  CellType type;
  std::array<int, 6> nodes;
};
inline std::span<const LocalFacet> local_facets(CellType type) {
  using enum CellType;
  static constexpr std::array<LocalFacet, 2> of_line = {{{point1, {0}}, {point1, {1}}}};
  static constexpr std::array<LocalFacet, 3> of_triangle3 = {{{line2, {0, 1}}, {line2, {1, 2}}, {line2, {2, 0}}}};
  static constexpr std::array<LocalFacet, 3> of_triangle6 = {
      {{line3, {0, 1, 3}}, {line3, {1, 2, 4}}, {line3, {2, 0, 5}}}};
  static constexpr std::array<LocalFacet, 4> of_tetrahedron4 = {
      {{triangle3, {0, 2, 1}}, {triangle3, {0, 1, 3}}, {triangle3, {1, 2, 3}}, {triangle3, {0, 3, 2}}}};
  static constexpr std::array<LocalFacet, 4> of_tetrahedron10 = {{{triangle6, {0, 2, 1, 6, 5, 4}},
                                                                  {triangle6, {0, 1, 3, 4, 8, 7}},
                                                                  {triangle6, {1, 2, 3, 5, 9, 8}},
                                                                  {triangle6, {0, 3, 2, 7, 9, 6}}}};
  static constexpr std::array<LocalFacet, 1> of_shell3 = {{{triangle3, {0, 1, 2}}}};
  switch (type) {
    case shell3: return of_shell3;
    case line2:
    case line3: return of_line;
    case triangle3: return of_triangle3;
    case triangle6: return of_triangle6;
    case tetrahedron4: return of_tetrahedron4;
    case tetrahedron10: return of_tetrahedron10;
    default: return {};
  }
}

}  // namespace tempi
