// SPDX-License-Identifier: Apache-2.0
// The kernels of elastic cells, and the packed data they work on.
#pragma once

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

// Strikes packs first to last - 1; tells whether all det F were positive and finite.
using CellStrike = bool (*)(const PackedCells& cells, Index first, Index last, double step, NodeLine* nodes);

// Energies and gradients of packs first to last - 1, one cell behind the other, all lanes (Batch::measure).
using CellMeasure = void (*)(const PackedCells& cells, Index first, Index last, const NodeLine* nodes, double* energies,
                             double* gradients);

struct CellKernel {
  CellStrike strike;
  CellMeasure measure;
};

enum class CellMaterial { neo_hookean, saint_venant_kirchhoff, linear_elastic };  // the order of Material

// Of the instruction set with packs of W doubles.
template <int W>
CellKernel cell_kernel_of(CellShape shape, CellMaterial material);

// Of the one in use (simd/instruction_set.hpp).
CellKernel cell_kernel(CellShape shape, CellMaterial material);

}  // namespace tempi
