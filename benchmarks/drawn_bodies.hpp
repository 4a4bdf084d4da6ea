// SPDX-License-Identifier: Apache-2.0
// Bodies drawn at random from kinds that users have, for sweeps whose evidence is to be as wide as its claim. The same
// kind, element and seed give the same body on every machine (meshes of Gmsh: with the same version of it).
#pragma once

#include <string>

#include "bodies.hpp"

namespace tempi::bench {

enum class Kind {
  one_axis,    // spacing growing along one axis, plane i at (i/n)^p, p = 1, 2, 3 or 4
  two_axes,    // along two, each with a power of its own
  three_axes,  // along all of them
  slivers,     // 1 to 5 % of the cells flattened to a fiftieth to a third of their height
  contrast,    // two materials, 10 to 10^4 apart in stiffness: halves, or balls in a matrix
  notched,     // plate with a notch, refined 5 to 40 times at its tip; by Gmsh
  drilled,     // bracket, or disc of a gear's shape, refined at its holes or at the roots of its teeth; by Gmsh
};
inline constexpr std::array all_kinds = {Kind::one_axis, Kind::two_axes, Kind::three_axes, Kind::slivers,
                                         Kind::contrast, Kind::notched,  Kind::drilled};
std::string name_of(Kind kind);

bool exists(Kind kind, CellType type);  // bars have one axis, and Gmsh makes none

// Jitter 0 to 25 %, 300 to 1500 4-node tetrahedra or about as many unknowns. The description tells the draw.
struct DrawnBody {
  Body body;
  std::string description;
};
DrawnBody drawn_body(Kind kind, CellType type, std::uint64_t seed, MassShares shares);

// The same of a mesh file and its own size, of one material.
DrawnBody body_of_file(const std::string& file, CellType type, MassShares shares);

}  // namespace tempi::bench
