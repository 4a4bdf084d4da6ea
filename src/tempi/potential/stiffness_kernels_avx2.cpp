// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/strike_stiffness.hpp"

namespace tempi {

template StiffnessStrike stiffness_strike_of<4>(std::size_t nodes, int dim);

}  // namespace tempi
