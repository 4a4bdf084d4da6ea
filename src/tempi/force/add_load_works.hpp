// SPDX-License-Identifier: Apache-2.0
// The kernel of load_work_kernel.hpp. Include in load_work_kernel_*.cpp only: once per instruction set.
#pragma once

#include "tempi/force/load_work_kernel.hpp"
#include "tempi/simd/pack.hpp"

namespace tempi {

template <int W, int D>
[[gnu::flatten]] void load_works(const LoadRows& rows, Index first, Index last, const NodeLine* nodes,
                                 const NodeMean* means, Eight* power, Eight* work) {
  using P = Pack<W>;
  const auto N = static_cast<Index>(rows.nodes);
  for (Index row = first; row < last; ++row, ++power, ++work)
    for (Index at = 0; at < Eight::lanes; at += W) {
      const auto lanes = [at](const Eight& of) { return P::load(&of.lane[static_cast<std::size_t>(at)]); };
      const auto put = [at](P x, Eight& to) { x.store(&to.lane[static_cast<std::size_t>(at)]); };
      P fv(0.0), fu(0.0);
      for (Index a = row * N; a < (row + 1) * N; ++a) {
        const std::int32_t* lines = &rows.lines[a][static_cast<std::size_t>(at)];
        P u[D], v[D], kinetic;
        gather<D>(nodes, lines, u);
        gather_means<D>(means, lines, v, kinetic);
        for (Index c = 0; c < D; ++c) {
          const P f = lanes(rows.force[a * D + c]);
          fv = fv + f * v[c];
          if (rows.displacement == nullptr) {
            fu = fu + f * u[c];
          } else {
            Eight& before = rows.displacement[a * D + c];
            fu = fu + f * (u[c] - lanes(before));
            put(u[c], before);
          }
        }
      }
      put(fv, *power);
      put(rows.displacement == nullptr ? fu - lanes(rows.way[row]) : fu, *work);
      put(fu, rows.way[row]);
    }
}

template <int W>
LoadWorkKernel load_work_kernel_of(int dim) {
  return dim == 1 ? load_works<W, 1> : dim == 2 ? load_works<W, 2> : load_works<W, 3>;
}

}  // namespace tempi
