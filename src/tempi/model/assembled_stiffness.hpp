// SPDX-License-Identifier: Apache-2.0
// The assembled stiffness of a model, K = sum_K d2V_K/dx2, as implicit methods need it: the pattern is found once, the
// values as often as asked for.
#pragma once

#include <Eigen/SparseCore>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tempi/model/model.hpp"

namespace tempi {

class AssembledStiffness {
 public:
  using Matrix = Eigen::SparseMatrix<double>;

  explicit AssembledStiffness(const Model& model);  // which must outlive it

  // K at displacements u and time t [N/m], both triangles; components of a node are neighbours, as in u.
  const Matrix& operator()(std::span<const double> u, double t);

  // The sum of other matrices of the terms: `add` adds that of a term to H, laid out as in Potential::add_hessian; it
  // need not be symmetric.
  const Matrix& assemble(const std::function<void(TermId, std::span<double> H)>& add);

  const Matrix& pattern() const { return K_; }  // with the values of the last call

 private:
  const Model& model_;
  Matrix K_;
  std::vector<std::int32_t> rank_;  // of each term and pair (a, b) of its nodes: place of a among the neighbours of b
};

}  // namespace tempi
