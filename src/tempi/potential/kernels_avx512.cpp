// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/strike_cells.hpp"
#include "tempi/potential/strike_stiffness.hpp"

namespace tempi {

const CellKernels& avx512_kernels() {
  static const CellKernels kernels = {"avx512", 8, kernel_of<8>, stiffness_of<8>, pair_kernel_of<8>, near_points<8>};
  return kernels;
}

}  // namespace tempi
