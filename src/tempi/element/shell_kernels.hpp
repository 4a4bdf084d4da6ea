// SPDX-License-Identifier: Apache-2.0
// The kernels of thin shells. Geometry in front of the lanes: MembraneGeometry, HingeGeometry, in their order.
#pragma once

#include "tempi/element/cell_kernels.hpp"
#include "tempi/element/term_kernel.hpp"

namespace tempi {

// Of the instruction set with packs of W doubles; of the one in use.
template <int W>
TermKernel membrane_kernel_of(CellMaterial material);  // of the first two
template <int W>
TermKernel hinge_kernel_of();
TermKernel membrane_kernel(CellMaterial material);
TermKernel hinge_kernel();

}  // namespace tempi
