// SPDX-License-Identifier: Apache-2.0
// J_1 W J_0^T lambda = r, the equations of constraints' multipliers: J_0 and J_1 are gradients at two places, of one
// pattern, W inverse masses. Factors are those of the matrix; where some components are touched by so many constraints
// that it would be dense, as in a rigid body of many nodes, those of the larger, sparse one with y = W J_0^T lambda
// among the unknowns: (1, -W J_0^T; J_1, 0).
#pragma once

#include "tempi/integrator/one_step/newton.hpp"

namespace tempi {

class MultiplierSystem {
 public:
  using Matrix = SparseFactors::Matrix;
  using Vector = Eigen::VectorXd;

  // `symmetric`: J_1 is J_0 always. `Jt`: J^T, a row a component, a column a constraint; its pattern is that of all.
  MultiplierSystem(bool symmetric, const Matrix& Jt);

  bool is_bordered() const { return bordered_; }
  // `J1t`: J_1^T; `by_impulse`: W J_0^T. false: singular.
  bool factorise(const Matrix& J1t, const Matrix& by_impulse);
  Vector solve(const Vector& r) const;  // lambda

 private:
  bool bordered_;
  Index components_ = 0;  // y
  double scale_ = 1.0;    // of W J_0^T
  Matrix A_;              // what is factorised
  SparseFactors factors_;
};

}  // namespace tempi
