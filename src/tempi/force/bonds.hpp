// SPDX-License-Identifier: Apache-2.0
// Dampers along and across pairs of nodes, in packs for their kernel (pair/resist_bonds.hpp).
#pragma once

#include <array>
#include <memory>
#include <span>

#include "tempi/force/damping_batch.hpp"
#include "tempi/force/force.hpp"
#include "tempi/pair/pairs.hpp"

namespace tempi {

// As Force::damping_batch of `of`, its elements of two nodes those that `pairs` has packed; `coefficient` as the kernel
// has it.
std::unique_ptr<DampingBatch> make_bond_batch(const Force& of, int dim, PairPacks pairs, BondResistance kernel,
                                              double coefficient, std::span<const Index> elements,
                                              std::span<const std::int32_t> place,
                                              std::span<const std::array<bool, 3>> held);

}  // namespace tempi
