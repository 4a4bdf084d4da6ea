// SPDX-License-Identifier: Apache-2.0
// The kernel of residual_kernel.hpp. Include in residual_kernel_*.cpp only: once per instruction set.
#pragma once

#include "tempi/diagnostic/residual_kernel.hpp"
#include "tempi/simd/pack.hpp"

namespace tempi {

template <class P, bool complete>
inline void add_to_records(const ResidualRecords& of, Index i, const ToldOfStrikes& told, double time) {
  const P V = P::read(told.energy + i);
  P pending = P::read(told.kinetic_change + i) - V;
  if (told.damping_work != nullptr) pending = pending - P::read(told.damping_work + i);
  if constexpr (complete) {
    P last = P::read(of.pending + i) + V;
    if (told.load_work != nullptr) last = last - P::read(told.load_work + i);
    const P accumulated = P::read(of.accumulated + i) + last, peak = P::read(of.peak + i);
    const auto larger = magnitude(accumulated).v > magnitude(peak).v;
    last.store(of.last + i);
    accumulated.store(of.accumulated + i);
    P(larger ? accumulated.v : peak.v).store(of.peak + i);
    P(larger ? P(time).v : P::read(of.peak_time + i).v).store(of.peak_time + i);
  }
  pending.store(of.pending + i);
  const P energy = P::read(told.kinetic_before + i) + V, most = P::read(of.energy + i);
  P(energy.v > most.v ? energy.v : most.v).store(of.energy + i);
}

template <int W, bool complete>
[[gnu::flatten]] void add_residuals(const ResidualRecords& of, Index count, const ToldOfStrikes& told, double time) {
  Index i = 0;
  for (; i + W <= count; i += W) add_to_records<Pack<W>, complete>(of, i, told, time);
  for (; i < count; ++i) add_to_records<Pack<1>, complete>(of, i, told, time);
}

template <int W>
ResidualKernel residual_kernel_of() {
  return [](const ResidualRecords& of, Index count, const ToldOfStrikes& told, double time, bool complete) {
    complete ? add_residuals<W, true>(of, count, told, time) : add_residuals<W, false>(of, count, told, time);
  };
}

}  // namespace tempi
