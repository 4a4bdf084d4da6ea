// SPDX-License-Identifier: Apache-2.0
// Which lattice of steps: fast by a cost model, safe by what the stability sweep has found (docs/stability.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tempi/mesh/cell_type.hpp"
#include "tempi/model/model.hpp"
#include "tempi/schedule/tick_lattice.hpp"

namespace tempi {

// How many times the smallest step around it a term's step may be. Absent: any.
using NeighbourRatio = std::optional<double>;

// The largest fraction of their own stable steps at which cells of `type` showed no growth in the sweep; 0 where the
// smallest fraction tried grew.
double verified_safety(CellType type, MassShares shares, LatticeRule rule, NeighbourRatio ratio);

constexpr double verified_on_queue = 0.2;  // the same for steps of any ratio

// What the choice is made for.
struct StepWish {
  const Model& model;
  std::vector<double> steps;            // of each term [s], before they are rounded down
  std::vector<CellType> types;          // that occur
  std::vector<double> cost_per_update;  // of each term [ns]
  double safety;                        // largest step over the term's own stable step
  bool one_ring = false;                // each step is the smallest around its nodes already
};

struct StepChoice {
  LatticeRule rule;
  NeighbourRatio ratio;
  TickLattice lattice;
  double saving;           // updates of Newmark at the smallest wished step over the updates of this
  double cost;             // [ns] of wall time per simulated second, by the cost model
  double verified_safety;  // the least of those of the types that occur
  bool verified(double safety) const { return safety <= verified_safety; }
};

StepChoice choice_of(const StepWish& wish, LatticeRule rule, NeighbourRatio ratio);

// For one rule that nests: with the loosest limit on neighbours under which no growth was found; the tightest if none
// is known. Steps of one ring need no limit: they were found as stable as the tightest.
StepChoice safest_choice(const StepWish& wish, LatticeRule rule);

// The cheaper of powers of two and of three: as above, or with a given limit on neighbours.
StepChoice automatic_choice(const StepWish& wish);
StepChoice automatic_choice(const StepWish& wish, double ratio);

// Time of one update [ns], all told, on the machine these figures were taken on (docs/benchmarks.md): what counts is
// their ratios. `watched`: with the energy residual.
double typical_cost(CellType type, bool watched);
constexpr double queue_cost = 230.0;  // [ns], what the event queue adds to an update

std::string name_of(LatticeRule rule);   // "powers-of-two", as in the case file
std::string name_of(MassShares shares);  // "balanced"
std::optional<LatticeRule> lattice_rule(const std::string& name);

}  // namespace tempi
