// SPDX-License-Identifier: Apache-2.0
// The kernels of terms with a constant stiffness, and the packed data they work on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tempi/core/ids.hpp"
#include "tempi/simd/node_line.hpp"

namespace tempi {

// Terms with a constant stiffness, in packs of `width`. In front of the lanes:
//   places     node of the term
//   stiffness  the upper triangle of K, row by row
struct PackedStiffness {
  const double* stiffness;
  const std::int32_t* places;
};
using StiffnessStrike = void (*)(const PackedStiffness& terms, Index first, Index last, double step, NodeLine* nodes);

// Null for stencils nobody has yet. Of the instruction set with packs of W doubles; of the one in use.
template <int W>
StiffnessStrike stiffness_strike_of(std::size_t nodes, int dim);
StiffnessStrike stiffness_strike(std::size_t nodes, int dim);

}  // namespace tempi
