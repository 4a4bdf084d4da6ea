// SPDX-License-Identifier: Apache-2.0
// Adapter: std::experimental::simd (libstdc++ >= 11). Its own log1p calls the scalar one lane by lane.
#pragma once

#include <experimental/simd>

#include "lines.hpp"

namespace tempi::bench::TEMPI_CANDIDATE {
namespace stdx = std::experimental;
using Vec = stdx::native_simd<double>;
using Bits = stdx::rebind_simd_t<std::uint64_t, Vec>;
inline constexpr int lanes = int(Vec::size());
inline Vec splat(double x) { return x; }
inline Vec load_vec(const double* p) { return Vec(p, stdx::element_aligned); }
inline void store_vec(double* p, const Vec& v) { v.copy_to(p, stdx::element_aligned); }
inline Bits to_bits(const Vec& v) { return std::bit_cast<Bits>(v); }
inline Vec to_vec(const Bits& b) { return std::bit_cast<Vec>(b); }
inline Bits splat_bits(std::uint64_t b) { return b; }
inline Bits shift_right_52(const Bits& b) { return b >> 52; }
inline Vec from_vector(V<lanes> v) { return std::bit_cast<Vec>(v); }
inline V<lanes> to_vector(const Vec& v) { return std::bit_cast<V<lanes>>(v); }
inline Vec library_log1p(const Vec& x) { return stdx::log1p(x); }
inline Vec gather(const Node* n, const std::int32_t* id, int i) {
  return Vec([=](auto l) { return n[id[l]].u[i]; });
}
}  // namespace tempi::bench::TEMPI_CANDIDATE
