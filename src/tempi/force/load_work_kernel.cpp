// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/load_work_kernel.hpp"

#include "tempi/simd/instruction_set.hpp"

namespace tempi {

LoadWorkKernel load_work_kernel(int dim) {
  return with_pack_width([dim]<int W>() { return load_work_kernel_of<W>(dim); });
}

}  // namespace tempi
