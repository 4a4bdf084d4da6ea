// SPDX-License-Identifier: Apache-2.0
// The kernel of dashpots (force/damping.hpp): W of them at once, each by itself (force/damping_batch.hpp), e from node
// a to the nearest image of node b:
//
//   rate = e . (w_b - w_a) = e . (v_b - v_a) / (1 + relax c sum_i e_i^2 (1/m_ai + 1/m_bi)),   p_b = -step c rate e
//
// where held components have no inverse mass. Include in pair_kernels_*.cpp only, once per instruction set.
#pragma once

#include <array>

#include "tempi/pair/pair_kernels.hpp"
#include "tempi/simd/pack.hpp"
#include "tempi/space/find_near_points.hpp"

namespace tempi {

template <class P>
struct BondsAtOnce {
  static constexpr std::size_t W = P::width;
  struct End {
    std::array<P, 3> u, v, inverse_mass;
  };

  static End gather_end(const std::int32_t* place, const NodeLine* nodes, const char* held) {
    End end;
    P quad[4];
    gather<3>(nodes, place, end.u.data());
    gather_quads<4>([&](Index lane) -> const double* { return nodes[place[lane]].velocity; }, quad);
    for (std::size_t c = 0; c < 3; ++c) {
      end.v[c] = quad[c];
      end.inverse_mass[c] = quad[3];
      for (std::size_t lane = 0; held != nullptr && lane < W; ++lane)
        if (held[c * W + lane] != 0) end.inverse_mass[c].v[lane] = 0.0;
    }
    return end;
  }

  // Lanes that only fill a pack up lie at one node twice: they have no direction, and give nothing.
  [[gnu::flatten]] static double resist(const PackedBonds& bonds, const BondMotion& how, Index first, Index last,
                                        NodeLine* nodes, double* kept) {
    P work(0.0);
    for (Index i = first; i < last; ++i) {
      const Index pack = how.backward ? last - 1 - (i - first) : i;
      const std::int32_t* place = bonds.places + pack * static_cast<Index>(2 * W);
      const double* X = bonds.geometry + pack * static_cast<Index>(3 * W);
      const char* held = bonds.at_support[pack] != 0 ? bonds.held + pack * static_cast<Index>(6 * W) : nullptr;
      const End a = gather_end(place, nodes, held),
                b = gather_end(place + W, nodes, held == nullptr ? held : held + 3 * W);
      std::array<P, 3> e;
      P r2(0.0), approach(0.0), inverse_mass(0.0);
      for (std::size_t c = 0; c < 3; ++c) {
        e[c] = nearest_image(P::load(X + c * W) + (b.u[c] - a.u[c]), bonds.box.length[c], bonds.box.inverse[c]);
        r2 = r2 + e[c] * e[c];
        approach = approach + e[c] * (b.v[c] - a.v[c]);
        inverse_mass = inverse_mass + e[c] * e[c] * (a.inverse_mass[c] + b.inverse_mass[c]);
      }
      const P over(r2.v > 0.0 ? (P(1.0) / r2).v : P(0.0).v);
      // With e of length r: rate / r.
      const P rate = over * approach / (P(1.0) + P(how.relax * bonds.c) * over * inverse_mass);
      const P strength = P(how.step * bonds.c) * rate;
      work = work - strength * rate * r2;
      std::array<P, 3> p, q;
      for (std::size_t c = 0; c < 3; ++c) {
        p[c] = strength * e[c];
        q[c] = -p[c];
      }
      if (held == nullptr) {
        scatter<3>(nodes, place, p.data());
        scatter<3>(nodes, place + W, q.data());
      } else {
        give(a, place, p, how, nodes);
        give(b, place + W, q, how, nodes);
      }
      for (std::size_t c = 0; kept != nullptr && c < bonds.dim; ++c) {
        double* of_pack = kept + (static_cast<std::size_t>(pack) * 2 * bonds.dim + c) * W;
        p[c].store(of_pack);
        q[c].store(of_pack + bonds.dim * W);
      }
    }
    double sum = 0.0;
    for (std::size_t lane = 0; lane < W; ++lane) sum += work.v[lane];
    return sum;
  }

  static void give(const End& end, const std::int32_t* place, const std::array<P, 3>& p, const BondMotion& how,
                   NodeLine* nodes) {
    for (std::size_t lane = 0; lane < W; ++lane)
      for (std::size_t c = 0; c < 3; ++c) {
        const double inverse_mass = end.inverse_mass[c].v[lane];
        nodes[place[lane]].velocity[c] += inverse_mass * p[c].v[lane];
        if (inverse_mass == 0.0) how.withheld[place[lane]][c] += p[c].v[lane];
      }
  }
};

template <int W>
BondResistance bond_resistance_of() {
  return BondsAtOnce<Pack<W>>::resist;
}

}  // namespace tempi
