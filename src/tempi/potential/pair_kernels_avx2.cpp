// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/strike_rows.hpp"

namespace tempi {

template PairKernel pair_kernel_of<4>(PackedLawKind law);
template Index near_points<4>(const CellPoints&, Index, const double*, double, const PackedBox&, std::int32_t*);

}  // namespace tempi
