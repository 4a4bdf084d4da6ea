// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/cell_kernels.hpp"

#include "tempi/simd/instruction_set.hpp"

namespace tempi {

CellKernel cell_kernel(CellShape shape, CellMaterial material) {
  return with_pack_width([&]<int W>() { return cell_kernel_of<W>(shape, material); });
}

CellResistance cell_resistance(CellShape shape) {
  return with_pack_width([&]<int W>() { return cell_resistance_of<W>(shape); });
}

}  // namespace tempi
