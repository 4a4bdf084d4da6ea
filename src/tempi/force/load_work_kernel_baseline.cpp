// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/add_load_works.hpp"

namespace tempi {

template LoadWorkKernel load_work_kernel_of<2>(int dim);

}  // namespace tempi
