// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/pressure_kernel.hpp"

#include "tempi/simd/instruction_set.hpp"

namespace tempi {

PressureKernel pressure_kernel(std::size_t nodes, std::size_t dim) {
  return with_pack_width([&]<int W>() { return pressure_kernel_of<W>(nodes, dim); });
}

}  // namespace tempi
