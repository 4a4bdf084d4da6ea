// SPDX-License-Identifier: Apache-2.0
// The kernel of residual_kernel.hpp. Include in residual_kernel_*.cpp only: once per instruction set.
#pragma once

#include "tempi/diagnostic/residual_kernel.hpp"
#include "tempi/simd/pack.hpp"

namespace tempi {

// Lanes `lane` and on of a row; `i`: where their figures are.
template <class P, bool complete>
inline void add_to_records(ResidualRecords& of, std::size_t lane, Index i, const ToldOfStrikes& told, P& given,
                           P& largest) {
  const P V = P::read(told.energy + i);
  P change = P::read(told.kinetic_change + i);
  if (told.damping_work != nullptr) change = change - P::read(told.damping_work + i);
  given = given + change;
  if constexpr (complete) {
    P last = P::read(&of.pending[lane]) + V;
    if (told.load_work != nullptr) last = last - P::read(told.load_work + i);
    const P accumulated = P::read(&of.accumulated[lane]) + last, peak = P::read(&of.peak[lane]);
    const P size = magnitude(accumulated);
    last.store(&of.last[lane]);
    accumulated.store(&of.accumulated[lane]);
    P(size.v > magnitude(peak).v ? accumulated.v : peak.v).store(&of.peak[lane]);
    largest = P(size.v > magnitude(largest).v ? accumulated.v : largest.v);
  }
  (change - V).store(&of.pending[lane]);
  const P energy = P::read(told.kinetic_before + i) + V, most = P::read(&of.energy[lane]);
  P(energy.v > most.v ? energy.v : most.v).store(&of.energy[lane]);
}

// Sums go by lanes of a row, whatever the width of packs.
template <int W, bool complete>
[[gnu::flatten]] ResidualSums add_residuals(ResidualRecords* records, Index first, Index count,
                                            const ToldOfStrikes& told) {
  constexpr Index terms = ResidualRecords::terms, ahead = 8;
  std::array<Pack<W>, terms / W> given, largest;
  given.fill(Pack<W>(0.0));
  largest.fill(Pack<W>(0.0));
  Index i = 0;
  for (; first % terms == 0 && i + terms <= count; i += terms) {
    const char* later = reinterpret_cast<const char*>(&records[(first + i) / terms + ahead]);
    for (std::size_t line = 0; line < sizeof(ResidualRecords); line += 64) __builtin_prefetch(later + line, 1);
    for (std::size_t k = 0; k < given.size(); ++k)
      add_to_records<Pack<W>, complete>(records[(first + i) / terms], k * W, i + static_cast<Index>(k * W), told,
                                        given[k], largest[k]);
  }
  Pack<1> sum(0.0), most(0.0);
  for (; i < count; ++i)
    add_to_records<Pack<1>, complete>(records[(first + i) / terms], static_cast<std::size_t>((first + i) % terms), i,
                                      told, sum, most);
  ResidualSums sums{sum.v[0], most.v[0]};
  for (std::size_t lane = 0; lane < terms; ++lane) {
    sums.given += given[lane / W].v[lane % W];
    const double value = largest[lane / W].v[lane % W];
    if ((value < 0.0 ? -value : value) > (sums.accumulated < 0.0 ? -sums.accumulated : sums.accumulated))
      sums.accumulated = value;
  }
  return sums;
}

template <int W>
ResidualKernel residual_kernel_of() {
  return [](ResidualRecords* records, Index first, Index count, const ToldOfStrikes& told, bool complete) {
    return complete ? add_residuals<W, true>(records, first, count, told)
                    : add_residuals<W, false>(records, first, count, told);
  };
}

}  // namespace tempi
