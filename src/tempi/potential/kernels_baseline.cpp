// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/strike_cells.hpp"
#include "tempi/potential/strike_stiffness.hpp"

namespace tempi {

const CellKernels& baseline_kernels() {
  static const CellKernels kernels = {"baseline", 2, kernel_of<2>, stiffness_of<2>, pair_kernel_of<2>, near_points<2>};
  return kernels;
}

}  // namespace tempi
