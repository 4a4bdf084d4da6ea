// SPDX-License-Identifier: Apache-2.0
// Products of dense square matrices by the machine's widest instructions, where programs of Eigen use those of every
// machine: five times faster from some hundred rows on.
#pragma once

#include "tempi/core/ids.hpp"

namespace tempi {

// C = factor A B of n rows and columns each, column behind column; C must be neither A nor B.
using MatrixProduct = void (*)(double factor, const double* A, const double* B, Index n, double* C);

// Of the instruction set with packs of W doubles; of the one in use.
template <int W>
MatrixProduct matrix_product_of();
MatrixProduct matrix_product();

}  // namespace tempi
