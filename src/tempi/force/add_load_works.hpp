// SPDX-License-Identifier: Apache-2.0
// The kernel of load_work_kernel.hpp. Include in load_work_kernel_*.cpp only: once per instruction set.
#pragma once

#include <utility>

#include "tempi/force/load_work_kernel.hpp"
#include "tempi/simd/pack.hpp"

namespace tempi {

template <int W, class From>
Pack<W> gather_one(From&& from) {
  return [&]<Index... lane>(std::integer_sequence<Index, lane...>) {
    return Pack<W>(typename Pack<W>::Values{from(lane)...});
  }
  (std::make_integer_sequence<Index, W>());
}

// K: how many components the row's forces have.
template <int W, int D, int K>
void load_works_of(const LoadRows& rows, Index row, const NodeLine* nodes, const NodeMean* means, Eight& power,
                   Eight& work) {
  using P = Pack<W>;
  const auto N = static_cast<Index>(rows.nodes);
  for (Index at = 0; at < Eight::lanes; at += W) {
    const auto lanes = [at](const Eight& of) { return P::load(&of.lane[static_cast<std::size_t>(at)]); };
    const auto put = [at](P x, Eight& to) { x.store(&to.lane[static_cast<std::size_t>(at)]); };
    const std::int32_t component = rows.rows[row].component;
    Index i = rows.rows[row].force;
    P fv(0.0), fu(0.0);
    for (Index a = row * N; a < (row + 1) * N; ++a) {
      const std::int32_t* lines = &rows.lines[a][static_cast<std::size_t>(at)];
      P u[K], v[K];
      if constexpr (K < D) {
        u[0] = gather_one<W>([&](Index lane) { return nodes[lines[lane]].displacement[component]; });
        v[0] = gather_one<W>([&](Index lane) { return means[lines[lane]].velocity[component]; });
      } else {
        P kinetic;
        gather<D>(nodes, lines, u);
        gather_means<D>(means, lines, v, kinetic);
      }
      for (int c = 0; c < K; ++c, ++i) {
        const P f = lanes(rows.force[i]);
        fv = fv + f * v[c];
        if (rows.displacement == nullptr) {
          fu = fu + f * u[c];
        } else {
          Eight& before = rows.displacement[i];
          fu = fu + f * (u[c] - lanes(before));
          put(u[c], before);
        }
      }
    }
    put(fv, power);
    put(rows.displacement == nullptr ? fu - lanes(rows.way[row]) : fu, work);
    put(fu, rows.way[row]);
  }
}

template <int W, int D>
[[gnu::flatten]] void load_works(const LoadRows& rows, Index first, Index last, const NodeLine* nodes,
                                 const NodeMean* means, Eight* power, Eight* work) {
  for (Index row = first; row < last; ++row, ++power, ++work)
    if (rows.rows[row].component == LoadRow::all)
      load_works_of<W, D, D>(rows, row, nodes, means, *power, *work);
    else
      load_works_of<W, D, 1>(rows, row, nodes, means, *power, *work);
}

template <int W>
LoadWorkKernel load_work_kernel_of(int dim) {
  return dim == 1 ? load_works<W, 1> : dim == 2 ? load_works<W, 2> : load_works<W, 3>;
}

}  // namespace tempi
