// SPDX-License-Identifier: Apache-2.0
// The kernels of elastic cells. Geometry in front of the lanes: geometry point, then dxi_j/dX_J (row major in j, J) and
// det dX/dxi. Straight cells have one geometry point, curved ones one for each point of their rule.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tempi/core/ids.hpp"
#include "tempi/element/term_kernel.hpp"
#include "tempi/mesh/elements.hpp"
#include "tempi/simd/node_line.hpp"

namespace tempi {

// Of the volume of a viscous cell; flatter ones resist as if they had so much left. Only linear elastic ones get there.
inline constexpr double flattest = 1e-4;

// Of a pack: all its nodes are free and no two the same; or some lanes only fill it up, at nodes of others; or no lanes
// do, and nodes are free or held in all components; or anything.
enum class ViscousPack : char { free, filled_up, at_held_nodes, at_support };

// What viscous cells do (resist_cells.hpp): one after the other, forwards or backwards, all packs of disjoint nodes.
struct Viscous {
  double lambda, mu;   // [Pa s]; 2 mu >= 0, dim lambda + 2 mu >= 0
  double relax, step;  // [s]: w = v - relax M^{-1} R(w), then v -= step M^{-1} R(w), R the resistance [N]
  bool backward;       // packs, points of a cell
  const ViscousPack* packs;
  // Of packs at supports:
  const std::array<bool, 3>* held;  // by line
  std::array<double, 3>* withheld;  // by line: impulses on held components are added here, not to velocities [N s]
};

// Packs first to last - 1, dX/dxi in the geometry instead of its inverse; returns the work done (<= 0) [J]. `kept`, if
// not null: of all packs, the impulses -step R of every node, lane by lane.
using CellResistance = double (*)(const PackedTerms& cells, const Viscous& viscous, Index first, Index last,
                                  NodeLine* nodes, double* kept);

// Configurational forces of the packs of cells, at displacements in `nodes`: dim components a node, one cell behind the
// other, all lanes. `kinetic`: T of each cell [J/m^3]; places: of nodes stay, otherwise displacements do.
using ConfigurationalKernel = void (*)(const PackedTerms& cells, Index packs, const NodeLine* nodes,
                                       const double* kinetic, bool places, double* forces);

enum class CellMaterial { neo_hookean, saint_venant_kirchhoff, linear_elastic };  // the order of Material

// Of the instruction set with packs of W doubles.
template <int W>
TermKernel cell_kernel_of(CellShape shape, CellMaterial material);

template <int W>
CellResistance cell_resistance_of(CellShape shape);

template <int W>
ConfigurationalKernel configurational_kernel_of(CellShape shape, CellMaterial material);

// Of the one in use (simd/instruction_set.hpp).
TermKernel cell_kernel(CellShape shape, CellMaterial material);
CellResistance cell_resistance(CellShape shape);
ConfigurationalKernel configurational_kernel(CellShape shape, CellMaterial material);

}  // namespace tempi
