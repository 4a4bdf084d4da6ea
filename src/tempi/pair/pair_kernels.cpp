// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/pair_kernels.hpp"

#include "tempi/simd/instruction_set.hpp"

namespace tempi {

PairKernel pair_kernel(PackedLawKind law, bool part) {
  return with_pack_width([&]<int W>() { return pair_kernel_of<W>(law, part); });
}

BondResistance dashpot_resistance() {
  return with_pack_width([]<int W>() { return dashpot_resistance_of<W>(); });
}

}  // namespace tempi
