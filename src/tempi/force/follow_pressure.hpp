// SPDX-License-Identifier: Apache-2.0
// The kernel of pressure_kernel.hpp. Include in pressure_kernel_*.cpp only: once per instruction set.
#pragma once

#include <algorithm>

#include "tempi/force/pressure_kernel.hpp"
#include "tempi/simd/pack.hpp"

namespace tempi {

// n da / dxi, outward, of facets with their nodes at x.
template <class P, std::size_t N, std::size_t D>
inline void area_vector(const FacetPoint& at, const P (&x)[N][D], P (&n)[D]) {
  P tangent[D - 1][D];
  for (std::size_t j = 0; j + 1 < D; ++j)
    for (std::size_t i = 0; i < D; ++i) {
      tangent[j][i] = P(at.dN[0][j]) * x[0][i];
      for (std::size_t a = 1; a < N; ++a) tangent[j][i] = tangent[j][i] + P(at.dN[a][j]) * x[a][i];
    }
  if constexpr (D == 2) {
    n[0] = tangent[0][1];
    n[1] = -tangent[0][0];
  } else {
    for (std::size_t i = 0; i < D; ++i) {
      const std::size_t j = (i + 1) % D, k = (i + 2) % D;
      n[i] = tangent[0][j] * tangent[1][k] - tangent[0][k] * tangent[1][j];
    }
  }
}

template <int W, std::size_t N, std::size_t D>
[[gnu::flatten]] void follow_pressure(const PressureRows& rows, Index first, Index last, const NodeLine* nodes,
                                      double* forces) {
  using P = Pack<W>;
  for (Index at = first / W * W; at < last; at += W) {
    const std::size_t row = static_cast<std::size_t>(at / Eight::lanes);
    const std::size_t lanes = static_cast<std::size_t>(at % Eight::lanes);
    const auto of_row = [&](std::size_t i) { return P::load(&rows.X[row * N * D + i].lane[lanes]); };
    const auto pressure = [&](Index q) {
      if (rows.one_for_all) return P(*rows.pressure);
      P p;
      for (Index lane = 0; lane < W; ++lane)
        p.v[lane] = rows.pressure[std::min(at + lane, rows.facets - 1) * rows.points + q];
      return p;
    };
    P x[N][D], n[D], f[N][D];
    for (std::size_t a = 0; a < N; ++a)
      for (std::size_t i = 0; i < D; ++i) f[a][i] = P(0.0);
    if constexpr (D == 1) {
      n[0] = of_row(0);
    } else {
      for (std::size_t a = 0; a < N; ++a) {
        gather<static_cast<int>(D)>(nodes, &rows.lines[row * N + a][lanes], x[a]);
        for (std::size_t i = 0; i < D; ++i) x[a][i] = of_row(a * D + i) + x[a][i];
      }
    }
    if constexpr (N <= D) {  // flat: the same vector everywhere
      if constexpr (D > 1) area_vector(rows.rule[0], x, n);
      P share[N];
      std::fill_n(share, N, P(0.0));
      for (Index q = 0; q < rows.points; ++q) {
        const P p = pressure(q);
        for (std::size_t a = 0; a < N; ++a) share[a] = share[a] - P(rows.rule[q].weight * rows.rule[q].N[a]) * p;
      }
      for (std::size_t a = 0; a < N; ++a)
        for (std::size_t i = 0; i < D; ++i) f[a][i] = share[a] * n[i];
    } else {
      for (Index q = 0; q < rows.points; ++q) {
        area_vector(rows.rule[q], x, n);
        const P p = P(-rows.rule[q].weight) * pressure(q);
        for (std::size_t a = 0; a < N; ++a) {
          const P share = P(rows.rule[q].N[a]) * p;
          for (std::size_t i = 0; i < D; ++i) f[a][i] = f[a][i] + share * n[i];
        }
      }
    }
    for (std::size_t a = 0; a < N; ++a) {
      const P zero(0.0), all[3] = {f[a][0], D > 1 ? f[a][D > 1 ? 1 : 0] : zero, D > 2 ? f[a][D > 2 ? 2 : 0] : zero};
      scatter_quads(all, [&](Index lane, const Quad& quad) {
        const Index k = at + lane;
        if (k >= first && k < last)
          __builtin_memcpy(forces + static_cast<std::size_t>(k - first) * N * D + a * D, &quad, D * sizeof(double));
      });
    }
  }
}

template <int W>
PressureKernel pressure_kernel_of(std::size_t nodes, std::size_t dim) {
  if (dim == 1) return follow_pressure<W, 1, 1>;
  if (dim == 2) return nodes == 2 ? follow_pressure<W, 2, 2> : follow_pressure<W, 3, 2>;
  return nodes == 3 ? follow_pressure<W, 3, 3> : follow_pressure<W, 6, 3>;
}

}  // namespace tempi
