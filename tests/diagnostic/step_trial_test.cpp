// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/step_trial.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support/chains.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"
#include "tempi/pair/pairs.hpp"
#include "tempi/schedule/tick_lattice.hpp"

namespace tempi {
namespace {

using namespace test;

TickLattice lattice_of(const Steps& steps) {
  return {steps.tick, std::vector<std::int32_t>(steps.ticks.begin(), steps.ticks.end())};
}

StepTrial trial_of(const Model& model, const TickLattice& lattice, TrialOptions options) {
  const std::vector<double> u(model.reference().size(), 0.0);
  return try_steps(model, u, lattice, nodal_stable_steps(model, u), options);
}

// A chain of few bars is one neighbourhood, so what is found is the whole map's spectrum.
TEST(TrySteps, finds_the_growth_of_a_short_bar_among_long_ones_to_the_digits) {
  const Chain chain = with_one_short_bar();
  const Steps steps = chain.steps(0.5, own);
  const double exact = exact_growth(linear_at_rest(*chain.body.model), steps);
  const StepTrial trial = trial_of(*chain.body.model, lattice_of(steps), {.duration = 1e3});
  EXPECT_TRUE(trial.grows);
  EXPECT_NEAR(exact, trial.growth, 1e-6 * exact);
  EXPECT_NEAR(trial.growth, 0.02754, 0.00005);
  EXPECT_DOUBLE_EQ(steps.tick * steps.longest(), trial.longest_step);
  ASSERT_TRUE(trial.where.has_value());
}

TEST(TrySteps, finds_what_the_spectrum_says_on_random_chains) {
  std::mt19937 random(5);
  int grown = 0, calm = 0;
  for (int c = 0; c < 40; ++c) {
    std::vector<double> lengths(18);
    for (double& l : lengths) l = std::exp2(std::uniform_real_distribution<double>(0.0, 5.0)(random));
    const Chain chain(lengths);
    const Steps steps = chain.steps(0.8, c % 2 == 0 ? own : 1.5);
    const double exact = exact_growth(linear_at_rest(*chain.body.model), steps);
    const double longest = steps.tick * steps.longest();
    const StepTrial trial = trial_of(*chain.body.model, lattice_of(steps), {.duration = 1e5 * longest});
    EXPECT_EQ(exact > 1e-4, trial.grows) << exact;
    EXPECT_NEAR(exact, trial.growth, 1e-6 + 1e-4 * exact);
    (trial.grows ? grown : calm) += 1;
  }
  EXPECT_GE(grown, 8);  // both verdicts have been tested
  EXPECT_GE(calm, 20);
}

TEST(TrySteps, tolerates_what_grows_too_little_within_the_run) {
  const Chain chain = with_one_short_bar();
  const Steps steps = chain.steps(0.5, own);
  const double longest = steps.tick * steps.longest(), tenfold = std::log(10.0) / 0.02754 * longest;
  EXPECT_FALSE(trial_of(*chain.body.model, lattice_of(steps), {.duration = 0.9 * tenfold}).grows);
  EXPECT_TRUE(trial_of(*chain.body.model, lattice_of(steps), {.duration = 1.1 * tenfold}).grows);
}

// Krein's central zone: steps that divide T, T below the assembled limit, never grow; a little above it some do.
TEST(TrySteps, nothing_grows_whose_steps_divide_a_stable_step_of_the_whole) {
  std::mt19937 random(11);
  int beyond = 0;
  for (int c = 0; c < 60; ++c) {
    std::vector<double> lengths(10);
    for (double& l : lengths) l = std::exp2(std::uniform_real_distribution<double>(0.0, 1.5)(random));
    const Chain chain(lengths);
    const Model linear = linear_at_rest(*chain.body.model);
    Steps steps{dense_limit(linear) / 8.0, {}};
    for (std::size_t i = 0; i < lengths.size(); ++i) steps.ticks.push_back(1 << (random() % 4));
    steps.ticks.front() = 8;
    steps.tick *= 0.999;
    EXPECT_LT(exact_growth(linear, steps), 1e-6);
    const StepTrial within = trial_of(*chain.body.model, lattice_of(steps), {.duration = 1e9});
    EXPECT_EQ(within.tried, within.proved);
    EXPECT_FALSE(within.grows);
    steps.tick *= 1.15;
    beyond += exact_growth(linear, steps) > 1e-4 ? 1 : 0;
  }
  EXPECT_GE(beyond, 5);
}

// A box whose spacings grow as the third power of the position along every axis.
Body box(int n, double power) {
  Mesh even = tetrahedron_mesh(CellType::tetrahedron4, n, 0.2, 3);
  std::vector<double> points(even.points().begin(), even.points().end());
  double size = 0.0;
  for (const double x : points) size = std::max(size, x);
  for (double& x : points) x = std::pow(std::max(x, 0.0) / size, power);
  std::vector<std::vector<int>> cells;
  for (Index c = 0; c < even.cells().size(); ++c) {
    cells.emplace_back();
    for (const NodeId a : even.cells()[c]) cells.back().push_back(static_cast<int>(index(a)));
  }
  return make_body(mesh_of(3, points, CellType::tetrahedron4, cells), NeoHookean{{93.0, 10.0}}, 1.0);
}

// Its own steps on powers of two, at 0.9, with or without the limit of the default.
TickLattice steps_of(const Model& model, bool limited) {
  const std::vector<double> u(model.reference().size(), 0.0);
  auto steps = choose_steps(model, u, SafetyFraction{0.9}, StepRule::element, {});
  const auto near = smallest_within_a_ring(model, nodal_stable_steps(model, u));
  for (std::size_t i = 0; i < steps.size() && limited; ++i) steps[i] = std::min(steps[i], 0.9 * near[i]);
  const std::vector<double> costs(steps.size(), 15.0);
  return fit_lattice(steps, LatticeRule::powers_of_two, {costs, 500.0});
}

TEST(TrySteps, finds_the_growth_of_a_graded_box_and_none_with_the_limit_of_nodes) {
  const Body body = box(6, 3.0);
  const Model linear = linear_at_rest(*body.model);
  for (const bool limited : {false, true}) {
    const TickLattice lattice = steps_of(*body.model, limited);
    const double longest = lattice.tick * *std::ranges::max_element(lattice.ticks);
    const StepTrial trial = trial_of(*body.model, lattice, {.duration = 1e4 * longest, .price = 0.05});
    EXPECT_EQ(!limited, trial.grows);
    EXPECT_LE(trial.price, 0.6);
    AviLattice map(linear, lattice, LatticeOptions{1, 0.0});
    const StabilityReport run = measure_growth(linear, map, longest, {.longest_steps = 1500});
    EXPECT_EQ(!limited, run.unstable) << run.growth;
  }
}

// Found by a search among thousands of chains and safeties: within the limit of nodes, and yet it grows. Hence a trial.
TEST(TrySteps, finds_the_rare_chain_that_grows_within_the_limit_of_nodes) {
  const std::vector<double> k = {2.4511, 0.65941, 3.79889, 0.67271};
  Model::Parts parts;
  parts.dim = 1;
  parts.reference = {0.0, 1.0, 2.0, 3.0, 4.0};
  parts.mass = {1.0, 3.99899, 4.05456, 5.19576, 0.16693};
  parts.shares = MassShares::balanced;
  for (std::size_t e = 0; e < k.size(); ++e) {
    const auto a = static_cast<Index>(e);
    parts.add(make_pairs(parts.reference, 1, parts.mass, {{make_id<NodeId>(a), make_id<NodeId>(a + 1)}},
                         Spring{k[e], 1.0}, {}));
  }
  std::vector<Support> held;
  held.push_back(resting({NodeId{0}}, {true, false, false}));
  parts.supports = Supports(std::move(held), parts.reference, 1);
  const Model model(std::move(parts));
  const TickLattice lattice{0.8190497310693017, {2, 2, 1, 1}};
  const std::vector<double> u(5, 0.0), nodal = nodal_stable_steps(model, u),
                                       near = smallest_within_a_ring(model, nodal);
  for (std::size_t e = 0; e < k.size(); ++e) EXPECT_LE(lattice.tick * lattice.ticks[e], 0.9 * near[e] * (1.0 + 1e-12));
  const StepTrial trial = try_steps(model, u, lattice, nodal, {.duration = 1e4});
  EXPECT_TRUE(trial.grows);
  EXPECT_NEAR(0.00723, trial.growth, 0.00001);  // of a separate program in numpy
}

TEST(TrySteps, does_not_depend_on_the_number_of_threads_and_keeps_to_its_price) {
  const Body body = box(6, 2.0);
  const TickLattice lattice = steps_of(*body.model, true);
  const auto with = [&](int threads, double price) {
    return trial_of(*body.model, lattice, {.duration = 1.0, .price = price, .complete = 0.0, .threads = threads});
  };
  const StepTrial one = with(1, 10.0), three = with(3, 10.0), cheap = with(1, 0.02);
  EXPECT_EQ(one.tried, one.places);
  EXPECT_GT(one.places, 50);
  EXPECT_EQ(one.growth, three.growth);
  EXPECT_EQ(one.proved, three.proved);
  EXPECT_EQ(one.price, three.price);
  EXPECT_LT(cheap.tried, one.tried);
  EXPECT_LT(cheap.price, 0.06);
}

TEST(TrySteps, has_nothing_to_try_where_all_steps_are_equal) {
  const Body body = box(3, 1.0);
  const TickLattice equal{1e-3, std::vector<std::int32_t>(static_cast<std::size_t>(body.model->term_count()), 4)};
  const StepTrial trial = trial_of(*body.model, equal, {.duration = 1.0});
  EXPECT_EQ(0, trial.places);
  EXPECT_FALSE(trial.grows);
}

}  // namespace
}  // namespace tempi
