// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/strike_rows.hpp"

namespace tempi {

template PairKernel pair_kernel_of<8>(PackedLawKind law, bool part);

}  // namespace tempi
