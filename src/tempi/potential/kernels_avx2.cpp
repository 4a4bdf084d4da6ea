// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/strike_cells.hpp"
#include "tempi/potential/strike_stiffness.hpp"

namespace tempi {

const CellKernels& avx2_kernels() {
  static const CellKernels kernels = {"avx2", 4, kernel_of<4>, stiffness_of<4>, pair_kernel_of<4>, near_points<4>};
  return kernels;
}

}  // namespace tempi
