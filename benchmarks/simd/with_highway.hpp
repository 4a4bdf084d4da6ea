// SPDX-License-Identifier: Apache-2.0
// Adapter: Google Highway, static dispatch. (Its dynamic dispatch compiles functions under a target pragma: templates
// included before, such as Mat, cannot then inline them.)
#pragma once

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "lines.hpp"

namespace tempi::bench::TEMPI_CANDIDATE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using DU = hn::ScalableTag<std::uint64_t>;
using DI = hn::ScalableTag<std::int64_t>;
using Vec = hn::Vec<D>;
using Bits = hn::Vec<DU>;
inline constexpr int lanes = HWY_LANES(double);
inline Vec splat(double x) { return hn::Set(D(), x); }
inline Vec load_vec(const double* p) { return hn::LoadU(D(), p); }
inline void store_vec(double* p, Vec v) { hn::StoreU(v, D(), p); }
inline Bits to_bits(Vec v) { return hn::BitCast(DU(), v); }
inline Vec to_vec(Bits b) { return hn::BitCast(D(), b); }
inline Bits splat_bits(std::uint64_t b) { return hn::Set(DU(), b); }
inline Bits shift_right_52(Bits b) { return hn::ShiftRight<52>(b); }
inline Vec from_vector(V<lanes> v) { return std::bit_cast<Vec>(v); }
inline V<lanes> to_vector(Vec v) { return std::bit_cast<V<lanes>>(v); }
inline Vec library_log1p(Vec x) { return hn::Log1p(D(), x); }
inline Vec gather(const Node* n, const std::int32_t* id, int i) {
  alignas(64) std::int64_t at[lanes];
  for (int l = 0; l < lanes; ++l) at[l] = 8 * std::int64_t{id[l]};
  return hn::GatherIndex(D(), &n->u[i], hn::Load(DI(), at));
}
}  // namespace tempi::bench::TEMPI_CANDIDATE
