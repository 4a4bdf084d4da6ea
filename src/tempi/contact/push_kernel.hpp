// SPDX-License-Identifier: Apache-2.0
// Kernels of layered contact: pushes of several pairs at once (push_formula.hpp), on the nodes of a lattice engine as
// they are on their way.
#pragma once

#include <span>

#include "tempi/contact/closest_points.hpp"
#include "tempi/contact/push_formula.hpp"
#include "tempi/simd/node_line.hpp"

namespace tempi {

// By vertex of a surface. A vertex is at reference + displacement + velocity (now - clock) tick.
struct SurfaceNodes {
  const NodeLine* const* line;
  const NodeShift* reference;
  double now;                                             // [ticks]
  double tick;                                            // [s]
  const VelocityCorrection* const* correction = nullptr;  // of velocities that pushes tell; null: none
};
struct PairToPush {
  std::array<std::int32_t, 4> vertex;
  double radii, parallel_from;  // LayeredContact::Constants
  double step;                  // of layer 0 [s]; that of layer l is 2^-l of it
  std::int32_t from, to;        // layers
};
// Weighted by the steps of the layers.
struct alignas(32) PairPush {
  double impulse[4][4];                // of each vertex, and a zero [N s]
  double sliding[4];                   // velocity of the first closest point along the second, and a zero [m/s]
  double distance;                     // [m]
  double rate;                         // at which it grows, where they touch [m/s]
  double reach;                        // the largest component of a place [m]
  std::int32_t near, touched;          // layers, as in LayeredContact::Push
  double along, normal[3], weight[4];  // as there
};

// Pairs of one kind.
using PushKernel = void (*)(SimplexPair kind, const LayerTable& layers, const SurfaceNodes& nodes,
                            std::span<const PairToPush> pairs, PairPush* pushes);

// Of the instruction set with packs of W doubles; of the one in use.
template <int W>
PushKernel push_kernel_of();
PushKernel push_kernel();

}  // namespace tempi
