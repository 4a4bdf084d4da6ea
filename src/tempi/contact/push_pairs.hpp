// SPDX-License-Identifier: Apache-2.0
// The kernels of push_kernel.hpp. Include in push_kernel_*.cpp only: once per instruction set.
#pragma once

#include <algorithm>

#include "tempi/simd/pack_functions.hpp"
// Behind these: masks are of no namespace, in which formulas would find what is declared later.
#include "tempi/contact/push_kernel.hpp"

namespace tempi {

template <class P, int first, int second>
struct PairsAtOnce {
  static constexpr std::size_t W = P::width, size = first + second;

  // Of W pairs, the last of them again where there are fewer.
  [[gnu::flatten]] static void push(bool within, const LayerTable& layers, const SurfaceNodes& nodes,
                                    const PairToPush* pairs, std::size_t count, PairPush* pushes) {
    std::array<const PairToPush*, W> pair;
    alignas(64) std::array<std::array<double, W>, 5> of;
    int begin = pairs[0].from, end = pairs[0].to;
    for (std::size_t lane = 0; lane < W; ++lane) {
      const PairToPush& p = *(pair[lane] = &pairs[std::min(lane, count - 1)]);
      of[0][lane] = p.radii;
      of[1][lane] = p.parallel_from;
      of[2][lane] = p.step;
      of[3][lane] = p.from;
      of[4][lane] = p.to;
      begin = std::min(begin, p.from);
      end = std::max(end, p.to);
    }
    std::array<Point3<P>, 4> x, v;
    P reach(0.0);
    for (std::size_t a = 0; a < size; ++a) {
      P u[4], reference[3];
      const auto vertex = [&](Index lane) {
        return static_cast<std::size_t>(pair[static_cast<std::size_t>(lane)]->vertex[a]);
      };
      gather_quads<4>([&](Index lane) -> const double* { return nodes.line[vertex(lane)]->displacement; }, u);
      gather_quads<3>([&](Index lane) -> const double* { return nodes.line[vertex(lane)]->velocity; }, v[a].data());
      gather_quads<3>([&](Index lane) -> const double* { return nodes.reference[vertex(lane)].displacement; },
                      reference);
      const P since = (P(nodes.now) - u[3]) * P(nodes.tick);
      for (std::size_t c = 0; c < 3; ++c) {
        x[a][c] = reference[c] + (u[c] + apart(v[a][c] * since));  // as LatticeNodes::drift, to the bit
        const P size_of = magnitude(x[a][c]);
        reach = choose(is_less(reach, size_of), size_of, reach);
      }
    }
    const PushOf<P> r =
        push_of<first, second>(x, within, P::load(of[0].data()), P::load(of[1].data()), layers, P::load(of[3].data()),
                               P::load(of[4].data()), begin, end, [&](int layer) {
                                 return P::load(of[2].data()) * P(1.0 / static_cast<double>(std::int64_t{1} << layer));
                               });
    if (nodes.correction != nullptr)
      for (std::size_t a = 0; a < size; ++a) {
        P change[4], per_tick[3];
        const auto correction = [&](Index lane) {
          return nodes.correction[static_cast<std::size_t>(pair[static_cast<std::size_t>(lane)]->vertex[a])];
        };
        gather_quads<4>([&](Index lane) -> const double* { return correction(lane)->change; }, change);
        gather_quads<3>([&](Index lane) -> const double* { return correction(lane)->per_tick; }, per_tick);
        for (std::size_t c = 0; c < 3; ++c) v[a][c] = v[a][c] + (change[c] + per_tick[c] * (P(nodes.now) - change[3]));
      }
    Point3<P> sliding = {P(0.0), P(0.0), P(0.0)};
    for (std::size_t a = 0; a < size; ++a)
      for (std::size_t c = 0; c < 3; ++c) sliding[c] = sliding[c] + r.weight[a] * v[a][c];
    const P rate = dot(sliding, r.normal);
    for (std::size_t c = 0; c < 3; ++c) sliding[c] = sliding[c] - rate * r.normal[c];
    scatter_quads(sliding.data(), [&](Index lane, const Quad& quad) {
      if (static_cast<std::size_t>(lane) < count) __builtin_memcpy(pushes[lane].sliding, &quad, sizeof quad);
    });
    for (std::size_t a = 0; a < 4; ++a)
      scatter_quads(r.impulse[a].data(), [&](Index lane, const Quad& quad) {
        if (static_cast<std::size_t>(lane) < count) __builtin_memcpy(pushes[lane].impulse[a], &quad, sizeof quad);
      });
    for (std::size_t lane = 0; lane < count; ++lane) {
      PairPush& push = pushes[lane];
      push.distance = r.distance.v[lane];
      push.rate = rate.v[lane];
      push.reach = reach.v[lane];
      push.near = static_cast<std::int32_t>(r.near.v[lane]);
      push.touched = static_cast<std::int32_t>(r.touched.v[lane]);
      push.along = r.along.v[lane];
      for (std::size_t c = 0; c < 3; ++c) push.normal[c] = r.normal[c].v[lane];
      for (std::size_t a = 0; a < 4; ++a) push.weight[a] = r.weight[a].v[lane];
    }
  }
};

template <int W>
PushKernel push_kernel_of() {
  return [](SimplexPair kind, const LayerTable& layers, const SurfaceNodes& nodes, std::span<const PairToPush> pairs,
            PairPush* pushes) {
    with_simplices(kind, [&]<int first, int second>() {
      for (std::size_t i = 0; i < pairs.size(); i += W)
        PairsAtOnce<Pack<W>, first, second>::push(kind.within, layers, nodes, &pairs[i],
                                                  std::min<std::size_t>(W, pairs.size() - i), pushes + i);
    });
  };
}

}  // namespace tempi
