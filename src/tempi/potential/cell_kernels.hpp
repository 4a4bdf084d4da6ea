// SPDX-License-Identifier: Apache-2.0
// The strikes of batches for one instruction set, and the packed data they work on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tempi/material/material.hpp"
#include "tempi/potential/batch.hpp"
#include "tempi/potential/pair_kernels.hpp"

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

// Terms with a constant stiffness, in packs of `width`. In front of the lanes:
//   places     node of the term
//   stiffness  the upper triangle of K, row by row
struct PackedStiffness {
  const double* stiffness;
  const std::int32_t* places;
};
using StiffnessStrike = void (*)(const PackedStiffness& terms, Index first, Index last, double step, NodeLine* nodes);

enum class CellMaterial { neo_hookean, saint_venant_kirchhoff, linear_elastic };  // the order of Material
enum class CellShape {
  line2,
  triangle3,
  triangle6,
  curved_triangle6,
  tetrahedron4,
  tetrahedron10,
  curved_tetrahedron10
};

struct CellKernels {
  const char* instructions;
  Index width;
  CellKernel (*kernel)(CellShape shape, CellMaterial material);
  StiffnessStrike (*stiffness)(std::size_t nodes, int dim);  // null for stencils nobody has yet
  PairKernel (*pairs)(PackedLawKind law);
  NearKernel near_points;
};

// One for each instruction set the library was built for. Only those the machine has may be called.
const CellKernels& baseline_kernels();
#ifdef TEMPI_X86_KERNELS
const CellKernels& avx2_kernels();
const CellKernels& avx512_kernels();
#endif

// The widest kernels this machine can run; TEMPI_INSTRUCTIONS = baseline | avx2 | avx512 in the environment asks for
// narrower ones.
const CellKernels& cell_kernels();

}  // namespace tempi
