// SPDX-License-Identifier: Apache-2.0
// The kernels of dampers along and across pairs: W of them at once, each by itself (force/damping_batch.hpp). With e
// from node a to the nearest image of node b, of unit length, w = w_b - w_a, v = v_b - v_a,
//
//   p_b = -p_a = -step A w,   A = c_along e e^T + c_across (1 - e e^T),   w = v - relax D A w
//
// D = 1/m_a + 1/m_b, diagonal, where held components have no inverse mass. Include in pair_kernels_*.cpp only, once per
// instruction set.
#pragma once

#include <array>

#include "tempi/pair/packed_laws.hpp"
#include "tempi/space/find_near_points.hpp"

namespace tempi {

template <class P>
struct PairResistance {
  P along, across;  // [kg/s]
};

// Dashpots: the pair's factor is 1.
template <class P>
struct DashpotsAtOnce {
  static constexpr bool resists_across = false;
  static PairResistance<P> of(const PackedBonds& bonds, Index pack, P) {
    return {P(bonds.coefficient) * P::load(bonds.pairs.geometry + (pack * 4 + 3) * static_cast<Index>(P::width)),
            P(0.0)};
  }
};

// beta K_+: V'' along and V'/r across, where they are positive. The coefficient is beta.
template <class P, class Law>
struct StiffnessAtOnce {
  static constexpr bool resists_across = true;
  static PairResistance<P> of(const PackedBonds& bonds, Index pack, P r2) {
    return with_parameters<P>(bonds.pairs, pack, [&](const auto& parameters) {
      const Law law(parameters, bonds.pairs.law);
      const P reach = parameters.reach(), reach2 = reach * reach, zero(0.0);
      const P factor =
          P(bonds.coefficient) * P::load(bonds.pairs.geometry + (pack * 4 + 3) * static_cast<Index>(P::width));
      const auto positive = [&](P x) { return factor * P((r2.v < reach2.v) & (x.v > 0.0) ? x.v : zero.v); };
      return PairResistance<P>{positive(law.curvature(r2)), positive(law(r2).slope_over_r)};
    });
  }
};

template <class P, class Resistance>
struct BondsAtOnce {
  static constexpr std::size_t W = P::width;
  using Vector = std::array<P, 3>;
  struct End {
    Vector u, v, inverse_mass;
  };
  struct Resisted {
    Vector force;  // A w
    P power;       // w . A w
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

  static P dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

  [[gnu::flatten]] static double resist(const PackedBonds& bonds, const BondMotion& how, Index first, Index last,
                                        NodeLine* nodes, double* kept) {
    P work(0.0);
    for (Index i = first; i < last; ++i) {
      const Index pack = how.backward ? last - 1 - (i - first) : i;
      const std::int32_t* place = bonds.pairs.places + pack * static_cast<Index>(2 * W);
      const double* X = bonds.pairs.geometry + pack * static_cast<Index>(4 * W);
      const char* held = bonds.at_support[pack] != 0 ? bonds.held + pack * static_cast<Index>(6 * W) : nullptr;
      const End a = gather_end(place, nodes, held),
                b = gather_end(place + W, nodes, held == nullptr ? held : held + 3 * W);
      const auto& box = bonds.pairs.box;
      Vector e, v, D;
      for (std::size_t c = 0; c < 3; ++c) {
        e[c] = nearest_image(P::load(X + c * W) + (b.u[c] - a.u[c]), box.length[c], box.inverse[c]);
        v[c] = b.v[c] - a.v[c];
        D[c] = a.inverse_mass[c] + b.inverse_mass[c];
      }
      const P r2 = dot(e, e);
      const PairResistance<P> A = Resistance::of(bonds, pack, r2);
      const Resisted by = !Resistance::resists_across ? along_alone(A, e, r2, v, D, how.relax)
                          : held == nullptr           ? both_ways(A, e, r2, v, D[0], how.relax)
                                                      : at_support(A, e, r2, v, D, how.relax);
      work = work - P(how.step) * by.power;
      Vector p, q;
      for (std::size_t c = 0; c < 3; ++c) {
        p[c] = P(how.step) * by.force[c];
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

  // e of length r here and below.
  static Resisted along_alone(const PairResistance<P>& A, const Vector& e, P r2, const Vector& v, const Vector& D,
                              double relax) {
    const P over = P(1.0) / r2, c = A.along;
    const P inverse_mass = e[0] * e[0] * D[0] + e[1] * e[1] * D[1] + e[2] * e[2] * D[2];
    const P rate = over * dot(e, v) / (P(1.0) + P(relax) * c * over * inverse_mass), strength = c * rate;
    return {{strength * e[0], strength * e[1], strength * e[2]}, strength * rate * r2};
  }

  // Nothing is held: both parts by themselves.
  static Resisted both_ways(const PairResistance<P>& A, const Vector& e, P r2, const Vector& v, P D, double relax) {
    const P one(1.0), over = one / r2, rate = over * dot(e, v);
    const P along = one / (one + P(relax) * A.along * D), across = one / (one + P(relax) * A.across * D);
    const P strength = A.along * along, shear = A.across * across;
    Resisted by;
    Vector rest;
    for (std::size_t c = 0; c < 3; ++c) {
      rest[c] = v[c] - rate * e[c];
      by.force[c] = strength * rate * e[c] + shear * rest[c];
    }
    by.power = strength * along * rate * rate * r2 + shear * across * dot(rest, rest);
    return by;
  }

  // With G^2 = A and z = G w: (1 + relax G D G) z = G v, symmetric, no eigenvalue below 1; by Cholesky's factors.
  static Resisted at_support(const PairResistance<P>& A, const Vector& e, P r2, const Vector& v, const Vector& D,
                             double relax) {
    const P root = sqrt(A.across), more = (sqrt(A.along) - root) / r2;
    Vector G[3], K[3];
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) G[i][j] = more * e[i] * e[j] + (i == j ? root : P(0.0));
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        const Vector scaled = {D[0] * G[j][0], D[1] * G[j][1], D[2] * G[j][2]};
        K[i][j] = P(relax) * dot(G[i], scaled) + P(i == j ? 1.0 : 0.0);
      }
    Vector z = {dot(G[0], v), dot(G[1], v), dot(G[2], v)};
    for (std::size_t j = 0; j < 3; ++j) {  // K = L L^T, L in its place; z = L^-1 z
      for (std::size_t k = 0; k < j; ++k) K[j][j] = K[j][j] - K[j][k] * K[j][k];
      K[j][j] = sqrt(K[j][j]);
      for (std::size_t k = 0; k < j; ++k) z[j] = z[j] - K[j][k] * z[k];
      z[j] = z[j] / K[j][j];
      for (std::size_t i = j + 1; i < 3; ++i) {
        for (std::size_t k = 0; k < j; ++k) K[i][j] = K[i][j] - K[i][k] * K[j][k];
        K[i][j] = K[i][j] / K[j][j];
      }
    }
    for (std::size_t j = 3; j-- > 0; z[j] = z[j] / K[j][j])
      for (std::size_t i = j + 1; i < 3; ++i) z[j] = z[j] - K[i][j] * z[i];
    return {{dot(G[0], z), dot(G[1], z), dot(G[2], z)}, dot(z, z)};
  }

  static void give(const End& end, const std::int32_t* place, const Vector& p, const BondMotion& how, NodeLine* nodes) {
    for (std::size_t lane = 0; lane < W; ++lane)
      for (std::size_t c = 0; c < 3; ++c) {
        const double inverse_mass = end.inverse_mass[c].v[lane];
        nodes[place[lane]].velocity[c] += inverse_mass * p[c].v[lane];
        if (inverse_mass == 0.0) how.withheld[place[lane]][c] += p[c].v[lane];
      }
  }
};

template <int W>
BondResistance dashpot_resistance_of() {
  return BondsAtOnce<Pack<W>, DashpotsAtOnce<Pack<W>>>::resist;
}

}  // namespace tempi
