// SPDX-License-Identifier: Apache-2.0
// Steps as multiples of one tick. At tick s exactly the terms whose multiple m divides s act, all at the same time:
// they commute, form one batch and need no queue. It is still asynchronous, t_K^j = j m_K tick, and time is an integer.
//
// The price is rounding down: m tick <= step. Which multiples are allowed decides how much of the saving is kept: of
// steps spread evenly in log, powers of two keep 1/(2 ln 2) = 0.72 and powers of three 2/(3 ln 3) = 0.61.
//
// It decides stability too (measured, not proved). Multiples that do not nest resonate, slowly: any integers sometimes
// from 0.3 of the elements' own stable steps, twos and threes above 0.5. Nested ones did not up to 0.9 on 4-node
// tetrahedra; on bars they do, unless the steps of neighbours are kept close.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tempi {

// Which multiples of the tick steps may be: 1, 2, 4, 8 ...; 1, 3, 9 ...; 1, 2, 3, 4, 6, 8, 12, 16, 24 ...; 1 to 8, then
// four an octave, 10, 12, 14, 16, 20, 24, 28, 32 ... (with 5 % between them batches are so thin that moving their nodes
// eats the saving: decision 0005). None above 2^30.
enum class LatticeRule { powers_of_two, powers_of_three, twos_and_threes, any };

// Whether each multiple divides the next. Then whoever acts less often acts only when all the faster ones do.
bool nests(LatticeRule rule);

// Where slow terms look at the nodes of faster ones: where they are, as in the papers; or, for rules that nest, where
// their smooth path is (integrator/lattice/lattice_mollifier.hpp).
enum class Coupling { plain, mollified };

struct TickLattice {
  double tick;                      // [s]
  std::vector<std::int32_t> ticks;  // of each term: its step in ticks, 1 to 2^30
};

bool unequal(const TickLattice& lattice);  // whether not all steps are the same

// What the choice of the tick is weighed by.
struct LatticeCost {
  std::span<const double> per_update;  // of each term [ns], >= 0
  double per_strike;                   // each time one set of terms of equal step acts [ns], >= 0
  // Of steps that nest, what a term costs beside each neighbour of longer steps: so much of its update, each time the
  // next longer step is over. `around` [s]: of each term the longest step among its own and its neighbours', before
  // they are rounded down; empty: not weighed.
  std::span<const double> around = {};
  double per_border = 0.0;
};

// Predicted wall time per simulated time [ns/s]:
//
//   sum over terms of per_update / (m tick)  +  sum over the distinct multiples of per_strike / (m tick)
//
// without what borders cost. All sizes must agree. Cost O(n log n).
double predicted_cost(const TickLattice& lattice, const LatticeCost& cost);

// The lattice of least predicted cost, with that of borders, among those tried: each term has the largest multiple with
// m tick <= step, and the tick is the smallest step times p^(-j/32), j = 0 ... 31 (p = 3 for powers of three, otherwise
// 2), or for `any` the smallest step over 1, 2, 3, 4, 6 or 8. Of equally cheap ticks the largest.
//
// `steps` [s]: at least one, positive and finite. None is exceeded by more than rounding (1e-12 of it), so steps equal
// but for rounding get the same multiple; equal steps come back to the bit, as 1 tick. Steps beyond 2^30 ticks are cut
// to the largest multiple there is. Cost O(n log n), one sort; the ticks are tried on the sorted steps, O(log n) each,
// or O(n) where borders are weighed.
TickLattice fit_lattice(std::span<const double> steps, LatticeRule rule, const LatticeCost& cost);

}  // namespace tempi
