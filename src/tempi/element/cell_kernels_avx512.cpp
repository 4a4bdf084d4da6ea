// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/resist_cells.hpp"
#include "tempi/element/strike_cells.hpp"

namespace tempi {

template CellKernel cell_kernel_of<8>(CellShape shape, CellMaterial material);
template CellResistance cell_resistance_of<8>(CellShape shape);

}  // namespace tempi
