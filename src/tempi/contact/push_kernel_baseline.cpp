// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/push_pairs.hpp"

namespace tempi {

template PushKernel push_kernel_of<2>();

}  // namespace tempi
