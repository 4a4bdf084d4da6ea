// SPDX-License-Identifier: Apache-2.0
// Adapter: the vector extension of GCC and clang. No library.
#pragma once

#include "lines.hpp"

namespace tempi::bench::TEMPI_CANDIDATE {
#if defined(__AVX512F__)
inline constexpr int lanes = 8;
#elif defined(__AVX__)
inline constexpr int lanes = 4;
#else
inline constexpr int lanes = 2;
#endif
typedef std::uint64_t Bits __attribute__((vector_size(8 * lanes)));
using Vec = V<lanes>;
inline Vec splat(double x) { return x - Vec{}; }  // one broadcast
inline Vec load_vec(const double* p) { return load<lanes>(p); }
inline void store_vec(double* p, Vec v) { store<lanes>(p, v); }
inline Bits to_bits(Vec v) { return (Bits)v; }
inline Vec to_vec(Bits b) { return (Vec)b; }
inline Bits splat_bits(std::uint64_t b) { return b - Bits{}; }
inline Bits shift_right_52(Bits b) { return b >> 52; }
inline Vec from_vector(V<lanes> v) { return v; }
inline V<lanes> to_vector(Vec v) { return v; }
}  // namespace tempi::bench::TEMPI_CANDIDATE
