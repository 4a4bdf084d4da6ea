// SPDX-License-Identifier: Apache-2.0
#include "tempi/schedule/tick_lattice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <ostream>

#include "support/meshes.hpp"

namespace tempi {

void PrintTo(LatticeRule rule, std::ostream* out) {
  constexpr std::array names = {"powers_of_two", "powers_of_three", "twos_and_threes", "any"};
  *out << names[static_cast<std::size_t>(rule)];
}

namespace {

using Steps = std::vector<double>;
using Ticks = std::vector<std::int32_t>;
constexpr std::array rules = {LatticeRule::powers_of_two, LatticeRule::powers_of_three, LatticeRule::twos_and_threes,
                              LatticeRule::any};

// Every update costs 1 unless told; a strike costs nothing unless told.
struct Weights {
  explicit Weights(std::size_t n, double strike = 0.0) : per_update(n, 1.0), per_strike(strike) {}
  Weights(Steps update, double strike) : per_update(std::move(update)), per_strike(strike) {}
  operator LatticeCost() const { return {per_update, per_strike}; }
  Steps per_update;
  double per_strike;
};

TickLattice fit(const Steps& steps, LatticeRule rule, double per_strike = 0.0) {
  return fit_lattice(steps, rule, Weights(steps.size(), per_strike));
}

// From `low` to `spread` times that, evenly in log.
Steps log_uniform(std::size_t n, double low, double spread, std::uint64_t seed) {
  test::Random random(seed);
  Steps steps(n);
  for (double& s : steps) s = low * std::exp(random.uniform(0.0, std::log(spread)));
  return steps;
}

// Of the updates per time that the steps themselves ask for, the part that is not exceeded.
double kept(const Steps& steps, const TickLattice& lattice) {
  double own = 0.0, made = 0.0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    own += 1.0 / steps[i];
    made += 1.0 / (lattice.ticks[i] * lattice.tick);
  }
  return own / made;
}

// --- The slow obvious reference: each tick in turn, each term in turn, each multiple in turn.

bool is_allowed(LatticeRule rule, std::int64_t m) {
  const auto only = [](std::int64_t n, std::int64_t p) {
    while (n % p == 0) n /= p;
    return n == 1;
  };
  switch (rule) {
    case LatticeRule::powers_of_two: return only(m, 2);
    case LatticeRule::powers_of_three: return only(m, 3);
    case LatticeRule::twos_and_threes: return only(m, 2) || (m % 3 == 0 && only(m / 3, 2));
    case LatticeRule::any:
      while (m >= 8 && m % 2 == 0) m /= 2;  // three binary digits
      return m < 8;
  }
  return false;
}

std::vector<double> all_ticks(const Steps& steps, LatticeRule rule) {
  const double smallest = *std::ranges::min_element(steps);
  std::vector<double> ticks;
  if (rule == LatticeRule::any)
    for (const int n : {1, 2, 3, 4, 6, 8}) ticks.push_back(smallest / n);
  else
    for (int j = 0; j < 32; ++j)
      ticks.push_back(smallest * std::pow(rule == LatticeRule::powers_of_three ? 3.0 : 2.0, -j / 32.0));
  return ticks;
}

TickLattice reference_lattice(const Steps& steps, LatticeRule rule, double tick) {
  TickLattice lattice{tick, {}};
  for (const double step : steps) {
    auto m = static_cast<std::int32_t>(step / tick) + 1;
    while (m * tick > step * (1.0 + 1e-12) || !is_allowed(rule, m)) --m;
    lattice.ticks.push_back(m);
  }
  return lattice;
}

double reference_cost(const TickLattice& lattice, const LatticeCost& cost) {
  std::map<std::int32_t, double> sets;  // of each multiple, the cost of one strike
  for (std::size_t i = 0; i < lattice.ticks.size(); ++i) {
    const auto [set, is_new] = sets.emplace(lattice.ticks[i], cost.per_strike);
    set->second += cost.per_update[i];
  }
  double sum = 0.0;
  for (const auto& [m, strike] : sets) sum += strike / (m * lattice.tick);
  return sum;
}

TickLattice reference_fit(const Steps& steps, LatticeRule rule, const LatticeCost& cost) {
  TickLattice best;
  double least = std::numeric_limits<double>::infinity();
  for (const double tick : all_ticks(steps, rule)) {
    TickLattice lattice = reference_lattice(steps, rule, tick);
    const double predicted = reference_cost(lattice, cost);
    if (predicted >= least * (1.0 - 1e-12)) continue;
    least = predicted;
    best = std::move(lattice);
  }
  return best;
}

bool within(const Steps& steps, const TickLattice& lattice) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (lattice.ticks[i] * lattice.tick > steps[i] * (1.0 + 1e-11)) return false;
  return true;
}

bool nested(Ticks ticks) {
  std::ranges::sort(ticks);
  for (std::size_t i = 1; i < ticks.size(); ++i)
    if (ticks[i] % ticks[i - 1] != 0) return false;
  return true;
}

class TickLatticeOfRule : public testing::TestWithParam<LatticeRule> {};
INSTANTIATE_TEST_SUITE_P(Schedule, TickLatticeOfRule, testing::ValuesIn(rules), testing::PrintToStringParamName());

// --- Exact cases

TEST_P(TickLatticeOfRule, equal_steps_are_one_tick_to_the_bit) {
  test::Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const Steps steps(7, std::exp(random.uniform(-40.0, 10.0)));
    for (const double per_strike : {0.0, 3.0, 1e6}) {
      const TickLattice lattice = fit(steps, GetParam(), per_strike);
      EXPECT_EQ(lattice.tick, steps.front());
      EXPECT_EQ(lattice.ticks, Ticks(7, 1));
    }
  }
}

TEST_P(TickLatticeOfRule, a_single_term_has_its_own_step_as_tick) {
  const TickLattice lattice = fit({0.37}, GetParam(), 2.0);
  EXPECT_EQ(lattice.tick, 0.37);
  EXPECT_EQ(lattice.ticks, Ticks{1});
}

// Of costs that are all zero every tick is the cheapest.
TEST_P(TickLatticeOfRule, of_equally_cheap_ticks_the_largest_is_taken) {
  const Steps steps = log_uniform(50, 0.3, 18.0, 2);
  EXPECT_EQ(fit_lattice(steps, GetParam(), Weights(Steps(50, 0.0), 0.0)).tick, *std::ranges::min_element(steps));
}

// Short by 1e-13 of itself a step still counts as the multiple it was meant to be, short by 1e-9 it does not.
TEST_P(TickLatticeOfRule, rounding_does_not_cost_a_multiple) {
  const double m = GetParam() == LatticeRule::powers_of_three ? 3.0 : 2.0;
  const Weights first_counts({1.0, 1e-6}, 0.0);
  for (const double s : {0.1, 0.7, 1.0, 1e-7, 12345.6}) {
    EXPECT_EQ(fit_lattice(Steps{s, m * s * (1.0 - 1e-13)}, GetParam(), first_counts).ticks[1], static_cast<int>(m));
    EXPECT_EQ(fit_lattice(Steps{s, m * s * (1.0 + 1e-13)}, GetParam(), first_counts).ticks[1], static_cast<int>(m));
  }
  const TickLattice lattice = fit_lattice(Steps{1.0, m * (1.0 - 1e-9)}, GetParam(), Weights({1.0, 0.0}, 0.0));
  EXPECT_EQ(lattice.tick, 1.0);
  EXPECT_LT(lattice.ticks[1], static_cast<int>(m));
}

TEST(TickLattice, powers_of_two_round_down_to_powers_of_two) {
  const TickLattice lattice = fit({1.0, 2.1, 4.5, 9.0, 8.0, 1.2}, LatticeRule::powers_of_two);
  EXPECT_EQ(lattice.tick, 1.0);
  EXPECT_EQ(lattice.ticks, (Ticks{1, 2, 4, 8, 8, 1}));
}

TEST(TickLattice, powers_of_three_round_down_to_powers_of_three) {
  const TickLattice lattice = fit({3.1, 1.0, 9.9, 27.0}, LatticeRule::powers_of_three);
  EXPECT_EQ(lattice.tick, 1.0);
  EXPECT_EQ(lattice.ticks, (Ticks{3, 1, 9, 27}));
}

TEST(TickLattice, twos_and_threes_round_down_to_either) {
  const TickLattice lattice = fit({1.0, 2.0, 3.0, 4.1, 6.5, 8.0, 13.0, 16.2, 25.0}, LatticeRule::twos_and_threes);
  EXPECT_EQ(lattice.tick, 1.0);
  EXPECT_EQ(lattice.ticks, (Ticks{1, 2, 3, 4, 6, 8, 12, 16, 24}));
}

TEST(TickLattice, any_takes_all_multiples_up_to_8_and_four_an_octave_beyond) {
  Steps steps(40);
  std::iota(steps.begin(), steps.end(), 1.0);
  Steps only_first(40, 0.0);
  only_first.front() = 1.0;
  const TickLattice lattice = fit_lattice(steps, LatticeRule::any, Weights(only_first, 0.0));
  EXPECT_EQ(lattice.tick, 1.0);
  EXPECT_EQ(lattice.ticks, (Ticks{1,  2,  3,  4,  5,  6,  7,  8,  8,  10, 10, 12, 12, 14, 14, 16, 16, 16, 16, 20,
                                  20, 20, 20, 24, 24, 24, 24, 28, 28, 28, 28, 32, 32, 32, 32, 32, 32, 32, 32, 40}));
}

// Updates a time: 1 + 1/2 + 1/3 = 1.83 with one tick to the smallest step, 1 + 1/2 + 2/7 with two, and so with four.
TEST(TickLattice, any_divides_the_smallest_step_where_that_saves) {
  const TickLattice lattice = fit({1.0, 2.1, 3.6}, LatticeRule::any);
  EXPECT_EQ(lattice.tick, 0.5);
  EXPECT_EQ(lattice.ticks, (Ticks{2, 4, 7}));
}

// Terms at 1, 6/7, 3/4, 3/4 and 3/5 of the smallest's frequency are fewer updates but four strikes instead of one.
TEST(TickLattice, dear_strikes_make_few_sets) {
  const Steps steps = {1.0, 1.2, 1.4, 1.6, 1.8};
  EXPECT_EQ(fit(steps, LatticeRule::any, 0.0).ticks, (Ticks{6, 7, 8, 8, 10}));
  EXPECT_EQ(fit(steps, LatticeRule::any, 10.0).ticks, (Ticks{1, 1, 1, 1, 1}));
}

// One tick of 1: both act once a second. A tick of 2^(-5/32) = 0.897: the first acts 1.11 times, the second 0.56 times.
TEST(TickLattice, the_tick_suits_the_term_that_costs_most) {
  const Steps steps = {1.0, 1.8};
  const TickLattice first = fit_lattice(steps, LatticeRule::powers_of_two, Weights({100.0, 1.0}, 0.0));
  EXPECT_EQ(first.tick, 1.0);
  EXPECT_EQ(first.ticks, (Ticks{1, 1}));
  const TickLattice second = fit_lattice(steps, LatticeRule::powers_of_two, Weights({1.0, 100.0}, 0.0));
  EXPECT_DOUBLE_EQ(second.tick, std::exp2(-5.0 / 32.0));
  EXPECT_EQ(second.ticks, (Ticks{1, 2}));
}

TEST(TickLattice, predicted_cost_is_that_of_updates_and_of_strikes) {
  const TickLattice lattice{0.5, {1, 4, 4, 2}};
  EXPECT_DOUBLE_EQ(predicted_cost(lattice, Weights({3.0, 5.0, 7.0, 11.0}, 0.0)), 6.0 + 2.5 + 3.5 + 11.0);
  EXPECT_DOUBLE_EQ(predicted_cost(lattice, Weights({3.0, 5.0, 7.0, 11.0}, 10.0)), 23.0 + 10.0 * (2.0 + 1.0 + 0.5));
}

// --- Properties over random steps

struct Sample {
  Steps steps;
  Weights weights;
};

// Spreads of 1 to 4000, some steps drawn from a few values only; updates of unequal cost; strikes from free to dear.
std::vector<Sample> samples() {
  test::Random random(77);
  std::vector<Sample> result;
  for (int trial = 0; trial < 60; ++trial) {
    const auto n = static_cast<std::size_t>(1 + random.below(60));
    Steps steps = log_uniform(n, std::exp(random.uniform(-20.0, 3.0)), std::exp(random.uniform(0.0, 8.3)),
                              1000u + static_cast<unsigned>(trial));
    if (trial % 3 == 0)
      for (double& s : steps) s = steps[static_cast<std::size_t>(random.below(4)) % n];
    Steps updates(n);
    for (double& w : updates) w = random.uniform(1.0, 50.0);
    result.push_back({steps, Weights(std::move(updates), trial % 2 == 0 ? 0.0 : random.uniform(0.0, 300.0))});
  }
  return result;
}

TEST_P(TickLatticeOfRule, no_step_is_exceeded_and_none_could_be_longer) {
  for (const auto& [steps, weights] : samples()) {
    const TickLattice lattice = fit_lattice(steps, GetParam(), weights);
    EXPECT_TRUE(within(steps, lattice));
    EXPECT_EQ(lattice.ticks, reference_lattice(steps, GetParam(), lattice.tick).ticks);
  }
}

TEST_P(TickLatticeOfRule, no_other_tick_tried_is_cheaper) {
  for (const auto& [steps, weights] : samples()) {
    const TickLattice lattice = fit_lattice(steps, GetParam(), weights),
                      expected = reference_fit(steps, GetParam(), weights);
    EXPECT_NEAR(predicted_cost(lattice, weights) / reference_cost(expected, weights), 1.0, 1e-11);
    EXPECT_EQ(lattice.tick, expected.tick);
    EXPECT_EQ(lattice.ticks, expected.ticks);
  }
}

// A term beside one that has come to a longer step pays at the next longer one, here term by term in a chain.
TEST_P(TickLatticeOfRule, weighs_what_borders_cost_where_steps_nest) {
  constexpr double per_border = 1.5;
  const bool nest = nests(GetParam());
  const double next = GetParam() == LatticeRule::powers_of_three ? 3.0 : 2.0;
  int moved = 0;  // by these costs
  for (const auto& [steps, weights] : samples()) {
    const auto beside = [n = steps.size()](std::size_t i) {
      return std::array{i == 0 ? 0 : i - 1, std::min(i + 1, n - 1)};
    };
    Steps around = steps;
    for (std::size_t i = 0; i < steps.size(); ++i)
      for (const std::size_t j : beside(i)) around[i] = std::max(around[i], steps[j]);
    const auto cost = [&](const TickLattice& lattice) {
      double sum = reference_cost(lattice, weights);
      for (std::size_t i = 0; i < steps.size() && nest; ++i)
        if (std::ranges::any_of(beside(i), [&](std::size_t j) { return lattice.ticks[j] > lattice.ticks[i]; }))
          sum += per_border * weights.per_update[i] / (next * lattice.ticks[i] * lattice.tick);
      return sum;
    };
    const TickLattice chosen =
        fit_lattice(steps, GetParam(), {weights.per_update, weights.per_strike, around, per_border});
    for (const double tick : all_ticks(steps, GetParam()))
      EXPECT_LE(cost(chosen), cost(reference_lattice(steps, GetParam(), tick)) * (1.0 + 1e-11));
    moved += chosen.tick != fit_lattice(steps, GetParam(), weights).tick ? 1 : 0;
  }
  EXPECT_EQ(nest, moved > 0);
}

TEST_P(TickLatticeOfRule, predicted_cost_agrees_with_a_sum_over_sets) {
  for (const auto& [steps, weights] : samples()) {
    const TickLattice lattice = fit_lattice(steps, GetParam(), weights);
    EXPECT_NEAR(predicted_cost(lattice, weights) / reference_cost(lattice, weights), 1.0, 1e-13);
  }
}

// The samples do tell nested from others: the rules that do not nest give such multiples there.
TEST_P(TickLatticeOfRule, multiples_nest_as_promised) {
  std::size_t count = 0;
  for (const auto& [steps, weights] : samples()) count += nested(fit_lattice(steps, GetParam(), weights).ticks) ? 1 : 0;
  if (nests(GetParam()))
    EXPECT_EQ(count, samples().size());
  else
    EXPECT_LT(count, samples().size() * 2 / 3);
}

TEST_P(TickLatticeOfRule, the_order_of_the_terms_does_not_matter) {
  test::Random random(8);
  for (auto& [steps, weights] : samples()) {
    const TickLattice lattice = fit_lattice(steps, GetParam(), weights);
    std::vector<std::size_t> from(steps.size());
    std::iota(from.begin(), from.end(), std::size_t{0});
    for (std::size_t i = from.size() - 1; i > 0; --i)
      std::swap(from[i], from[static_cast<std::size_t>(random.below(static_cast<Index>(i) + 1))]);
    Steps moved, moved_updates;
    Ticks expected;
    for (const std::size_t i : from) {
      moved.push_back(steps[i]);
      moved_updates.push_back(weights.per_update[i]);
      expected.push_back(lattice.ticks[i]);
    }
    const TickLattice again = fit_lattice(moved, GetParam(), Weights(moved_updates, weights.per_strike));
    EXPECT_EQ(again.tick, lattice.tick);
    EXPECT_EQ(again.ticks, expected);
  }
}

TEST_P(TickLatticeOfRule, the_unit_of_time_does_not_matter) {
  for (auto& [steps, weights] : samples()) {
    const TickLattice lattice = fit_lattice(steps, GetParam(), weights);
    Steps scaled = steps;
    for (double& s : scaled) s *= 0x1p-30;
    const TickLattice again = fit_lattice(scaled, GetParam(), weights);
    EXPECT_EQ(again.tick, lattice.tick * 0x1p-30);
    EXPECT_EQ(again.ticks, lattice.ticks);
  }
}

// What the checks above look for is there to be found.
TEST(TickLattice, checks_notice_a_tick_too_long_and_multiples_that_do_not_nest) {
  const Steps steps = log_uniform(100, 1.0, 18.0, 3);
  TickLattice lattice = fit(steps, LatticeRule::powers_of_two);
  ASSERT_TRUE(within(steps, lattice));
  lattice.tick *= 2.0;
  EXPECT_FALSE(within(steps, lattice));
  EXPECT_TRUE(nested({8, 1, 2, 2, 4}));
  EXPECT_FALSE(nested({1, 2, 3, 6}));
}

// --- How much of the saving is kept

// Over whole powers of p every tick is as good as another: the mean of 1/(m tick) over that of 1/s is 2 ln 2 for p = 2
// and (3/2) ln 3 for p = 3. Of twos and threes it is 2 ln(3/2) + (4/3) ln(4/3), with two ticks to the smallest step.
TEST(TickLattice, keeps_of_log_uniform_steps_what_the_integrals_say) {
  const auto n = std::size_t{40000};
  const Steps twos = log_uniform(n, 1.0, 64.0, 21), threes = log_uniform(n, 1.0, 729.0, 22);
  EXPECT_NEAR(kept(twos, fit(twos, LatticeRule::powers_of_two)), 0.7213, 0.01);
  EXPECT_NEAR(kept(threes, fit(threes, LatticeRule::powers_of_three)), 0.6068, 0.01);
  EXPECT_NEAR(kept(twos, fit(twos, LatticeRule::twos_and_threes)), 0.8379, 0.02);
}

// As of a graded mesh of half a million tetrahedra: steps 18-fold spread.
TEST(TickLattice, finer_multiples_keep_more_of_the_saving) {
  for (const std::uint64_t seed : {31u, 32u, 33u}) {
    const Steps steps = log_uniform(20000, 1e-7, 18.0, seed);
    const auto of = [&](LatticeRule rule) { return kept(steps, fit(steps, rule)); };
    const double two = of(LatticeRule::powers_of_two), three = of(LatticeRule::powers_of_three);
    const double both = of(LatticeRule::twos_and_threes), any = of(LatticeRule::any);
    EXPECT_GT(two, 0.70);
    EXPECT_GT(three, 0.55);
    EXPECT_GT(two, three + 0.05);
    EXPECT_GT(both, two + 0.05);
    EXPECT_GT(any, both + 0.05);
    EXPECT_GT(any, 0.90);
  }
}

// Updates of 20 ns, strikes from free to 1000 ns. Without a choice, one tick to the smallest step, it would be 0.79.
TEST(TickLattice, any_keeps_85_percent_at_any_price_of_a_strike) {
  const Steps steps = log_uniform(20000, 1.0, 18.0, 34);
  for (const double per_strike : {0.0, 100.0, 1000.0}) {
    const Weights weights(Steps(steps.size(), 20.0), per_strike);
    EXPECT_GT(kept(steps, fit_lattice(steps, LatticeRule::any, weights)), 0.85);
  }
  const double smallest = *std::ranges::min_element(steps);
  EXPECT_NEAR(kept(steps, reference_lattice(steps, LatticeRule::any, smallest)), 0.79, 0.01);
}

TEST(TickLattice, choosing_the_tick_pays_where_sizes_are_few) {
  for (const double ratio : {1.3, 1.6, 1.9, 3.7, 7.2}) {
    Steps steps(1000, ratio);
    steps.front() = 1.0;
    const TickLattice chosen = fit(steps, LatticeRule::powers_of_two);
    const TickLattice plain = reference_lattice(steps, LatticeRule::powers_of_two, 1.0);
    EXPECT_GT(kept(steps, chosen), 0.97) << ratio;
    EXPECT_LT(kept(steps, plain), 0.96) << ratio;
  }
}

// --- Wide spreads

// Ten slivers a million times smaller than 1e5 terms around 1: the slivers make nearly all updates, at their own step.
TEST_P(TickLatticeOfRule, slivers_keep_the_saving) {
  Steps steps = log_uniform(100000, 1.0, 4.0, 41);
  for (std::size_t i = 0; i < 10; ++i) steps[i * 9973] = 1e-6;
  const TickLattice lattice = fit(steps, GetParam(), 1.0);
  EXPECT_TRUE(within(steps, lattice));
  EXPECT_GT(kept(steps, lattice), 0.95);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(lattice.ticks[i * 9973], lattice.ticks[0]);
  EXPECT_DOUBLE_EQ(lattice.ticks[0] * lattice.tick, 1e-6);
}

TEST_P(TickLatticeOfRule, a_spread_of_1e9_fits_and_beyond_2_to_the_30_steps_are_cut) {
  const TickLattice billion = fit({1e-9, 1.0}, GetParam());
  EXPECT_TRUE(within({1e-9, 1.0}, billion));
  EXPECT_GT(billion.ticks[1] * billion.tick, 1.0 / 3.0);
  for (const double huge : {1e12, 1e30, 1e300}) {
    const TickLattice lattice = fit({1.0, huge}, GetParam());
    EXPECT_LE(lattice.ticks[1], 1 << 30);
    EXPECT_GT(lattice.ticks[1], (1 << 30) / 3);
    EXPECT_TRUE(is_allowed(GetParam(), lattice.ticks[1]));
  }
}

TEST(TickLattice, the_largest_multiples_are_those_below_2_to_the_30) {
  EXPECT_EQ(fit({1.0, 1e12}, LatticeRule::powers_of_two).ticks[1], 1 << 30);
  EXPECT_EQ(fit({1.0, 1e12}, LatticeRule::powers_of_three).ticks[1], 387420489);
  EXPECT_EQ(fit({1.0, 1e12}, LatticeRule::twos_and_threes).ticks[1], 1 << 30);
  EXPECT_EQ(fit({1.0, 1e9}, LatticeRule::twos_and_threes).ticks[1], 3 << 28);
}

}  // namespace
}  // namespace tempi
