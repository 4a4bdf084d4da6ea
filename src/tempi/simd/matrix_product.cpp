// SPDX-License-Identifier: Apache-2.0
#include "tempi/simd/matrix_product.hpp"

#include "tempi/simd/instruction_set.hpp"

namespace tempi {

MatrixProduct matrix_product() {
  return with_pack_width([]<int W>() { return matrix_product_of<W>(); });
}

}  // namespace tempi
