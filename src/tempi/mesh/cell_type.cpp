// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/cell_type.hpp"

namespace tempi {

std::span<const std::array<int, 2>> mid_edges(CellType type) {
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

std::span<const LocalFacet> local_facets(CellType type) {
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
  switch (type) {
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
