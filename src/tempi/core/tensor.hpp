// SPDX-License-Identifier: Apache-2.0
// Small square matrices over any scalar (double, a SIMD pack, a dual number): what a material needs, no more.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace tempi {

// D x D matrix, row major: m(i, J) with i spatial, J material for a deformation gradient.
template <class T, int D>
struct Mat {
  std::array<T, D * D> a{};

  constexpr T& operator()(int i, int j) { return a[static_cast<std::size_t>(i * D + j)]; }
  constexpr const T& operator()(int i, int j) const { return a[static_cast<std::size_t>(i * D + j)]; }
};

// Components of a symmetric tensor in space, as outputs have them: XX YY ZZ XY YZ XZ.
inline constexpr std::array<std::pair<std::size_t, std::size_t>, 6> symmetric_components = {
    {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {0, 2}}};

template <class T, int D>
constexpr Mat<T, D> identity() {
  Mat<T, D> r;
  for (int i = 0; i < D; ++i) r(i, i) = T(1.0);
  return r;
}

template <class T, int D>
constexpr Mat<T, D> operator+(Mat<T, D> x, const Mat<T, D>& y) {
  for (std::size_t i = 0; i < x.a.size(); ++i) x.a[i] = x.a[i] + y.a[i];
  return x;
}

template <class T, int D>
constexpr Mat<T, D> operator*(const T& s, Mat<T, D> x) {
  for (auto& v : x.a) v = s * v;
  return x;
}

template <class T, int D>
constexpr Mat<T, D> operator*(const Mat<T, D>& x, const Mat<T, D>& y) {
  Mat<T, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      T s = x(i, 0) * y(0, j);
      for (int k = 1; k < D; ++k) s = s + x(i, k) * y(k, j);
      r(i, j) = s;
    }
  return r;
}

template <class T, int D>
constexpr Mat<T, D> transpose(const Mat<T, D>& x) {
  Mat<T, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) r(i, j) = x(j, i);
  return r;
}

template <class T, int D>
constexpr T trace(const Mat<T, D>& x) {
  T s = x(0, 0);
  for (int i = 1; i < D; ++i) s = s + x(i, i);
  return s;
}

template <class T, int D>
constexpr T inner(const Mat<T, D>& x, const Mat<T, D>& y) {
  T s = x.a[0] * y.a[0];
  for (std::size_t i = 1; i < x.a.size(); ++i) s = s + x.a[i] * y.a[i];
  return s;
}

// Cofactor matrix: dJ/dF, so that F^{-T} = cofactor(F) / det(F).
template <class T, int D>
constexpr Mat<T, D> cofactor(const Mat<T, D>& f) {
  Mat<T, D> c;
  if constexpr (D == 1) {
    c(0, 0) = T(1.0);
  } else if constexpr (D == 2) {
    c(0, 0) = f(1, 1);
    c(0, 1) = -f(1, 0);
    c(1, 0) = -f(0, 1);
    c(1, 1) = f(0, 0);
  } else {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
        c(i, j) = f(i1, j1) * f(i2, j2) - f(i1, j2) * f(i2, j1);
      }
  }
  return c;
}

template <class T, int D>
constexpr T determinant(const Mat<T, D>& f) {
  const Mat<T, D> c = cofactor(f);
  T s = f(0, 0) * c(0, 0);
  for (int j = 1; j < D; ++j) s = s + f(0, j) * c(0, j);
  return s;
}

// The part of det(I + H) - 1 beyond its linear term tr H. Kept apart so that nothing of first order has to cancel.
template <class T, int D>
constexpr T determinant_beyond_linear(const Mat<T, D>& h) {
  if constexpr (D == 1) {
    return T(0.0);
  } else if constexpr (D == 2) {
    return h(0, 0) * h(1, 1) - h(0, 1) * h(1, 0);
  } else {
    const Mat<T, 3> c = cofactor(h);
    return trace(c) + h(0, 0) * c(0, 0) + h(0, 1) * c(0, 1) + h(0, 2) * c(0, 2);
  }
}

}  // namespace tempi
