// SPDX-License-Identifier: Apache-2.0
// The kernel of matrix_product.hpp. Include in matrix_product_*.cpp only: once per instruction set, with Eigen by
// another name for each, TEMPI_EIGEN, as its inline functions are not the same.
#pragma once

#ifndef TEMPI_EIGEN
#error "multiply_matrices.hpp is for the sources of matrix_product.hpp. Include that."
#endif
#if defined(__GNUC__) && !defined(__clang__)  // GCC 12 of its own intrinsics, bug 105593
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define Eigen TEMPI_EIGEN
#include <Eigen/Core>

#include "tempi/simd/matrix_product.hpp"

namespace tempi {

template <int W>
MatrixProduct matrix_product_of() {
  return [](double factor, const double* A, const double* B, Index n, double* C) {
    using Map = Eigen::Map<const Eigen::MatrixXd>;
    Eigen::Map<Eigen::MatrixXd>(C, n, n).noalias() = factor * (Map(A, n, n) * Map(B, n, n));
  };
}

}  // namespace tempi
