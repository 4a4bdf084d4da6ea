// SPDX-License-Identifier: Apache-2.0
// Adapter: xsimd 8.1 (it has no transpose yet; gather() is the processor's gather instruction where there is one).
#pragma once

#include <xsimd/xsimd.hpp>

#include "lines.hpp"

namespace tempi::bench::TEMPI_CANDIDATE {
using Vec = xsimd::batch<double>;
using Bits = xsimd::batch<std::uint64_t>;
inline constexpr int lanes = int(Vec::size);
inline Vec splat(double x) { return Vec(x); }
inline Vec load_vec(const double* p) { return Vec::load_unaligned(p); }
inline void store_vec(double* p, const Vec& v) { v.store_unaligned(p); }
inline Bits to_bits(const Vec& v) { return xsimd::bitwise_cast<Bits>(v); }
inline Vec to_vec(const Bits& b) { return xsimd::bitwise_cast<Vec>(b); }
inline Bits splat_bits(std::uint64_t b) { return Bits(b); }
inline Bits shift_right_52(const Bits& b) { return b >> 52; }
inline Vec from_vector(V<lanes> v) { return Vec(v); }
inline V<lanes> to_vector(const Vec& v) { return v.data; }
inline Vec library_log1p(const Vec& x) { return xsimd::log1p(x); }
inline Vec gather(const Node* n, const std::int32_t* id, int i) {
  alignas(64) std::int64_t at[lanes];
  for (int l = 0; l < lanes; ++l) at[l] = 8 * std::int64_t{id[l]};
  return Vec::gather(&n->u[i], xsimd::batch<std::int64_t>::load_aligned(at));
}
}  // namespace tempi::bench::TEMPI_CANDIDATE
