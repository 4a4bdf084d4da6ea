// SPDX-License-Identifier: Apache-2.0
#include "tempi/schedule/tick_lattice.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tempi/core/compensated_sum.hpp"
#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

constexpr std::int64_t largest_multiple = std::int64_t{1} << 30;
constexpr double rounding =
    1e-12;  // of a step: what it may be exceeded by; of a cost: below it, ticks are equally cheap

std::vector<std::int32_t> allowed_multiples(LatticeRule rule) {
  std::vector<std::int32_t> result;
  const auto add = [&](std::int64_t m) { result.push_back(static_cast<std::int32_t>(m)); };
  switch (rule) {
    case LatticeRule::powers_of_two:
      for (std::int64_t m = 1; m <= largest_multiple; m *= 2) add(m);
      break;
    case LatticeRule::powers_of_three:
      for (std::int64_t m = 1; m <= largest_multiple; m *= 3) add(m);
      break;
    case LatticeRule::twos_and_threes:
      add(1);
      for (std::int64_t m = 2; m <= largest_multiple; m *= 2) {
        add(m);
        if (m / 2 * 3 <= largest_multiple) add(m / 2 * 3);
      }
      break;
    case LatticeRule::any:
      for (std::int64_t m = 1; m < 4; ++m) add(m);
      for (std::int64_t quarter = 1; 4 * quarter <= largest_multiple; quarter *= 2)
        for (std::int64_t m = 4 * quarter; m < 8 * quarter && m <= largest_multiple; m += quarter) add(m);
      break;
  }
  return result;
}

// Largest first.
std::vector<double> candidate_ticks(double smallest, LatticeRule rule) {
  std::vector<double> result;
  if (rule == LatticeRule::any) {
    for (const double n : {1.0, 2.0, 3.0, 4.0, 6.0, 8.0}) result.push_back(smallest / n);
  } else {
    const double p = rule == LatticeRule::powers_of_three ? 3.0 : 2.0;
    for (int j = 0; j < 32; ++j) result.push_back(smallest * std::pow(p, -j / 32.0));
  }
  return result;
}

struct Entry {
  double step;
  std::size_t term;
};

// What a term's neighbours make of it.
struct Surroundings {
  double longest;  // step [s]
  double price;    // [ns]
};

std::vector<Entry> ascending(std::span<const double> steps) {
  std::vector<Entry> result;
  result.reserve(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) result.push_back({steps[i], i});
  std::ranges::sort(result, [](const Entry& a, const Entry& b) {
    return a.step < b.step || (a.step == b.step && a.term < b.term);
  });
  return result;
}

// Calls visit(m, begin, end) for each multiple in use and the range of the sorted entries that get it, ascending.
void for_each_set(std::span<const Entry> sorted, std::span<const std::int32_t> multiples, double tick, auto&& visit) {
  auto begin = sorted.begin();
  for (std::size_t k = 0; begin != sorted.end(); ++k) {
    auto end = sorted.end();
    if (k + 1 < multiples.size()) {
      const double threshold = multiples[k + 1] * tick;
      end = std::partition_point(begin, sorted.end(),
                                 [&](const Entry& entry) { return entry.step * (1.0 + rounding) < threshold; });
    }
    if (begin != end) visit(multiples[k], begin - sorted.begin(), end - sorted.begin());
    begin = end;
  }
}

}  // namespace

bool nests(LatticeRule rule) { return rule == LatticeRule::powers_of_two || rule == LatticeRule::powers_of_three; }

bool unequal(const TickLattice& lattice) {
  return std::ranges::adjacent_find(lattice.ticks, std::not_equal_to{}) != lattice.ticks.end();
}

double predicted_cost(const TickLattice& lattice, const LatticeCost& cost) {
  TEMPI_ASSERT(lattice.ticks.size() == cost.per_update.size());
  CompensatedSum sum;
  for (std::size_t i = 0; i < lattice.ticks.size(); ++i) sum += cost.per_update[i] / (lattice.ticks[i] * lattice.tick);
  std::vector<std::int32_t> distinct = lattice.ticks;
  make_distinct(distinct);
  for (const std::int32_t m : distinct) sum += cost.per_strike / (m * lattice.tick);
  return sum.value();
}

TickLattice fit_lattice(std::span<const double> steps, LatticeRule rule, const LatticeCost& cost) {
  TEMPI_ASSERT(!steps.empty() && steps.size() == cost.per_update.size());
  TEMPI_ASSERT(cost.around.empty() || cost.around.size() == steps.size());
  const std::vector<Entry> sorted = ascending(steps);
  const std::vector<std::int32_t> multiples = allowed_multiples(rule);

  std::vector<double> updates_before = {0.0};  // [ns] of one update of each of the first i entries
  updates_before.reserve(sorted.size() + 1);
  CompensatedSum updates;
  for (const Entry& entry : sorted) updates_before.push_back((updates += cost.per_update[entry.term]).value());
  std::vector<Surroundings> around;  // as sorted
  if (!cost.around.empty() && nests(rule))
    for (const Entry& entry : sorted)
      around.push_back({cost.around[entry.term] * (1.0 + rounding), cost.per_border * cost.per_update[entry.term]});
  const double next = rule == LatticeRule::powers_of_three ? 3.0 : 2.0;
  const auto cost_of = [&](double tick) {
    double sum = 0.0;
    for_each_set(sorted, multiples, tick, [&](std::int32_t m, auto begin, auto end) {
      const double longer = next * m * tick;
      double borders = 0.0;
      for (auto i = begin; i < end && !around.empty(); ++i) {
        const Surroundings& of = around[static_cast<std::size_t>(i)];
        borders += of.longest >= longer ? of.price : 0.0;
      }
      sum += borders / longer;
      const double update =
          updates_before[static_cast<std::size_t>(end)] - updates_before[static_cast<std::size_t>(begin)];
      sum += (update + cost.per_strike) / (m * tick);
    });
    return sum;
  };

  const std::vector<double> ticks = candidate_ticks(sorted.front().step, rule);
  double best = ticks.front(), least = cost_of(best);
  for (const double tick : std::span(ticks).subspan(1)) {
    const double candidate = cost_of(tick);
    if (candidate >= least * (1.0 - rounding)) continue;
    best = tick;
    least = candidate;
  }

  TickLattice result{best, std::vector<std::int32_t>(steps.size())};
  for_each_set(sorted, multiples, best, [&](std::int32_t m, auto begin, auto end) {
    for (auto i = begin; i < end; ++i) result.ticks[sorted[static_cast<std::size_t>(i)].term] = m;
  });
  return result;
}

}  // namespace tempi
