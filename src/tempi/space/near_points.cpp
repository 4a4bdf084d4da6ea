// SPDX-License-Identifier: Apache-2.0
#include "tempi/space/near_points.hpp"

#include "tempi/simd/instruction_set.hpp"

namespace tempi {

NearKernel near_kernel() {
  return with_pack_width([]<int W>() { return near_kernel_of<W>(); });
}

}  // namespace tempi
