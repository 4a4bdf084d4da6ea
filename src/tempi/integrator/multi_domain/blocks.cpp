// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/multi_domain/blocks.hpp"

#include <vector>

namespace tempi {

using Sparse = Eigen::SparseMatrix<double>;

Sparse block(const Sparse& A, std::span<const Index> row_place, Index rows, std::span<const Index> column_place,
             Index columns) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index c = 0; c < A.cols(); ++c) {
    const Index column = column_place[static_cast<std::size_t>(c)];
    if (column < 0) continue;
    for (Sparse::InnerIterator k(A, c); k; ++k)
      if (const Index row = row_place[static_cast<std::size_t>(k.row())]; row >= 0)
        entries.emplace_back(row, column, k.value());
  }
  Sparse B(rows, columns);
  B.setFromTriplets(entries.begin(), entries.end());
  return B;
}

Sparse block(const Sparse& A, std::span<const Index> chosen) {
  std::vector<Index> place(static_cast<std::size_t>(A.cols()), -1);
  for (std::size_t k = 0; k < chosen.size(); ++k) place[static_cast<std::size_t>(chosen[k])] = static_cast<Index>(k);
  return block(A, place, std::ssize(chosen), place, std::ssize(chosen));
}

}  // namespace tempi
