// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/strike_rows.hpp"

namespace tempi {

template PairKernel pair_kernel_of<8>(PackedLawKind law);
template Index near_points<8>(const CellPoints&, Index, const double*, double, const PackedBox&, std::int32_t*);

}  // namespace tempi
