// SPDX-License-Identifier: Apache-2.0
// The kernel of energy_residual.hpp: what strikes of one instant add to the records of their terms. The same bits of
// every instruction set: nothing is multiplied.
#pragma once

#include "tempi/core/ids.hpp"

namespace tempi {

// Of terms at places side by side, one number each [J].
struct ResidualRecords {
  double* pending;  // T^+ - T^- - V(x^j) of the last strike
  double *last, *accumulated;
  double* energy;            // largest T_K + V_K so far
  double *peak, *peak_time;  // accumulated residual where its magnitude was largest [J], [s]
};
// What a strike tells of them; null where there is none of a kind.
struct ToldOfStrikes {
  const double *kinetic_before, *kinetic_change, *damping_work, *energy, *load_work;
};
// `complete`: they have struck before, so their residuals are complete now.
using ResidualKernel = void (*)(const ResidualRecords& records, Index count, const ToldOfStrikes& told, double time,
                                bool complete);

// Of the instruction set with packs of W doubles; of the one in use.
template <int W>
ResidualKernel residual_kernel_of();
ResidualKernel residual_kernel();

}  // namespace tempi
