// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/multiplier_system.hpp"

#include <vector>

namespace tempi {
namespace {

// Whether J W J^T has far more entries than the bordered matrix: a row that k constraints touch makes k^2 of them.
bool would_be_dense(const SparseFactors::Matrix& Jt) {
  constexpr double far_more = 8.0;
  std::vector<double> touching(static_cast<std::size_t>(Jt.rows()), 0.0);
  for (Index c = 0; c < Jt.outerSize(); ++c)
    for (SparseFactors::Matrix::InnerIterator it(Jt, c); it; ++it) ++touching[static_cast<std::size_t>(it.row())];
  double entries = 0.0;
  for (const double k : touching) entries += k * k;
  return entries > far_more * static_cast<double>(Jt.rows() + 2 * Jt.nonZeros());
}

}  // namespace

MultiplierSystem::MultiplierSystem(bool symmetric, const Matrix& Jt)
    : bordered_(would_be_dense(Jt)),
      factors_(symmetric && !bordered_ ? SparseFactors::Kind::symmetric : SparseFactors::Kind::general) {}

bool MultiplierSystem::factorise(const Matrix& J1t, const Matrix& by_impulse) {
  if (!bordered_) {
    A_ = J1t.transpose() * by_impulse;
    return factors_.factorise(A_);
  }
  components_ = J1t.rows();
  const Matrix J1 = J1t.transpose();
  const Index size = components_ + J1.rows();
  scale_ = by_impulse.nonZeros() > 0 ? by_impulse.coeffs().abs().maxCoeff() : 1.0;
  if (!(scale_ > 0.0)) return false;
  A_.resize(size, size);
  A_.reserve(components_ + 2 * J1.nonZeros());
  for (Index i = 0; i < components_; ++i) {
    A_.startVec(i);
    A_.insertBack(i, i) = 1.0;
    for (Matrix::InnerIterator it(J1, i); it; ++it) A_.insertBack(components_ + it.row(), i) = it.value();
  }
  for (Index c = 0; c < J1.rows(); ++c) {
    A_.startVec(components_ + c);
    for (Matrix::InnerIterator it(by_impulse, c); it; ++it)
      A_.insertBack(it.row(), components_ + c) = -it.value() / scale_;
  }
  A_.finalize();
  return factors_.factorise(A_);
}

MultiplierSystem::Vector MultiplierSystem::solve(const Vector& r) const {
  if (!bordered_) return factors_.solve(r);
  Vector right = Vector::Zero(components_ + r.size());
  right.tail(r.size()) = r;
  return factors_.solve(right).tail(r.size()) / scale_;
}

}  // namespace tempi
