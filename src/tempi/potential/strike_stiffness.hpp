// SPDX-License-Identifier: Apache-2.0
// The kernel of terms with a constant stiffness: forces -K u of W terms at once. Include in
// stiffness_kernels_*.cpp only, once per instruction set.
#pragma once

#include <array>

#include "tempi/potential/stiffness_kernels.hpp"
#include "tempi/simd/pack.hpp"

namespace tempi {

template <class P, std::size_t N, std::size_t D>
[[gnu::flatten]] void strike_stiffness(const PackedStiffness& terms, Index first, Index last, double step,
                                       NodeLine* nodes) {
  constexpr std::size_t W = P::width, n = N * D, entries = n * (n + 1) / 2;
  for (Index pack = first; pack < last; ++pack) {
    const std::int32_t* place = terms.places + pack * static_cast<Index>(N * W);
    const double* K = terms.stiffness + pack * static_cast<Index>(entries * W);
    std::array<P, n> u, p;
    for (std::size_t a = 0; a < N; ++a) gather<static_cast<int>(D)>(nodes, place + a * W, &u[a * D]);
    for (auto& x : p) x = P(0.0);
    for (std::size_t i = 0; i < n; ++i) {
      P row = p[i] + P::load(K) * u[i];
      K += W;
      for (std::size_t j = i + 1; j < n; ++j, K += W) {
        const P k = P::load(K);
        row = row + k * u[j];
        p[j] = p[j] + k * u[i];
      }
      p[i] = row;
    }
    for (auto& x : p) x = P(-step) * x;
    for (std::size_t a = 0; a < N; ++a) scatter<static_cast<int>(D)>(nodes, place + a * W, &p[a * D]);
  }
}

template <int W>
StiffnessStrike stiffness_strike_of(std::size_t nodes, int dim) {
  using P = Pack<W>;
  if (dim == 1 && nodes == 2) return strike_stiffness<P, 2, 1>;
  if (dim == 2 && nodes == 2) return strike_stiffness<P, 2, 2>;
  if (dim == 2 && nodes == 3) return strike_stiffness<P, 3, 2>;
  if (dim == 2 && nodes == 6) return strike_stiffness<P, 6, 2>;
  if (dim == 3 && nodes == 2) return strike_stiffness<P, 2, 3>;
  if (dim == 3 && nodes == 4) return strike_stiffness<P, 4, 3>;
  if (dim == 3 && nodes == 10) return strike_stiffness<P, 10, 3>;
  return nullptr;
}

}  // namespace tempi
