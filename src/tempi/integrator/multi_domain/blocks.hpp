// SPDX-License-Identifier: Apache-2.0
// Parts of sparse matrices: of those components that are driven, free, or unknown.
#pragma once

#include <Eigen/SparseCore>
#include <span>

#include "tempi/core/ids.hpp"

namespace tempi {

// A(rows, columns), of so many, given by the places of A's own in these: -1 for none.
Eigen::SparseMatrix<double> block(const Eigen::SparseMatrix<double>& A, std::span<const Index> row_place, Index rows,
                                  std::span<const Index> column_place, Index columns);

// A(chosen, chosen), of a square A; in the order given, each at most once.
Eigen::SparseMatrix<double> block(const Eigen::SparseMatrix<double>& A, std::span<const Index> chosen);

}  // namespace tempi
