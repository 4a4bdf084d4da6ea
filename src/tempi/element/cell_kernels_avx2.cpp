// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/configurational_cells.hpp"
#include "tempi/element/resist_cells.hpp"
#include "tempi/element/strike_cells.hpp"
#include "tempi/element/strike_shells.hpp"

namespace tempi {

template TermKernel cell_kernel_of<4>(CellShape shape, CellMaterial material);
template CellResistance cell_resistance_of<4>(CellShape shape);
template ConfigurationalKernel configurational_kernel_of<4>(CellShape shape, CellMaterial material);
template TermKernel membrane_kernel_of<4>(CellMaterial material);
template TermKernel hinge_kernel_of<4>();

}  // namespace tempi
