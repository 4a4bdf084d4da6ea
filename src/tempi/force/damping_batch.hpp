// SPDX-License-Identifier: Apache-2.0
// Elements of a damper that act one after the other: what fast engines use instead of the common solution of
// dampers.hpp, packed once for speed where the damper knows how. Each element, or part of one, resists alone, exactly:
//
//   w = v - relax M^{-1} R(w),   v -= step M^{-1} R(w),   R(w) = C w [N]
//
// with relax = step / 2 the mean of the velocities before and after, so that it takes step w . C w >= 0 whatever the
// step. The order decides the rest: elements that share nodes do not commute, and an order taken forwards and backwards
// by turns has no error of first order.
#pragma once

#include <array>
#include <span>

#include "tempi/core/ids.hpp"
#include "tempi/simd/node_line.hpp"

namespace tempi {

class DampingBatch {
 public:
  struct Sweep {
    double t;            // of the instant [s]
    double relax, step;  // [s]
    bool backward;
    std::span<const std::array<bool, 3>> held;  // by line: components of prescribed velocity; empty if there are none
    std::span<std::array<double, 3>> withheld;  // by line: what acts on those is added here instead [N s]
  };

  virtual ~DampingBatch() = default;

  // Packs first to last - 1 of the elements given when it was made. Two threads may take parts that share no node.
  // Returns the work done, <= 0 [J]. Where `kept` is not empty it takes the impulses -step R of all packs.
  virtual double resist(Index first, Index last, const Sweep& sweep, std::span<NodeLine> nodes,
                        std::span<double> kept) const = 0;

  virtual std::size_t row() const = 0;  // numbers an element of `kept`, dim for each stencil node
  // Of packs, what these impulses do at velocities by line [J]: one number for each element there is room for in a
  // pack.
  virtual void works(Index first, Index last, std::span<const double> kept, std::span<const NodeMean> velocities,
                     std::span<double> work) const = 0;
  // Of the element in that place, out of what was kept.
  virtual void impulse(std::size_t element, std::span<const double> kept, std::span<double> p) const = 0;
};

}  // namespace tempi
