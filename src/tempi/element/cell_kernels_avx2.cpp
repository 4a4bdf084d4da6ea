// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/resist_cells.hpp"
#include "tempi/element/strike_cells.hpp"

namespace tempi {

template CellKernel cell_kernel_of<4>(CellShape shape, CellMaterial material);
template CellResistance cell_resistance_of<4>(CellShape shape);

}  // namespace tempi
