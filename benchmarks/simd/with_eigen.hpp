// SPDX-License-Identifier: Apache-2.0
// Adapter: Eigen::Array<double, W, 1>. Pack evaluates each operation: expressions would not match the templates' T.
#pragma once

#include <Eigen/Core>

#include "lines.hpp"

namespace tempi::bench::TEMPI_CANDIDATE {
inline constexpr int lanes = EIGEN_MAX_STATIC_ALIGN_BYTES == 16 ? 2 : EIGEN_MAX_STATIC_ALIGN_BYTES / 8;
using Vec = Eigen::Array<double, lanes, 1>;
typedef std::uint64_t Bits __attribute__((vector_size(8 * lanes)));  // Eigen has no bitwise operators
inline Vec splat(double x) { return Vec::Constant(x); }
inline Vec load_vec(const double* p) { return Vec::Map(p); }
inline void store_vec(double* p, const Vec& v) { Vec::Map(p) = v; }
inline Vec from_vector(V<lanes> v) {
  Vec r;
  std::memcpy(r.data(), &v, sizeof v);
  return r;
}
inline V<lanes> to_vector(const Vec& v) { return load<lanes>(v.data()); }
inline Bits to_bits(const Vec& v) { return (Bits)to_vector(v); }
inline Vec to_vec(Bits b) { return from_vector((V<lanes>)b); }
inline Bits splat_bits(std::uint64_t b) { return b - Bits{}; }
inline Bits shift_right_52(Bits b) { return b >> 52; }
inline Vec library_log1p(const Vec& x) { return x.log1p(); }
inline Vec gather(const Node* n, const std::int32_t* id, int i) {
  Vec r;
  for (int l = 0; l < lanes; ++l) r[l] = n[id[l]].u[i];
  return r;
}
}  // namespace tempi::bench::TEMPI_CANDIDATE
