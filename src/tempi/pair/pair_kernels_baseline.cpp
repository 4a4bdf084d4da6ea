// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/resist_bonds.hpp"
#include "tempi/pair/strike_rows.hpp"

namespace tempi {

template PairKernel pair_kernel_of<2>(PackedLawKind law, bool part);
template BondResistance dashpot_resistance_of<2>();

}  // namespace tempi
