// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/add_residuals.hpp"

namespace tempi {

template ResidualKernel residual_kernel_of<8>();

}  // namespace tempi
