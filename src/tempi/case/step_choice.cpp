// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/step_choice.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "tempi/model/steps.hpp"

namespace tempi {
namespace {

// [ns], of a group each time it acts: loops to start, lanes not filled, and what thin groups of a large model lose in
// caches. Fitted to blocks of 10 k to 500 k tetrahedra (docs/benchmarks.md).
double cost_per_strike(std::size_t terms) { return 500.0 + 0.03 * static_cast<double>(terms); }

constexpr std::array<std::pair<LatticeRule, const char*>, 4> names = {
    {{LatticeRule::powers_of_two, "powers-of-two"},
     {LatticeRule::powers_of_three, "powers-of-three"},
     {LatticeRule::twos_and_threes, "twos-and-threes"},
     {LatticeRule::any, "any"}}};

constexpr double unlimited = std::numeric_limits<double>::infinity();
constexpr std::array<double, 4> ratios_tried = {unlimited, 4.0, 2.0, 1.5};

// The sweep's result (docs/stability.md): the largest fraction of the own stable step without growth, for each limit
// on neighbours of `ratios_tried`. Rules that do not nest were tried without a limit only.
struct Evidence {
  CellType type;
  MassShares shares;
  LatticeRule rule;
  std::array<double, 4> safety;
};
constexpr Evidence evidence[] = {
    {CellType::line2, MassShares::own, LatticeRule::powers_of_two, {0.0, 0.5, 0.5, 0.9}},
    {CellType::line2, MassShares::own, LatticeRule::powers_of_three, {0.0, 0.5, 0.5, 0.9}},
    {CellType::line2, MassShares::own, LatticeRule::twos_and_threes, {0.0, 0.0, 0.0, 0.0}},
    {CellType::line2, MassShares::own, LatticeRule::any, {0.0, 0.0, 0.0, 0.0}},
    {CellType::triangle3, MassShares::own, LatticeRule::powers_of_two, {0.5, 0.5, 0.5, 0.9}},
    {CellType::triangle3, MassShares::own, LatticeRule::powers_of_three, {0.3, 0.5, 0.5, 0.9}},
    {CellType::triangle3, MassShares::own, LatticeRule::twos_and_threes, {0.3, 0.3, 0.3, 0.3}},
    {CellType::triangle3, MassShares::own, LatticeRule::any, {0.3, 0.3, 0.3, 0.3}},
    {CellType::triangle6, MassShares::own, LatticeRule::powers_of_two, {0.3, 0.5, 0.5, 0.9}},
    {CellType::triangle6, MassShares::own, LatticeRule::powers_of_three, {0.3, 0.5, 0.5, 0.9}},
    {CellType::triangle6, MassShares::own, LatticeRule::twos_and_threes, {0.3, 0.3, 0.3, 0.3}},
    {CellType::triangle6, MassShares::own, LatticeRule::any, {0.2, 0.2, 0.2, 0.2}},
    {CellType::tetrahedron4, MassShares::own, LatticeRule::powers_of_two, {0.5, 0.5, 0.5, 0.9}},
    {CellType::tetrahedron4, MassShares::own, LatticeRule::powers_of_three, {0.5, 0.5, 0.5, 0.9}},
    {CellType::tetrahedron4, MassShares::own, LatticeRule::twos_and_threes, {0.5, 0.5, 0.5, 0.5}},
    {CellType::tetrahedron4, MassShares::own, LatticeRule::any, {0.2, 0.2, 0.2, 0.2}},
    {CellType::tetrahedron10, MassShares::own, LatticeRule::powers_of_two, {0.5, 0.5, 0.5, 0.9}},
    {CellType::tetrahedron10, MassShares::own, LatticeRule::powers_of_three, {0.5, 0.5, 0.5, 0.9}},
    {CellType::tetrahedron10, MassShares::own, LatticeRule::twos_and_threes, {0.3, 0.3, 0.3, 0.3}},
    {CellType::tetrahedron10, MassShares::own, LatticeRule::any, {0.2, 0.2, 0.2, 0.2}},
    {CellType::line2, MassShares::balanced, LatticeRule::powers_of_two, {0.3, 0.3, 0.5, 0.9}},
    {CellType::line2, MassShares::balanced, LatticeRule::powers_of_three, {0.5, 0.5, 0.5, 0.8}},
    {CellType::line2, MassShares::balanced, LatticeRule::twos_and_threes, {0.3, 0.3, 0.3, 0.3}},
    {CellType::line2, MassShares::balanced, LatticeRule::any, {0.2, 0.2, 0.2, 0.2}},
    {CellType::triangle3, MassShares::balanced, LatticeRule::powers_of_two, {0.5, 0.5, 0.5, 0.9}},
    {CellType::triangle3, MassShares::balanced, LatticeRule::powers_of_three, {0.5, 0.5, 0.5, 0.9}},
    {CellType::triangle3, MassShares::balanced, LatticeRule::twos_and_threes, {0.5, 0.5, 0.5, 0.5}},
    {CellType::triangle3, MassShares::balanced, LatticeRule::any, {0.2, 0.2, 0.2, 0.2}},
    {CellType::triangle6, MassShares::balanced, LatticeRule::powers_of_two, {0.3, 0.5, 0.5, 0.9}},
    {CellType::triangle6, MassShares::balanced, LatticeRule::powers_of_three, {0.3, 0.5, 0.5, 0.9}},
    {CellType::triangle6, MassShares::balanced, LatticeRule::twos_and_threes, {0.3, 0.3, 0.3, 0.3}},
    {CellType::triangle6, MassShares::balanced, LatticeRule::any, {0.3, 0.3, 0.3, 0.3}},
    {CellType::tetrahedron4, MassShares::balanced, LatticeRule::powers_of_two, {0.5, 0.5, 0.5, 0.9}},
    {CellType::tetrahedron4, MassShares::balanced, LatticeRule::powers_of_three, {0.5, 0.5, 0.5, 0.9}},
    {CellType::tetrahedron4, MassShares::balanced, LatticeRule::twos_and_threes, {0.7, 0.7, 0.7, 0.7}},
    {CellType::tetrahedron4, MassShares::balanced, LatticeRule::any, {0.7, 0.7, 0.7, 0.7}},
    {CellType::tetrahedron10, MassShares::balanced, LatticeRule::powers_of_two, {0.5, 0.5, 0.5, 0.9}},
    {CellType::tetrahedron10, MassShares::balanced, LatticeRule::powers_of_three, {0.5, 0.5, 0.5, 0.9}},
    {CellType::tetrahedron10, MassShares::balanced, LatticeRule::twos_and_threes, {0.5, 0.5, 0.5, 0.5}},
    {CellType::tetrahedron10, MassShares::balanced, LatticeRule::any, {0.3, 0.3, 0.3, 0.3}},
};

// The limit whose evidence counts.
NeighbourRatio as_found(const StepWish& wish, NeighbourRatio ratio) {
  return wish.one_ring && !ratio ? NeighbourRatio{ratios_tried.back()} : ratio;
}

StepChoice better(StepChoice a, StepChoice b, double safety) {
  if (a.verified(safety) != b.verified(safety)) return a.verified(safety) ? a : b;
  return a.cost <= b.cost ? a : b;
}

}  // namespace

double verified_safety(CellType type, MassShares shares, LatticeRule rule, NeighbourRatio ratio) {
  for (const Evidence& row : evidence) {
    if (row.type != type || row.shares != shares || row.rule != rule) continue;
    for (std::size_t i = ratios_tried.size(); i-- > 0;)  // of the tightest limit tried that is not tighter
      if (ratio.value_or(unlimited) <= ratios_tried[i]) return row.safety[i];
  }
  return 0.0;
}

StepChoice choice_of(const StepWish& wish, LatticeRule rule, NeighbourRatio ratio) {
  std::vector<double> steps = wish.steps;
  if (ratio) limit_neighbours(wish.model, steps, *ratio);
  const LatticeCost cost{wish.cost_per_update, cost_per_strike(steps.size())};
  StepChoice choice{rule, ratio, fit_lattice(steps, rule, cost), 0.0, 0.0, unlimited};
  double updates = 0.0;  // per second
  for (const std::int32_t m : choice.lattice.ticks) updates += 1.0 / (choice.lattice.tick * m);
  choice.saving = static_cast<double>(steps.size()) / (*std::ranges::min_element(wish.steps) * updates);
  choice.cost = predicted_cost(choice.lattice, cost);
  for (const CellType type : wish.types)
    choice.verified_safety =
        std::min(choice.verified_safety, verified_safety(type, wish.model.share_rule(), rule, as_found(wish, ratio)));
  return choice;
}

StepChoice safest_choice(const StepWish& wish, LatticeRule rule) {
  for (const double r : ratios_tried) {
    const NeighbourRatio ratio = r == unlimited ? NeighbourRatio{} : NeighbourRatio{r};
    const bool verified = std::ranges::all_of(wish.types, [&](CellType type) {
      return wish.safety <= verified_safety(type, wish.model.share_rule(), rule, as_found(wish, ratio));
    });
    if (verified || r == ratios_tried.back()) return choice_of(wish, rule, ratio);
  }
  return choice_of(wish, rule, ratios_tried.back());
}

StepChoice automatic_choice(const StepWish& wish) {
  return better(safest_choice(wish, LatticeRule::powers_of_two), safest_choice(wish, LatticeRule::powers_of_three),
                wish.safety);
}

StepChoice automatic_choice(const StepWish& wish, double ratio) {
  return better(choice_of(wish, LatticeRule::powers_of_two, ratio),
                choice_of(wish, LatticeRule::powers_of_three, ratio), wish.safety);
}

double typical_cost(CellType type, bool watched) {
  const double cost = type == CellType::line2          ? 7.0
                      : type == CellType::triangle3    ? 9.0
                      : type == CellType::triangle6    ? 30.0
                      : type == CellType::tetrahedron4 ? 15.0
                                                       : 80.0;
  return watched ? 2.0 * cost + 50.0 : cost;
}

std::string name_of(MassShares shares) { return shares == MassShares::own ? "own" : "balanced"; }

std::string name_of(LatticeRule rule) {
  return std::ranges::find(names, rule, &std::pair<LatticeRule, const char*>::first)->second;
}

std::optional<LatticeRule> lattice_rule(const std::string& name) {
  for (const auto& [rule, known] : names)
    if (name == known) return rule;
  return std::nullopt;
}

}  // namespace tempi
