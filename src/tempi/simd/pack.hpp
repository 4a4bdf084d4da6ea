// SPDX-License-Identifier: Apache-2.0
// A pack of W doubles that behaves like one: the scalar of the SIMD kernels (decision 0004). W must be the natural
// width of the instructions the including file is compiled for: include it in kernels only.
#pragma once

#include <cstdint>

#include "tempi/core/ids.hpp"
#include "tempi/simd/node_line.hpp"

namespace tempi {

template <int W>
struct Lanes;
template <>
struct Lanes<1> {  // for what packs leave over
  typedef double Values __attribute__((vector_size(8)));
  typedef std::int64_t Bits __attribute__((vector_size(8)));
};
template <>
struct Lanes<2> {
  typedef double Values __attribute__((vector_size(16)));
  typedef std::int64_t Bits __attribute__((vector_size(16)));
};
template <>
struct Lanes<4> {
  typedef double Values __attribute__((vector_size(32)));
  typedef std::int64_t Bits __attribute__((vector_size(32)));
};
template <>
struct Lanes<8> {
  typedef double Values __attribute__((vector_size(64)));
  typedef std::int64_t Bits __attribute__((vector_size(64)));
};

template <int W>
struct Pack {
  static constexpr int width = W;
  using Values = typename Lanes<W>::Values;
  using Bits = typename Lanes<W>::Bits;  // masks too: all bits of a lane set or none

  Values v;

  Pack() = default;
  explicit Pack(Values values) : v(values) {}
  explicit Pack(double x) : v(x - Values{}) {}
  static Pack load(const double* from) {  // aligned to the width
    Pack r;
    __builtin_memcpy(&r.v, __builtin_assume_aligned(from, W * sizeof(double)), sizeof(Values));
    return r;
  }
  static Pack read(const double* from) {  // from anywhere
    Pack r;
    __builtin_memcpy(&r.v, from, sizeof(Values));
    return r;
  }

  void store(double* to) const { __builtin_memcpy(to, &v, sizeof(Values)); }  // anywhere
  // Past the caches, aligned to the width: for what is read again after more than they hold. Other threads see it after
  // a fence (stream_end).
  void stream(double* to) const {
    if constexpr (W == 8)
      __builtin_ia32_movntpd512(to, v);
    else if constexpr (W == 4)
      __builtin_ia32_movntpd256(to, v);
    else
      __builtin_ia32_movntpd(to, v);
  }

  friend Pack operator+(Pack a, Pack b) { return Pack(a.v + b.v); }
  friend Pack operator-(Pack a, Pack b) { return Pack(a.v - b.v); }
  friend Pack operator*(Pack a, Pack b) { return Pack(a.v * b.v); }
  friend Pack operator/(Pack a, Pack b) { return Pack(a.v / b.v); }
  friend Pack operator-(Pack a) { return Pack(-a.v); }
};

inline void stream_end() { __builtin_ia32_sfence(); }

template <int W>
inline Pack<W> magnitude(Pack<W> x) {
  return Pack<W>(x.v < 0.0 ? (-x).v : x.v);
}

// A value that the compiler knows nothing of: what is made of it cannot change how the rest is rounded.
template <class P>
inline P apart(P x) {
  asm("" : "+v"(x.v));
  return x;
}

// ln(1 + x) for x > -1, within about 2 units in the last place, small x included; anything for other x.
//   1 + x = 2^k m, sqrt(1/2) <= m < sqrt 2;   ln m = 2 artanh s, s = (m - 1)/(m + 1);
// what rounding 1 + x to y has lost comes back as (x - (y - 1)) / y.
// What leads to it leads to x - ln(1 + x) as well: near x = 0, where k = 0, with f = m - 1 and what was lost, l, it is
// s (f - r s) + l f + l^2 / 2.
template <int W>
struct PackLog {
  using P = Pack<W>;
  P x, log, s, rest, f, lost;  // rest: r s - f

  P excess() const { return P((x * x).v < 0.04 ? (lost * (f + P(0.5) * lost) - s * rest).v : (x - log).v); }
};

template <int W>
inline PackLog<W> log_of_one_plus(Pack<W> x) {
  using P = Pack<W>;
  using Bits = typename P::Bits;
  using Values = typename P::Values;
  const P y = P(1.0) + x;
  const P lost = (x - (y - P(1.0))) / y;
  // Adding the distance from sqrt(1/2) to 1 in the bits moves the border between powers of two to sqrt(2) 2^k.
  constexpr std::int64_t one = 0x3ff0000000000000, root_half = 0x3fe6a09e667f3bcd, fraction = 0x000fffffffffffff;
  const Bits bits = reinterpret_cast<Bits>(y.v) + (one - root_half);
  const Bits m_bits = (bits & fraction) + root_half;
  // The biased exponent as a double: its bits under those of 2^52.
  constexpr std::int64_t two_52 = 0x4330000000000000;
  const Bits k_bits = ((bits >> 52) & 0x7ff) | two_52;
  const P k = P(reinterpret_cast<Values>(k_bits)) - P(0x1.0p52 + 1023.0);
  const P f = P(reinterpret_cast<Values>(m_bits)) - P(1.0);
  const P s = f / (P(2.0) + f), s2 = s * s, s4 = s2 * s2;
  // 2 artanh s = 2 s + s r(s^2): with r in even and odd powers of s^2, for shorter chains.
  const P even = ((((P(2.0 / 21) * s4 + P(2.0 / 17)) * s4 + P(2.0 / 13)) * s4 + P(2.0 / 9)) * s4 + P(2.0 / 5)) * s4;
  const P odd = (((((P(2.0 / 23) * s4 + P(2.0 / 19)) * s4 + P(2.0 / 15)) * s4 + P(2.0 / 11)) * s4 + P(2.0 / 7)) * s4 +
                 P(2.0 / 3)) *
                s2;
  constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  // 2 s = f - s f.
  const P rest = (even + odd) - f;
  return {x, k * P(ln2_high) + (f + (k * P(ln2_low) + lost + s * rest)), s, rest, f, lost};
}

template <int W>
inline Pack<W> log1p(Pack<W> x) {
  return log_of_one_plus(x).log;
}

template <int W>
inline PackLog<W> apart(const PackLog<W>& of) {
  return {apart(of.x), apart(of.log), apart(of.s), apart(of.rest), apart(of.f), apart(of.lost)};
}

// x - ln(1 + x).
template <int W>
inline Pack<W> excess_over_log(Pack<W> x) {
  return log_of_one_plus(x).excess();
}

// Four doubles of a node line.
typedef double Quad __attribute__((vector_size(32)));
typedef Quad __attribute__((may_alias)) QuadOfLine;

// Component c < D of W times four doubles, those at from(lane).
template <int D, int W, class From>
inline void gather_quads(From&& from, Pack<W>* u) {
  typedef double Pair __attribute__((vector_size(16)));
  typedef Pair __attribute__((may_alias)) PairOfLine;
  const auto quad = [&](Index lane) -> const QuadOfLine& { return *reinterpret_cast<const QuadOfLine*>(from(lane)); };
  if constexpr (W == 2) {
    const double *a = from(0), *b = from(1);
    const Pair a0 = *reinterpret_cast<const PairOfLine*>(a), b0 = *reinterpret_cast<const PairOfLine*>(b);
    u[0] = Pack<2>(__builtin_shufflevector(a0, b0, 0, 2));
    if constexpr (D > 1) u[1] = Pack<2>(__builtin_shufflevector(a0, b0, 1, 3));
    if constexpr (D > 2) u[2] = Pack<2>(Pair{a[2], b[2]});
    if constexpr (D > 3) u[3] = Pack<2>(Pair{a[3], b[3]});
  } else if constexpr (W == 4) {
    Quad q[4];
    for (Index i = 0; i < 4; ++i) q[i] = quad(i);
    const Quad xz01 = __builtin_shufflevector(q[0], q[1], 0, 4, 2, 6),
               xz23 = __builtin_shufflevector(q[2], q[3], 0, 4, 2, 6);
    const Quad yw01 = __builtin_shufflevector(q[0], q[1], 1, 5, 3, 7),
               yw23 = __builtin_shufflevector(q[2], q[3], 1, 5, 3, 7);
    u[0] = Pack<4>(__builtin_shufflevector(xz01, xz23, 0, 1, 4, 5));
    if constexpr (D > 1) u[1] = Pack<4>(__builtin_shufflevector(yw01, yw23, 0, 1, 4, 5));
    if constexpr (D > 2) u[2] = Pack<4>(__builtin_shufflevector(xz01, xz23, 2, 3, 6, 7));
    if constexpr (D > 3) u[3] = Pack<4>(__builtin_shufflevector(yw01, yw23, 2, 3, 6, 7));
  } else {
    static_assert(W == 8);
    typedef double Oct __attribute__((vector_size(64)));
    // Lanes i and i + 4 side by side, then as above within each half.
    Oct q[4];
    for (Index i = 0; i < 4; ++i) q[i] = __builtin_shufflevector(quad(i), quad(i + 4), 0, 1, 2, 3, 4, 5, 6, 7);
    const Oct xz01 = __builtin_shufflevector(q[0], q[1], 0, 8, 2, 10, 4, 12, 6, 14);
    const Oct xz23 = __builtin_shufflevector(q[2], q[3], 0, 8, 2, 10, 4, 12, 6, 14);
    const Oct yw01 = __builtin_shufflevector(q[0], q[1], 1, 9, 3, 11, 5, 13, 7, 15);
    const Oct yw23 = __builtin_shufflevector(q[2], q[3], 1, 9, 3, 11, 5, 13, 7, 15);
    u[0] = Pack<8>(__builtin_shufflevector(xz01, xz23, 0, 1, 8, 9, 4, 5, 12, 13));
    if constexpr (D > 1) u[1] = Pack<8>(__builtin_shufflevector(yw01, yw23, 0, 1, 8, 9, 4, 5, 12, 13));
    if constexpr (D > 2) u[2] = Pack<8>(__builtin_shufflevector(xz01, xz23, 2, 3, 10, 11, 6, 7, 14, 15));
    if constexpr (D > 3) u[3] = Pack<8>(__builtin_shufflevector(yw01, yw23, 2, 3, 10, 11, 6, 7, 14, 15));
  }
}

// Component c < D of the displacements of W nodes.
template <int D, int W>
inline void gather(const NodeLine* lines, const std::int32_t* place, Pack<W>* u) {
  gather_quads<D>([&](Index lane) -> const double* { return lines[place[lane]].displacement; }, u);
}

template <int D, int W>
inline void gather_velocities(const NodeLine* lines, const std::int32_t* place, Pack<W>* v) {
  gather_quads<D>([&](Index lane) -> const double* { return lines[place[lane]].velocity; }, v);
}
template <int D, int W>
inline void gather(const NodeShift* shifts, const std::int32_t* place, Pack<W>* w) {
  gather_quads<D>([&](Index lane) -> const double* { return shifts[place[lane]].displacement; }, w);
}

// The mean velocity of W nodes, D components, and behind it their kinetic energy.
template <int D, int W>
inline void gather_means(const NodeMean* means, const std::int32_t* place, Pack<W>* w, Pack<W>& kinetic) {
  Pack<W> all[4];
  gather_quads<4>([&](Index lane) -> const double* { return means[place[lane]].velocity; }, all);
  for (int c = 0; c < D; ++c) w[c] = all[c];
  kinetic = all[3];
}

template <int W>  // one function for each instruction set
inline void kick(NodeLine& line, const Quad& p) {
  auto& half = *reinterpret_cast<QuadOfLine*>(line.velocity);  // with the inverse mass in front of a zero of p
  half += p * line.inverse_mass;
}

// give(lane, {x, y, z, last}) for one lane of p after the other.
template <int W, class Give>
inline void scatter_quads(const Pack<W>* p, Give&& give, const Pack<W>& last = Pack<W>(0.0)) {
  const auto &x = p[0].v, &y = p[1].v, &z = p[2].v;
  if constexpr (W == 2) {
    give(0, Quad{x[0], y[0], z[0], last.v[0]});
    give(1, Quad{x[1], y[1], z[1], last.v[1]});
  } else if constexpr (W == 4) {
    const Quad xy02 = __builtin_shufflevector(x, y, 0, 4, 2, 6), xy13 = __builtin_shufflevector(x, y, 1, 5, 3, 7);
    const Quad z02 = __builtin_shufflevector(z, last.v, 0, 4, 2, 6),
               z13 = __builtin_shufflevector(z, last.v, 1, 5, 3, 7);
    give(0, __builtin_shufflevector(xy02, z02, 0, 1, 4, 5));
    give(1, __builtin_shufflevector(xy13, z13, 0, 1, 4, 5));
    give(2, __builtin_shufflevector(xy02, z02, 2, 3, 6, 7));
    give(3, __builtin_shufflevector(xy13, z13, 2, 3, 6, 7));
  } else {
    static_assert(W == 8);
    typedef double Oct __attribute__((vector_size(64)));
    const Oct xy_even = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14);
    const Oct xy_odd = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
    const Oct z_even = __builtin_shufflevector(z, last.v, 0, 8, 2, 10, 4, 12, 6, 14);
    const Oct z_odd = __builtin_shufflevector(z, last.v, 1, 9, 3, 11, 5, 13, 7, 15);
    const Oct p04 = __builtin_shufflevector(xy_even, z_even, 0, 1, 8, 9, 4, 5, 12, 13);
    const Oct p15 = __builtin_shufflevector(xy_odd, z_odd, 0, 1, 8, 9, 4, 5, 12, 13);
    const Oct p26 = __builtin_shufflevector(xy_even, z_even, 2, 3, 10, 11, 6, 7, 14, 15);
    const Oct p37 = __builtin_shufflevector(xy_odd, z_odd, 2, 3, 10, 11, 6, 7, 14, 15);
    const Oct* all[4] = {&p04, &p15, &p26, &p37};
    for (int i = 0; i < 4; ++i) give(i, __builtin_shufflevector(*all[i], *all[i], 0, 1, 2, 3));
    for (int i = 0; i < 4; ++i) give(i + 4, __builtin_shufflevector(*all[i], *all[i], 4, 5, 6, 7));
  }
}

// Gives W nodes the impulses p[0 ... D - 1], one node after the other: they may be the same.
template <int D, int W>
inline void scatter(NodeLine* lines, const std::int32_t* place, const Pack<W>* p) {
  const Pack<W> zero(0.0), all[3] = {p[0], D > 1 ? p[1] : zero, D > 2 ? p[2] : zero};
  scatter_quads(all, [&](Index lane, const Quad& quad) { kick<W>(lines[place[lane]], quad); });
}

}  // namespace tempi
