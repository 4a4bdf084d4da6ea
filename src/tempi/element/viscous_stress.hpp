// SPDX-License-Identifier: Apache-2.0
// The viscous stress of a cell's point under its own resistance (resist_cells.hpp), for doubles and packs of them:
//
//   T = lambda tr(e) 1 + 2 mu e,   e = d - r V sym(B M^{-1} B^T T)     d, e: rates before and of the mean velocity
//
// Where every component of a node has the node's mass, B M^{-1} B^T T = (T G + G T) / 2 with G = sum_a g_a (x) g_a /
// m_a and g_a = dN_a/dx, and e comes of Sylvester's equation: with M = 1/2 + mu r V G,
//
//   M e_0 + e_0 M = d,   e = e_0 - lambda p r V X,   M X + X M = G,   p = tr e,   T = 2 mu e_0 + lambda p M^{-1} / 2
//
// Where components are held they have no inverse mass: up to six equations, symmetric and positive definite.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "tempi/core/tensor.hpp"

namespace tempi {

template <class P, int dim>
struct ViscousLaw {
  P lambda, mu, two_mu, over_two_mu;
  P alone, of_trace, of_metric;  // tr e_0 / p = alone + of_trace tr M^{-1} + of_metric r V tr(M^{-1} G): sums of
                                 // nothing negative, whatever the signs
  P root, rest;                  // the root of the law: sqrt(2 mu) 1 + rest 1 (x) 1

  ViscousLaw(double of_lambda, double of_mu)
      : lambda(of_lambda), mu(of_mu), two_mu(2.0 * of_mu), over_two_mu(of_mu > 0.0 ? 0.5 / of_mu : 0.0) {
    constexpr double d = dim;
    const bool negative = of_lambda < 0.0;
    const double across = std::sqrt(2.0 * of_mu), along = std::max(0.0, std::fma(d, of_lambda, 2.0 * of_mu));
    alone = P(negative ? 0.5 * along / of_mu : 1.0);
    of_trace = P(negative ? -0.25 * of_lambda / of_mu : 0.0);
    of_metric = P(negative ? 0.0 : 0.5 * of_lambda);
    root = P(across);
    rest = P((std::sqrt(along) - across) / d);
  }
};

template <class P, int dim>
struct ViscousStress {
  Mat<P, dim> stress;  // [Pa]
  P power;             // T : e >= 0 [W/m^3]
};

// The inverse of a symmetric, positive definite matrix, as good as elimination's: cofactors of three rows lose the
// square of the condition.
template <class P, int dim>
inline Mat<P, dim> symmetric_inverse(const Mat<P, dim>& m) {
  Mat<P, dim> r;
  const auto invert_2 = [&r](P a, P b, P c) {  // of [a b; b c]
    const P over = P(1.0) / (a * c - b * b);
    r(0, 0) = over * c;
    r(0, 1) = r(1, 0) = -(over * b);
    r(1, 1) = over * a;
  };
  if constexpr (dim == 1) {
    r(0, 0) = P(1.0) / m(0, 0);
  } else if constexpr (dim == 2) {
    invert_2(m(0, 0), m(1, 0), m(1, 1));
  } else {
    const P pivot = P(1.0) / m(2, 2), x = pivot * m(2, 0), y = pivot * m(2, 1);
    invert_2(m(0, 0) - x * m(2, 0), m(1, 0) - x * m(2, 1), m(1, 1) - y * m(2, 1));
    r(2, 0) = r(0, 2) = -(r(0, 0) * x + r(0, 1) * y);
    r(2, 1) = r(1, 2) = -(r(1, 0) * x + r(1, 1) * y);
    r(2, 2) = pivot - (x * r(0, 2) + y * r(1, 2));
  }
  return r;
}

// x of m x = b for the same: the inverse would bring in a little of what is large in it and not in x.
template <class P>
inline std::array<P, 3> solve_symmetric(const Mat<P, 3>& m, const std::array<P, 3>& b) {
  const P pivot = P(1.0) / m(2, 2), x = pivot * m(2, 0), y = pivot * m(2, 1);
  const P a = m(0, 0) - x * m(2, 0), c = m(1, 0) - x * m(2, 1), d = m(1, 1) - y * m(2, 1);
  const P u = b[0] - x * b[2], v = b[1] - y * b[2], over = P(1.0) / (a * d - c * c);
  const P first = over * (d * u - c * v), second = over * (a * v - c * u);
  return {first, second, pivot * b[2] - x * first - y * second};
}

// X of M X + X M = E, N = M^{-1}, all symmetric. K = X M - M X is skew, X = N (E - K) / 2, and that X is symmetric
// makes N K + K N = N E - E N: one equation in 2-D, three in 3-D, (tr(N) 1 - N) k = w in the axial vectors.
template <class P, int dim>
inline Mat<P, dim> solve_sylvester(const Mat<P, dim>& N, const Mat<P, dim>& E) {
  const Mat<P, dim> Y = N * E;
  Mat<P, dim> K;
  if constexpr (dim == 2) {
    K(0, 1) = (Y(0, 1) - Y(1, 0)) / trace(N);
    K(1, 0) = -K(0, 1);
  } else if constexpr (dim == 3) {
    Mat<P, dim> A;
    for (std::size_t c = 0; c < A.a.size(); ++c) A.a[c] = c % 4 == 0 ? trace(N) - N.a[c] : -N.a[c];
    const std::array<P, 3> k = solve_symmetric<P>(A, {Y(2, 1) - Y(1, 2), Y(0, 2) - Y(2, 0), Y(1, 0) - Y(0, 1)});
    for (int i = 0; i < 3; ++i) {
      K((i + 2) % 3, (i + 1) % 3) = k[static_cast<std::size_t>(i)];
      K((i + 1) % 3, (i + 2) % 3) = -k[static_cast<std::size_t>(i)];
    }
  }
  Mat<P, dim> X;
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j <= i; ++j) {
      P sum = Y(i, j);
      for (int k = 0; k < dim; ++k)
        if (k != j) sum = sum - N(i, k) * K(k, j);
      X(i, j) = X(j, i) = P(0.5) * sum;
    }
  return X;
}

// `G` with r V in it.
template <class P, int dim>
inline ViscousStress<P, dim> viscous_stress(const ViscousLaw<P, dim>& law, const Mat<P, dim>& G, const Mat<P, dim>& d) {
  Mat<P, dim> M = law.mu * G;
  for (int i = 0; i < dim; ++i) M(i, i) = P(0.5) + M(i, i);
  const Mat<P, dim> N = symmetric_inverse(M), e = solve_sylvester(N, d);
  const P p = trace(e) / (law.alone + law.of_trace * trace(N) + law.of_metric * inner(N, G));
  const P pressure = law.lambda * p, half = P(0.5) * pressure;
  ViscousStress<P, dim> found{{}, pressure * p};
  P square(0.0);
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j <= i; ++j) {
      const P s = law.two_mu * e(i, j) + half * N(i, j), of_rate = i == j ? s - pressure : s;
      found.stress(i, j) = found.stress(j, i) = s;
      square = square + (i == j ? P(1.0) : P(2.0)) * (of_rate * of_rate);
    }
  found.power = found.power + law.over_two_mu * square;
  return found;
}

// r V B M^{-1} B^T on symmetric tensors: those of the diagonal, then the others times sqrt 2. The lower triangle.
template <class P, int dim>
struct ViscousMetric {
  static constexpr std::size_t D = dim, S = D * (D + 1) / 2;
  std::array<std::array<P, S>, S> a;

  ViscousMetric() {
    for (auto& row : a) row.fill(P(0.0));
  }
  static constexpr std::size_t place(std::size_t i, std::size_t j) {
    return i == j ? i : D == 2 ? 2 : i + j == 1 ? 3 : i + j == 3 ? 4 : 5;
  }
  // Direction i of a node: g = dN/dx, r V over its mass there.
  void add(std::size_t i, const std::array<P, D>& g, P factor) {
    for (std::size_t j = 0; j < D; ++j)
      for (std::size_t k = 0; k < D; ++k) {
        const std::size_t p = place(i, j), q = place(i, k);
        const P half((i == j ? 1.0 : std::numbers::sqrt2 / 2.0) * (i == k ? 1.0 : std::numbers::sqrt2 / 2.0));
        if (q <= p) a[p][q] = a[p][q] + factor * half * (g[j] * g[k]);
      }
  }
};

// By (1 + R A R) y = R d, T = R y, R the root of the law: L D L^T.
template <class P, int dim>
inline ViscousStress<P, dim> viscous_stress(const ViscousLaw<P, dim>& law, ViscousMetric<P, dim> metric,
                                            const Mat<P, dim>& d) {
  using Metric = ViscousMetric<P, dim>;
  constexpr std::size_t D = dim, S = Metric::S;
  auto& A = metric.a;
  std::array<P, S> row, y, inverse;  // A 1
  P sum(0.0);
  for (std::size_t p = 0; p < S; ++p) {
    row[p] = P(0.0);
    for (std::size_t q = 0; q < D; ++q) row[p] = row[p] + (q <= p ? A[p][q] : A[q][p]);
    if (p < D) sum = sum + row[p];
  }
  const P aa = law.root * law.root, ab = law.root * law.rest, bb = law.rest * law.rest * sum;
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j <= i; ++j)
      y[Metric::place(static_cast<std::size_t>(i), static_cast<std::size_t>(j))] =
          i == j ? law.root * d(i, i) + law.rest * trace(d) : P(std::numbers::sqrt2) * law.root * d(i, j);
#pragma GCC unroll 8
  for (std::size_t p = 0; p < S; ++p)
#pragma GCC unroll 8
    for (std::size_t q = 0; q <= p; ++q) {
      A[p][q] = aa * A[p][q];
      if (q < D) A[p][q] = A[p][q] + ab * row[p];
      if (p < D) A[p][q] = A[p][q] + ab * row[q] + bb;
      if (p == q) A[p][q] = A[p][q] + P(1.0);
    }
#pragma GCC unroll 8
  for (std::size_t q = 0; q < S; ++q) {
    inverse[q] = P(1.0) / A[q][q];
#pragma GCC unroll 8
    for (std::size_t p = q + 1; p < S; ++p) {
      const P l = A[p][q] * inverse[q];
#pragma GCC unroll 8
      for (std::size_t k = q + 1; k <= p; ++k) A[p][k] = A[p][k] - l * A[k][q];
      y[p] = y[p] - l * y[q];
    }
  }
  P total(0.0), square(0.0);
#pragma GCC unroll 8
  for (std::size_t i = 0; i < S; ++i) {
    const std::size_t p = S - 1 - i;
#pragma GCC unroll 8
    for (std::size_t k = p + 1; k < S; ++k) y[p] = y[p] - A[k][p] * y[k];
    y[p] = y[p] * inverse[p];
    if (p < D) total = total + y[p];
    square = square + y[p] * y[p];
  }
  ViscousStress<P, dim> found{{}, square};
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j <= i; ++j) {
      const P of = law.root * y[Metric::place(static_cast<std::size_t>(i), static_cast<std::size_t>(j))];
      found.stress(i, j) = found.stress(j, i) = i == j ? of + law.rest * total : P(std::numbers::sqrt2 / 2.0) * of;
    }
  return found;
}

}  // namespace tempi
