// SPDX-License-Identifier: Apache-2.0
#define TEMPI_EIGEN Eigen_avx2
#include "tempi/simd/multiply_matrices.hpp"

namespace tempi {

template MatrixProduct matrix_product_of<4>();

}  // namespace tempi
