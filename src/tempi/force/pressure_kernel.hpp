// SPDX-License-Identifier: Apache-2.0
// The kernel of pressures that follow their surface: forces on the nodes of facets where these are now. Eight facets a
// row, whatever the width of packs.
//
//   f_a = -sum_q w_q p_q N_a(xi_q) n_q,   n = dx/dxi_1 x dx/dxi_2, outward
#pragma once

#include <array>
#include <cstdint>

#include "tempi/core/ids.hpp"
#include "tempi/simd/eight.hpp"
#include "tempi/simd/node_line.hpp"

namespace tempi {

// Shape functions and derivatives of a facet at a quadrature point.
struct FacetPoint {
  std::array<double, 6> N{};
  std::array<std::array<double, 2>, 6> dN{};
  double weight = 1.0;
};

// Facets of one type; those that fill the last row may be any.
struct PressureRows {
  Index facets;
  const std::array<std::int32_t, Eight::lanes>* lines;  // one for each node a row
  const Eight* X;                                       // dim numbers for each; of ends of bars their side, -1 or 1
  const FacetPoint* rule;
  Index points;            // of the rule
  const double* pressure;  // at the points of one facet after the other [Pa], or one number for all
  bool one_for_all;
};

// Of facets first to last - 1, dim numbers a node, one facet behind the other [N].
using PressureKernel = void (*)(const PressureRows& rows, Index first, Index last, const NodeLine* nodes,
                                double* forces);

// Of facets of so many nodes: ends of bars, lines of 2 and 3 nodes, triangles of 3 and 6. Of the instruction set with
// packs of W doubles; of the one in use.
template <int W>
PressureKernel pressure_kernel_of(std::size_t nodes, std::size_t dim);
PressureKernel pressure_kernel(std::size_t nodes, std::size_t dim);

}  // namespace tempi
