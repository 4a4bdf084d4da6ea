// SPDX-License-Identifier: Apache-2.0
#include "tempi/space/find_near_points.hpp"

namespace tempi {

template NearKernel near_kernel_of<4>();

}  // namespace tempi
