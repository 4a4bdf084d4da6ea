// SPDX-License-Identifier: Apache-2.0
// What the kernels of pairs ask of a pack beyond arithmetic. As pack.hpp: include it in their files only.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <cmath>

#include "tempi/simd/pack.hpp"

namespace tempi {

template <int W>
inline Pack<W> sqrt(Pack<W> x) {
#ifdef __SSE2__
  if constexpr (W == 8) return Pack<W>(typename Pack<W>::Values(_mm512_maskz_sqrt_pd(0xff, x.v)));
  if constexpr (W == 4) return Pack<W>(typename Pack<W>::Values(_mm256_sqrt_pd(x.v)));
  if constexpr (W == 2) return Pack<W>(typename Pack<W>::Values(_mm_sqrt_pd(x.v)));
#else
  for (int lane = 0; lane < W; ++lane) x.v[lane] = __builtin_sqrt(x.v[lane]);
  return x;
#endif
}

// Lane by lane; where a mask is set, and otherwise.
template <int W>
inline typename Pack<W>::Bits is_less(Pack<W> a, Pack<W> b) {
  return a.v < b.v;
}
template <int W>
inline Pack<W> choose(typename Pack<W>::Bits first, Pack<W> a, Pack<W> b) {
  return Pack<W>(first ? a.v : b.v);
}
template <class Bits>
inline bool holds_for_all(Bits mask) {
  std::int64_t all = -1;
  for (std::size_t lane = 0; lane < sizeof(Bits) / sizeof(std::int64_t); ++lane) all &= mask[lane];
  return all != 0;
}
template <class Bits>
inline bool holds_for_none(Bits mask) {
  return holds_for_all(~mask);
}
// x^power of each lane.
template <int W>
inline Pack<W> raised(Pack<W> x, double power) {
  for (int lane = 0; lane < W; ++lane) x.v[lane] = std::pow(x.v[lane], power);
  return x;
}

// To the nearest whole number, for |x| < 2^51.
template <int W>
inline Pack<W> round(Pack<W> x) {
  const Pack<W> shift(0x1.8p52);  // beyond it doubles are whole
  return (x + shift) - shift;
}

// e^x - 1, within about 3 units in the last place, small x included; for x > 709 that of 709, for x < -709 as good
// as -1.
//   x = k ln 2 + f, |f| <= ln(2)/2;   e^x - 1 = 2^k (e^f - 1) + (2^k - 1)
template <int W>
inline Pack<W> expm1(Pack<W> x) {
  using P = Pack<W>;
  using Bits = typename P::Bits;
  using Values = typename P::Values;
  x = P(x.v > 709.0 ? P(709.0).v : x.v);
  x = P(x.v < -709.0 ? P(-709.0).v : x.v);
  constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  const P k = round(x * P(1.4426950408889634));
  const P f = (x - k * P(ln2_high)) - k * P(ln2_low);
  double factorial = 6227020800.0;  // 13!
  P series(1.0 / factorial);
  for (int n = 13; n > 2; --n) {
    factorial /= n;
    series = series * f + P(1.0 / factorial);
  }
  const P part = f + f * f * series;
  const Bits k_bits = reinterpret_cast<Bits>((k + P(0x1.8p52)).v) + 1023;  // the exponent's bits of 2^k, below others
  const P power(reinterpret_cast<Values>(k_bits << 52));
  return power * part + (power - P(1.0));
}

// The angle of (x, y), within about 3 units in the last place; 0 for the origin.
//   atan z = z + z^3 q(z^2) for |z| <= tan(pi/8), q the near-best polynomial there (absolute error of z^3 q: 1e-19);
//   beyond it atan z = pi/4 + atan((z - 1) / (z + 1)), and the other octants by reflection
template <int W>
inline Pack<W> atan2(Pack<W> y, Pack<W> x) {
  using P = Pack<W>;
  const P ax = P(x.v < 0.0 ? (-x).v : x.v), ay = P(y.v < 0.0 ? (-y).v : y.v);
  const auto steep = ay.v > ax.v;
  const P large = P(steep ? ay.v : ax.v), small = P(steep ? ax.v : ay.v);
  constexpr double tan_eighth = 0.41421356237309503;
  const auto beyond = small.v > (P(tan_eighth) * large).v;
  const P above = P(beyond ? (small - large).v : small.v), below = P(beyond ? (small + large).v : large.v);
  const P z = above / P(below.v == 0.0 ? P(1.0).v : below.v), s = z * z;
  constexpr double q[] = {0x1.0ad36a455cafbp-6, -0x1.1b33b923aa954p-5, 0x1.74ddd408bb4c1p-5, -0x1.ac7a938b69c93p-5,
                          0x1.e19a13b9fc6dfp-5, -0x1.110e880a7a521p-4, 0x1.3b1392d9e785cp-4, -0x1.745d165df3f95p-4,
                          0x1.c71c71c304b68p-4, -0x1.249249248d7eep-3, 0x1.9999999999953p-3, -0x1.5555555555555p-2};
  P series(q[0]);
  for (int k = 1; k < 12; ++k) series = series * s + P(q[k]);
  constexpr double half_pi = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;
  const P part = z * s * series;
  // a + b with the angle of the octant in two pieces.
  P a = P(beyond ? P(0.5 * half_pi).v : P(0.0).v), b = P(beyond ? P(0.5 * half_pi_low).v : P(0.0).v) + part;
  P rest = z;
  const auto turn = [&](auto where, double high, double low) {  // high - (a + rest + b)
    a = P(where ? (P(high) - a).v : a.v);
    rest = P(where ? (-rest).v : rest.v);
    b = P(where ? (P(low) - b).v : b.v);
  };
  turn(steep, half_pi, half_pi_low);
  turn(x.v < 0.0, 2.0 * half_pi, 2.0 * half_pi_low);
  const P angle = a + (rest + b);
  return P(y.v < 0.0 ? (-angle).v : angle.v);
}

// All bits of the first `count` lanes.
template <int W>
inline typename Pack<W>::Bits first_lanes(Index count) {
  typename Pack<W>::Bits lane;
  for (int i = 0; i < W; ++i) lane[i] = i;
  return lane < count;
}

// Writes the lanes that are set in `kept` one behind the other, and anything behind them: W places.
template <int W>
inline void compress(Pack<W> x, typename Pack<W>::Bits kept, double* to) {
#ifdef __AVX512DQ__
  if constexpr (W == 8) {
    const auto packed = _mm512_maskz_compress_pd(_mm512_movepi64_mask(reinterpret_cast<__m512i>(kept)), x.v);
    __builtin_memcpy(to, &packed, sizeof packed);
    return;
  }
#endif
  int n = 0;
  for (int lane = 0; lane < W; ++lane) {
    to[n] = x.v[lane];
    n -= static_cast<int>(kept[lane]);
  }
}
// Of W ids; returns how many are kept.
template <int W>
inline Index compress(const std::int32_t* ids, typename Pack<W>::Bits kept, std::int32_t* to) {
#ifdef __AVX512DQ__
  if constexpr (W == 8) {
    const __mmask8 mask = _mm512_movepi64_mask(reinterpret_cast<__m512i>(kept));
    const __m256i packed = _mm256_maskz_compress_epi32(mask, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ids)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), packed);
    return __builtin_popcount(mask);
  }
#endif
  int n = 0;
  for (int lane = 0; lane < W; ++lane) {
    to[n] = ids[lane];
    n -= static_cast<int>(kept[lane]);
  }
  return n;
}

}  // namespace tempi
