// SPDX-License-Identifier: Apache-2.0
// The largest eigenvalue of a small symmetric matrix, where the others are of no interest: a third of the time all of
// them take at 30 rows.
#pragma once

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tempi {

// Of the matrix with `diagonal` and `beside` it, which has one component less. To rounding of the largest component;
// NaN where one is not finite. At least one row.
//
// Laguerre's iteration from Gershgorin's bound, which comes down to the largest root of p(x) = det(x - T) without
// passing it as all roots are real (Wilkinson, The Algebraic Eigenvalue Problem, 1965, chapter 7). p is the product of
// r_i = x - d_i - e_{i-1}^2 / r_{i-1}, all positive above it; g and h are the sums of 1/(x - lambda) and of its square.
template <class Diagonal, class Beside>
double largest_eigenvalue_of_tridiagonal(const Diagonal& diagonal, const Beside& beside) {
  const Eigen::Index n = diagonal.size();
  const auto off = [&](Eigen::Index i) { return i >= 0 && i + 1 < n ? std::abs(beside(i)) : 0.0; };
  double x = diagonal(0) + off(0), size = 0.0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double row = off(i - 1) + off(i);
    if (!std::isfinite(diagonal(i) + row)) return std::numeric_limits<double>::quiet_NaN();
    x = std::max(x, diagonal(i) + row);
    size = std::max(size, std::abs(diagonal(i)) + row);
  }
  const auto degree = static_cast<double>(n);
  constexpr int most = 200;  // near roots of the same value a step takes a part only of the way that is left
  for (int k = 0; k < most; ++k) {
    double g = 0.0, h = 0.0, of_last = 0.0, slope = 0.0, bend = 0.0;  // e^2 / r_{i-1}; r' / r and r'' / r of the last
    for (Eigen::Index i = 0; i < n; ++i) {
      const double r = x - diagonal(i) - of_last;
      if (!(r > 0.0)) return x;
      const double inverse = 1.0 / r;
      bend = inverse * of_last * (bend - 2.0 * slope * slope);
      slope = inverse * (1.0 + of_last * slope);
      g += slope;
      h += slope * slope - bend;
      of_last = off(i) * off(i) * inverse;
    }
    const double way = degree / (g + std::sqrt(std::max(0.0, (degree - 1.0) * (degree * h - g * g))));
    if (!(way > 0.25 * std::numeric_limits<double>::epsilon() * size)) return x;
    x -= way;
  }
  return x;
}

template <class Matrix>
double largest_eigenvalue(const Matrix& symmetric) {
  const double size = symmetric.template lpNorm<Eigen::Infinity>();  // squares must be numbers
  if (size == 0.0) return 0.0;
  const Eigen::Tridiagonalization<Matrix> T(Matrix(symmetric / size));
  return size * largest_eigenvalue_of_tridiagonal(T.diagonal(), T.subDiagonal());
}

}  // namespace tempi
