// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/push_kernel.hpp"

#include "tempi/simd/instruction_set.hpp"

namespace tempi {

PushKernel push_kernel() {
  return with_pack_width([]<int W>() { return push_kernel_of<W>(); });
}

}  // namespace tempi
