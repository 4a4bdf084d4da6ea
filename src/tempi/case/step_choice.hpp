// SPDX-License-Identifier: Apache-2.0
// Which lattice of steps: fast by a cost model, and so that slow elements look often enough at their fast neighbours
// (docs/stability.md).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tempi/diagnostic/asynchrony_error.hpp"
#include "tempi/mesh/cell_type.hpp"
#include "tempi/model/model.hpp"
#include "tempi/schedule/tick_lattice.hpp"

namespace tempi {

// How close the steps of neighbours are kept, beyond each element's own stable step.
struct NeighbourLimit {
  // Largest step over the stable step 2/omega of any single node within one ring, its neighbours held: whoever looks at
  // a node looks as often as the node's own vibration needs.
  std::optional<double> nodal_safety;
  std::optional<double> ratio;  // largest step over the smallest around it
  bool one_ring = false;        // each step is the smallest around its nodes
  bool operator==(const NeighbourLimit&) const = default;
};
std::string describe(const NeighbourLimit& limit);  // "nodes 0.9", "1.5 x", "one ring, nodes 0.68", "-"

// What the choice is made for.
struct StepWish {
  const Model& model;
  std::vector<double> steps;            // of each term [s], before they are rounded down
  std::vector<double> cost_per_update;  // of each term [ns]
  std::vector<double> near_nodes;       // of each term, smallest_within_a_ring of nodal_stable_steps [s]
  Coupling coupling = Coupling::plain;  // of steps that nest; of others always plain
  double part = 1.0;                    // of the steps, that is to be taken
};

struct StepChoice {
  LatticeRule rule;
  NeighbourLimit limit;
  TickLattice lattice;
  double saving = 0.0;  // updates of Newmark at the smallest wished step over the updates of this
  double cost = 0.0;    // [ns] of wall time per simulated second, by the cost model
  double part = 1.0;    // of the wished steps it was made of
  Coupling coupling = Coupling::plain;
  double border = 0.0;  // mollified: updates at borders between steps that cost a second time, over all updates
  // As predicted, relative; absent: it was not. Of frequencies in the worst uniform strain, and of stiffness in each,
  // with what the coupling leaves of it.
  std::optional<double> error = {};
  AsynchronyError stiffness = {};
};

// With coupling = "auto" plain kicks are taken where their predicted error is no larger.
constexpr double tolerated_error = 1e-3;

// What is left of the error of asynchrony when it is mollified, by the bodies of docs/accuracy.md: all but a few have
// less. `safety`: largest step over its term's stable step; 0: not known.
double mollified_rest(double safety);

// Fills in the errors that are not known yet of choices for wished steps up to `safety`, by
// diagnostic/asynchrony_error.hpp; not where terms wander or act on many nodes.
void predict_errors(const Model& model, std::span<const double> u, double safety, std::span<StepChoice> choices,
                    int threads);

StepChoice choice_of(const StepWish& wish, LatticeRule rule, const NeighbourLimit& limit);

// The cheaper of powers of two and of three; one step for all where both would need more updates than that.
StepChoice automatic_choice(const StepWish& wish, const NeighbourLimit& limit);

// One step for all, the smallest wished.
StepChoice equal_steps(const StepWish& wish);

// What lattice = "auto" tries on the model, the loosest first (docs/stability.md: how often which one was taken).
struct StepAttempt {
  NeighbourLimit limit;
  double part = 1.0;  // of the wished steps
};
std::vector<StepAttempt> attempts();

// Time of one update [ns], all told, on the machine these figures were taken on (docs/benchmarks.md): what counts is
// their ratios. `watched`: with the energy residual.
double typical_cost(CellType type);
constexpr double queue_cost = 230.0;  // [ns], what the event queue adds to an update

// Of steps on the exact queue [ns per simulated second]; `costs` [ns] of an update of each term.
double cost_on_queue(std::span<const double> costs, std::span<const double> steps);

std::string name_of(LatticeRule rule);   // "powers-of-two", as in the case file
std::string name_of(MassShares shares);  // "balanced"
std::string name_of(Coupling coupling);  // "mollified"
std::optional<LatticeRule> lattice_rule(const std::string& name);

}  // namespace tempi
