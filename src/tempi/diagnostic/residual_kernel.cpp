// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/residual_kernel.hpp"

#include "tempi/simd/instruction_set.hpp"

namespace tempi {

ResidualKernel residual_kernel() {
  return with_pack_width([]<int W>() { return residual_kernel_of<W>(); });
}

}  // namespace tempi
