// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/follow_pressure.hpp"

namespace tempi {

template PressureKernel pressure_kernel_of<8>(std::size_t nodes, std::size_t dim);

}  // namespace tempi
