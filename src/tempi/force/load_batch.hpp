// SPDX-License-Identifier: Apache-2.0
// Elements of a load that act together and depend on where the nodes are, packed once for speed: what fast engines
// evaluate instead of single elements. (Dead loads need none: they are lists of parts, Force::each_dead_part.)
#pragma once

#include <span>

#include "tempi/core/ids.hpp"
#include "tempi/simd/node_line.hpp"

namespace tempi {

class LoadBatch {
 public:
  virtual ~LoadBatch() = default;

  // Looks at the formulas at time t. Throws SolveError where one has no value.
  virtual void prepare(double t) = 0;

  // Forces [N] of elements first to last - 1 at the time prepared for, in rows of row() numbers, dim for each stencil
  // node. `forces` begins with the row of `first`. Threads may evaluate different elements. May throw SolveError.
  virtual Index row() const = 0;
  virtual void evaluate(Index first, Index last, std::span<const NodeLine> nodes, std::span<double> forces) const = 0;
};

}  // namespace tempi
