// SPDX-License-Identifier: Apache-2.0
// The kernels of elastic cells, and the packed data they work on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tempi/core/ids.hpp"
#include "tempi/material/material.hpp"
#include "tempi/mesh/elements.hpp"
#include "tempi/simd/node_line.hpp"

namespace tempi {

// Cells in packs of `width`, everything of a pack side by side, lane by lane. In front of the lanes:
//   places    node of the element
//   geometry  geometry point, then dxi_j/dX_J (row major in j, J) and det dX/dxi
// Straight cells have one geometry point, curved ones one for each point of their rule.
struct PackedCells {
  const double* geometry;
  const std::int32_t* places;
  Lame lame;
};

// Strikes packs first to last - 1; tells whether all det F were positive and finite. Where `energies` is not null it is
// watched (Batch::watch): writes there V_K and to `kept` the impulses -step dV/dx of all nodes but the first, pack by
// pack, all lanes. One function for both, so that watching changes no bit of the run.
using CellStrike = bool (*)(const PackedCells& cells, Index first, Index last, double step, NodeLine* nodes,
                            double* energies, double* kept);

// Energies and gradients of packs first to last - 1, one cell behind the other, all lanes (Batch::measure).
using CellMeasure = void (*)(const PackedCells& cells, Index first, Index last, const NodeLine* nodes, double* energies,
                             double* gradients);

// What became of the impulses kept (Batch::works).
using CellWorks = void (*)(const PackedCells& cells, Index first, Index last, const NodeMean* means, const double* kept,
                           double* kinetic, double* work);

// Strikes with step 1, and the sum of the energies.
using CellLook = bool (*)(const PackedCells& cells, Index first, Index last, NodeLine* nodes, double& energy);

// How a strike of step 1 changes with displacements w (Batch::strike_change). `impulses`, if not null: one cell behind
// the other, all lanes.
using CellChange = void (*)(const PackedCells& cells, Index first, Index last, NodeLine* nodes, const NodeShift* w,
                            double* impulses);

struct CellKernel {
  CellStrike strike;
  CellMeasure measure;
  CellWorks works;
  CellLook look;
  CellChange change;
};

// What viscous cells do (resist_cells.hpp): one after the other, forwards or backwards, all packs of disjoint nodes.
struct Viscous {
  double lambda, mu;                // [Pa s]; 2 mu >= 0, dim lambda + 2 mu >= 0
  double relax, step;               // [s]: w = v - relax M^{-1} R(w), then v -= step M^{-1} R(w), R the resistance [N]
  bool backward;                    // packs, points of a cell
  const char* at_support;           // by pack: whether a node of it has held components; only then looked at:
  const std::array<bool, 3>* held;  // by line
  std::array<double, 3>* withheld;  // by line: impulses on held components are added here, not to velocities [N s]
};

// Packs first to last - 1; returns the work done (<= 0) [J]. `kept`, if not null: of all packs, the impulses -step R of
// every node, lane by lane.
using CellResistance = double (*)(const PackedCells& cells, const Viscous& viscous, Index first, Index last,
                                  NodeLine* nodes, double* kept);

enum class CellMaterial { neo_hookean, saint_venant_kirchhoff, linear_elastic };  // the order of Material

// Of the instruction set with packs of W doubles.
template <int W>
CellKernel cell_kernel_of(CellShape shape, CellMaterial material);

template <int W>
CellResistance cell_resistance_of(CellShape shape);

// Of the one in use (simd/instruction_set.hpp).
CellKernel cell_kernel(CellShape shape, CellMaterial material);
CellResistance cell_resistance(CellShape shape);

}  // namespace tempi
