// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/step_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "tempi/core/error.hpp"
#include "tempi/model/steps.hpp"

namespace tempi {
namespace {

// [ns], of a group each time it acts: loops to start, lanes not filled, and what thin groups of a large model lose in
// caches. Fitted to blocks of 10 k to 500 k tetrahedra (docs/benchmarks.md).
double cost_per_strike(std::size_t terms) { return 500.0 + 0.03 * static_cast<double>(terms); }

// Of an update at a border between steps, of what its strike costs: what a mollified kick adds (docs/benchmarks.md).
constexpr double border_cost = 1.5;

constexpr std::array<std::pair<LatticeRule, const char*>, 4> names = {
    {{LatticeRule::powers_of_two, "powers-of-two"},
     {LatticeRule::powers_of_three, "powers-of-three"},
     {LatticeRule::twos_and_threes, "twos-and-threes"},
     {LatticeRule::any, "any"}}};

}  // namespace

std::string describe(const NeighbourLimit& limit) {
  std::string text = limit.one_ring ? "one ring" : limit.ratio ? fmt::format("{:g} x", *limit.ratio) : "";
  if (limit.nodal_safety) text += fmt::format("{}nodes {:.2g}", text.empty() ? "" : ", ", *limit.nodal_safety);
  return text.empty() ? "-" : text;
}

StepChoice choice_of(const StepWish& wish, LatticeRule rule, const NeighbourLimit& limit) {
  std::vector<double> steps = wish.steps;
  for (double& step : steps) step *= wish.part;
  if (limit.nodal_safety)
    for (std::size_t i = 0; i < steps.size(); ++i)
      steps[i] = std::min(steps[i], *limit.nodal_safety * wish.near_nodes[i]);
  if (limit.one_ring) share_around_nodes(wish.model, steps);
  if (limit.ratio) limit_neighbours(wish.model, steps, *limit.ratio);
  const bool borders = wish.coupling == Coupling::mollified && nests(rule);
  const std::vector<double> around = borders ? longest_around(wish.model, steps) : std::vector<double>();
  const LatticeCost cost{wish.cost_per_update, cost_per_strike(steps.size()), around, border_cost};
  StepChoice choice{.rule = rule, .limit = limit, .lattice = fit_lattice(steps, rule, cost), .part = wish.part};
  double updates = 0.0;  // per second
  for (const std::int32_t m : choice.lattice.ticks) updates += 1.0 / (choice.lattice.tick * m);
  choice.saving = static_cast<double>(steps.size()) / (*std::ranges::min_element(wish.steps) * updates);
  choice.cost = predicted_cost(choice.lattice, cost);
  if (!borders || !unequal(choice.lattice)) return choice;
  choice.coupling = Coupling::mollified;
  const std::vector<std::int32_t> slower = next_slower(wish.model, choice.lattice.ticks);
  for (std::size_t i = 0; i < slower.size(); ++i) {
    if (slower[i] == 0) continue;
    choice.border += 1.0 / (choice.lattice.tick * slower[i] * updates);
    choice.cost += border_cost * wish.cost_per_update[i] / (choice.lattice.tick * slower[i]);
  }
  return choice;
}

StepChoice automatic_choice(const StepWish& wish, const NeighbourLimit& limit) {
  StepChoice two = choice_of(wish, LatticeRule::powers_of_two, limit);
  StepChoice three = choice_of(wish, LatticeRule::powers_of_three, limit);
  StepChoice best = two.cost <= three.cost ? std::move(two) : std::move(three);
  return best.saving > wish.part ? std::move(best) : equal_steps(wish);
}

StepChoice equal_steps(const StepWish& wish) {
  StepWish equal = wish;
  std::ranges::fill(equal.steps, *std::ranges::min_element(wish.steps));
  return choice_of(equal, LatticeRule::powers_of_two, {});
}

std::vector<StepAttempt> attempts() {
  const auto nodal = [](double safety) { return NeighbourLimit{safety, std::nullopt, false}; };
  const auto ring = [](double safety) { return NeighbourLimit{safety, std::nullopt, true}; };
  const NeighbourLimit close{0.7, 1.5, false};
  return {{nodal(0.9), 1.0}, {nodal(0.7), 1.0}, {ring(0.7), 1.0}, {close, 1.0}, {ring(0.7), 0.75}, {ring(0.5), 0.5}};
}

double mollified_rest(double safety) { return safety > 0.0 ? std::min(0.13, 0.5 * safety * safety) : 0.13; }

void predict_errors(const Model& model, std::span<const double> u, double safety, std::span<StepChoice> choices,
                    int threads) {
  for (Index p = 0; p < model.potential_count(); ++p)
    if (model.potential(p).as_local() == nullptr || !model.potential(p).stays_together()) return;
  std::vector<const TickLattice*> lattices;
  for (const StepChoice& choice : choices) lattices.push_back(&choice.lattice);
  std::vector<AsynchronyError> errors;
  try {
    errors = asynchrony_errors(model, u, lattices, threads);
  } catch (const SolveError&) {  // a formula without a value: the run will say so
    return;
  }
  for (std::size_t i = 0; i < choices.size(); ++i)
    if (!choices[i].error) {
      const double rest = choices[i].coupling == Coupling::mollified ? mollified_rest(safety * choices[i].part) : 1.0;
      choices[i].error = 0.5 * errors[i].worst() * rest;
      for (const double error : errors[i].of_strain) choices[i].stiffness.of_strain.push_back(error * rest);
    }
}

double typical_cost(CellType type) {
  return type == CellType::line2          ? 7.0
         : type == CellType::triangle3    ? 9.0
         : type == CellType::shell3       ? 12.0
         : type == CellType::triangle6    ? 30.0
         : type == CellType::tetrahedron4 ? 15.0
                                          : 80.0;
}

std::string name_of(MassShares shares) { return shares == MassShares::own ? "own" : "balanced"; }

std::string name_of(Coupling coupling) { return coupling == Coupling::plain ? "plain" : "mollified"; }

std::string name_of(LatticeRule rule) {
  return std::ranges::find(names, rule, &std::pair<LatticeRule, const char*>::first)->second;
}

std::optional<LatticeRule> lattice_rule(const std::string& name) {
  for (const auto& [rule, known] : names)
    if (name == known) return rule;
  return std::nullopt;
}

double cost_on_queue(std::span<const double> costs, std::span<const double> steps) {
  double sum = 0.0;
  for (std::size_t i = 0; i < steps.size(); ++i) sum += (costs[i] + queue_cost) / steps[i];
  return sum;
}

}  // namespace tempi
