// SPDX-License-Identifier: Apache-2.0
// The bodies the benchmarks run: blocks of simplices, graded towards a corner, with slivers, of one or two materials.
// Reproducible: the same call gives the same body on every machine.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tempi/material/material.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/model/model.hpp"
#include "tempi/model/state.hpp"

namespace tempi::bench {

struct BlockShape {
  CellType type = CellType::tetrahedron4;
  Index cells = 100000;  // about this many
  double grading = 1.0;  // largest over smallest spacing of the lattice: it grows over the first quarter of each axis
  std::array<double, 3> power = {1.0, 1.0, 1.0};  // of the position along an axis, which then places plane i at (i/n)^p
  std::array<int, 3> divisions = {};              // of each axis; 0: as many as `cells` asks for, the same for all
  double jitter = 0.15;                           // of the local spacing: how far points are moved at random
  double bend = 0.0;       // of each edge: how far its middle node is moved at random; only inside the block
  double slivers = 0.0;    // part of the cells to flatten
  double flatness = 0.03;  // height left to them
  unsigned seed = 1;
};

Mesh block(const BlockShape& shape);

struct Body {
  std::unique_ptr<Mesh> mesh;
  std::unique_ptr<Model> model;
};

// Steel-like (lambda 93 GPa, mu 10 GPa, 7800 kg/m^3), the law as named by `material`; with `two_materials` the half
// beyond X = 1/2 is sixteen times as soft at the same density.
Body body_of(Mesh mesh, const Material& material, bool two_materials, MassShares shares = MassShares::own);

// Of several materials and densities [kg/m^3]: which(mesh, cell) is the place of each cell's among `stuffs`.
struct Stuff {
  Material material;
  double density;
};
using WhichStuff = std::function<std::size_t(const Mesh& mesh, CellId cell)>;
Body body_of(Mesh mesh, const std::vector<Stuff>& stuffs, const WhichStuff& which, MassShares shares);

// Undeformed, with random velocities that strain it by about 1e-3.
State shaken(const Body& body, unsigned seed);

}  // namespace tempi::bench
