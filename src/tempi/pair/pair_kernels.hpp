// SPDX-License-Identifier: Apache-2.0
// The kernels of pair potentials, and the packed data they work on. Space has three axes here; components beyond the
// model's dimension are zero.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "tempi/core/ids.hpp"
#include "tempi/potential/batch.hpp"
#include "tempi/simd/node_line.hpp"
#include "tempi/space/near_points.hpp"

namespace tempi {

// A law's parameters as its kernel wants them (strike_pairs.hpp says which), and where it ends.
struct PackedLaw {
  std::array<double, 4> parameters{};
  double reach = std::numeric_limits<double>::infinity();  // V = 0 from this distance on [m]
  // Of a LawPart: where it begins to rise [m] and one over the width of that [1/m], the same of its fall. As they are:
  // it has risen before 0, and falls nowhere.
  std::array<double, 4> switches{-1.0, 1.0, std::numeric_limits<double>::max(), 1.0};
};

// Pairs in packs of `width`, each a term of its own. In front of the lanes:
//   places    the two nodes
//   geometry  x_b - x_a of the reference positions, 3 components, then the factor of the law
//   lanes     where every pair has a law of its own: its parameters, then its reach; otherwise null
struct PackedPairs {
  const double* geometry;
  const double* lanes;
  const std::int32_t* places;
  PackedLaw law;
  PackedBox box;
};

// Strikes packs first to last - 1; tells whether no nodes met and all forces were finite. Watched (Batch::watch) it
// writes `energies` and keeps the impulses of the second nodes, 3 numbers; otherwise both may be null.
using PairStrike = bool (*)(const PackedPairs& pairs, Index first, Index last, double step, NodeLine* nodes,
                            double* energies, double* kept);
// What became of them, of so many packs in all (Batch::works).
using PairWorks = void (*)(const PackedPairs& pairs, Index packs, Index first, Index last, const NodeMean* means,
                           const double* kept, double* kinetic, double* work);

// Energies and gradients of packs first to last - 1, one pair behind the other, all lanes (Batch::measure).
using PairMeasure = void (*)(const PackedPairs& pairs, Index first, Index last, int dim, const NodeLine* nodes,
                             double* energies, double* gradients);

// Along flights (Batch::depart, follow, turn, add_gradient); what is kept: dV/dx of the second node, 3 numbers.
using PairDepart = double (*)(const PackedPairs& pairs, Index first, Index last, const NodeLine* nodes, double rounding,
                              double* flight);
using PairFollow = Batch::Followed (*)(const PackedPairs& pairs, Index first, Index last, double s,
                                       const double* flight, double* rates, double* kept);
using PairTurn = Batch::Followed (*)(Index first, Index last, const double* flight, double* rates, const double* kept);
using PairGradient = void (*)(const PackedPairs& pairs, Index first, Index last, int dim, const double* kept,
                              double* gradient);

// Points and, row by row, the later points each may feel: others[first[i]] ... others[first[i + 1] - 1], ascending, or
// all that follow it where there is no list. Points beyond the law's reach are passed over before anything is summed,
// so that no bit depends on how many of them are listed.
struct PairRows {
  Index count;
  const double* points;        // x, y, z, and for gravitation the mass, for spheres the radius, of each
  const std::int32_t* first;   // count + 1; null: all pairs
  const std::int32_t* others;  // with room for one more pack
  double* gradients;           // dV/dx [N], 4 numbers a point and one point more; added to
  PackedLaw law;
  PackedBox box;
};
struct RowSum {
  double energy;  // only where it is asked for
  bool admissible;
};
using RowKernel = RowSum (*)(const PairRows& rows);

// How a strike of step 1 s changes with the nodes' places (Batch::strike_change), these in `shifts` at `shift_places`.
// `impulses`, if not null: 2 dim numbers a pair, all lanes.
using PairChange = void (*)(const PackedPairs& pairs, const std::int32_t* shift_places, Index first, Index last,
                            int dim, NodeLine* nodes, const NodeShift* shifts, double* impulses);

// Dampers along and across pairs, in packs of disjoint nodes (resist_bonds.hpp), which tells what a pair's factor is.
// In front of the lanes of `held`, of packs at supports: whether a component of the first node is, then of the second.
struct PackedBonds {
  PackedPairs pairs;
  const char *at_support, *held;  // 0: no; at_support by pack
  std::size_t dim;
  double coefficient;
};
struct BondMotion {  // DampingBatch::Sweep
  double relax, step;
  bool backward;
  std::array<double, 3>* withheld;
};
// Packs first to last - 1; returns the work done. `kept`, if not null: of all packs, the impulses of both nodes.
using BondResistance = double (*)(const PackedBonds& bonds, const BondMotion& how, Index first, Index last,
                                  NodeLine* nodes, double* kept);

struct PairKernel {
  PairStrike strike, watch;
  BondResistance resist;  // of stiffness
  PairWorks works;
  PairChange change;
  PairMeasure measure;
  PairDepart depart;
  PairFollow follow;
  PairTurn turn;
  PairGradient add_gradient;
  RowKernel gradients, gradients_and_energy;
};

enum class PackedLawKind { lennard_jones, morse, spring, tanh_spring, gravitation, hertz, spheres };

// Of the instruction set with packs of W doubles; of the one in use.
template <int W>
PairKernel pair_kernel_of(PackedLawKind law, bool part);
PairKernel pair_kernel(PackedLawKind law, bool part);
template <int W>
BondResistance dashpot_resistance_of();
BondResistance dashpot_resistance();

}  // namespace tempi
