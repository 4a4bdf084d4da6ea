// SPDX-License-Identifier: Apache-2.0
// The kernel of what loads within terms have done, for those who watch strikes: eight terms a row, whatever the width
// of packs, so that what is kept of them does not depend on the machine.
#pragma once

#include <array>
#include <cstdint>

#include "tempi/core/ids.hpp"
#include "tempi/simd/eight.hpp"
#include "tempi/simd/node_line.hpp"

namespace tempi {

// What forces of a row's terms have: all components, or one of them only, as gravity mostly has.
struct LoadRow {
  static constexpr std::int32_t all = -1;
  std::int32_t component;
  Index force;  // where they begin
};

// Rows side by side. Where a term has no load or fewer nodes, its force is zero and its line any.
struct LoadRows {
  std::size_t nodes;                                    // of a term, at most
  const std::array<std::int32_t, Eight::lanes>* lines;  // `nodes` a row
  const LoadRow* rows;
  const Eight* force;   // `nodes` times the components it has a row [N]
  Eight* displacement;  // those of the last strike, likewise [m]; null where no force changes
  Eight* way;           // one a row: sum f . u of the last strike, where none changes [J]
};

// Of rows first to last - 1, one each: `power` sum f . v [W]; `work` that of f on the way since the last strike [J],
// which is noted.
using LoadWorkKernel = void (*)(const LoadRows& rows, Index first, Index last, const NodeLine* nodes,
                                const NodeMean* means, Eight* power, Eight* work);

// Of the instruction set with packs of W doubles; of the one in use.
template <int W>
LoadWorkKernel load_work_kernel_of(int dim);
LoadWorkKernel load_work_kernel(int dim);

}  // namespace tempi
