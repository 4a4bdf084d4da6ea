// SPDX-License-Identifier: Apache-2.0
// The kernel of energy_residual.hpp: what strikes of one instant add to the records of their terms. The same bits of
// every instruction set: nothing is multiplied.
#pragma once

#include <array>

#include "tempi/core/ids.hpp"

namespace tempi {

// Of eight terms at places side by side, one number each [J]; together, so that they come to a cache as one stream.
struct alignas(64) ResidualRecords {
  static constexpr Index terms = 8;
  using Eight = std::array<double, terms>;
  Eight pending;      // T^+ - T^- - V(x^j) of the last strike; not a number before the first
  Eight last;         // R_K^j of the last complete update
  Eight accumulated;  // sum of R_K^j
  Eight energy;       // largest T_K + V_K so far
  Eight peak;         // accumulated residual where its magnitude was largest
};
// What a strike tells of them; null where there is none of a kind.
struct ToldOfStrikes {
  const double *kinetic_before, *kinetic_change, *damping_work, *energy, *load_work;
};
struct ResidualSums {
  double given;        // sum of T^+ - T^- but for dampers [J]
  double accumulated;  // the one of the largest magnitude [J]
};
// Of terms at places first to first + count - 1. `complete`: they have struck before, so their residuals are complete
// now.
using ResidualKernel = ResidualSums (*)(ResidualRecords* records, Index first, Index count, const ToldOfStrikes& told,
                                        bool complete);

// Of the instruction set with packs of W doubles; of the one in use.
template <int W>
ResidualKernel residual_kernel_of();
ResidualKernel residual_kernel();

}  // namespace tempi
