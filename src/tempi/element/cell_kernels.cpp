// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/cell_kernels.hpp"

#include "tempi/element/shell_kernels.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi {

TermKernel cell_kernel(CellShape shape, CellMaterial material) {
  return with_pack_width([&]<int W>() { return cell_kernel_of<W>(shape, material); });
}

CellResistance cell_resistance(CellShape shape) {
  return with_pack_width([&]<int W>() { return cell_resistance_of<W>(shape); });
}

ConfigurationalKernel configurational_kernel(CellShape shape, CellMaterial material) {
  return with_pack_width([&]<int W>() { return configurational_kernel_of<W>(shape, material); });
}

TermKernel membrane_kernel(CellMaterial material) {
  return with_pack_width([&]<int W>() { return membrane_kernel_of<W>(material); });
}

TermKernel hinge_kernel() {
  return with_pack_width([]<int W>() { return hinge_kernel_of<W>(); });
}

}  // namespace tempi
