// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/stiffness_kernels.hpp"

#include "tempi/simd/instruction_set.hpp"

namespace tempi {

StiffnessStrike stiffness_strike(std::size_t nodes, int dim) {
  return with_pack_width([&]<int W>() { return stiffness_strike_of<W>(nodes, dim); });
}

}  // namespace tempi
