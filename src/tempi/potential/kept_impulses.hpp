// SPDX-License-Identifier: Apache-2.0
// What became of the impulses that watched strikes of packed terms have kept (Batch::works), whatever the terms.
// Include in kernels only, once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tempi/simd/pack.hpp"

namespace tempi {

// Terms of N nodes in packs; kept of a pack, W lanes each: the impulses of all nodes but the first, whose is minus
// their sum. So p . w = sum over these of p_a . (w_a - w_0).
template <class P, std::size_t N, std::size_t D>
struct KeptImpulses {
  static constexpr std::size_t W = P::width, row = (N - 1) * D;
  // Packs until one is looked at whose impulses are fetched: memory's answer takes as long as 7 to 9 thousand bytes of
  // tetrahedra.
  static constexpr Index ahead = N > 4 ? 4 : 16;

  // Of packs first to last - 1, of so many; `places` and `kept` begin with the very first and with `first`.
  [[gnu::flatten]] static void works(const std::int32_t* places, Index packs, Index first, Index last,
                                     const NodeMean* means, const double* kept, double* kinetic, double* work) {
    for (Index pack = first; pack < last; ++pack) {
      if (pack + ahead < packs) {  // beyond `last` too: what comes after it is often next
        for (std::size_t i = 0; i < row; ++i) __builtin_prefetch(kept + (row * ahead + i) * W);
        if constexpr (N > 4) {  // of fewer nodes it costs what it spares
          const std::int32_t* next = places + (pack + ahead) * static_cast<Index>(N * W);
#pragma GCC unroll 8
          for (std::size_t i = 0; i < N * W; ++i) __builtin_prefetch(means + next[i]);
        }
      }
      const std::int32_t* place = places + pack * static_cast<Index>(N * W);
      P w0[D], w[D], energy, sum(0.0);
      gather_means<D>(means, place, w0, energy);
      P energies = energy;
      for (std::size_t a = 1; a < N; ++a) {
        gather_means<D>(means, place + a * W, w, energy);
        energies = energies + energy;
        for (std::size_t i = 0; i < D; ++i, kept += W) sum = sum + P::load(kept) * (w[i] - w0[i]);
      }
      energies.store(kinetic);
      sum.store(work);
      kinetic += W;
      work += W;
    }
  }
};

}  // namespace tempi
