// SPDX-License-Identifier: Apache-2.0
// The verdicts are held against exact spectra: of chains of bars, whose map over the longest step is small enough to be
// written down as a product of drifts and kicks, and of single oscillators.
#include "tempi/diagnostic/stability.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <numeric>

#include "support/chains.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"
#include "tempi/integrator/sync_newmark.hpp"
#include "tempi/model/linearised_model.hpp"
#include "tempi/model/steps.hpp"

namespace tempi {
namespace {

using namespace test;

StabilityReport growth_of(const Model& linear, const Steps& steps, StabilityOptions options) {
  AviExplicit map(linear, steps.seconds());
  return measure_growth(linear, map, steps.tick * steps.longest(), options);
}
StabilityReport growth_of(const Chain& chain, double safety, double rule, Index longest_steps) {
  return growth_of(linear_at_rest(*chain.body.model), chain.steps(safety, rule), {.longest_steps = longest_steps});
}

// Figures of a separate program for the same chain: growth of the logarithm 0.02754 per longest step, none with closer
// neighbours.
TEST(MeasureGrowth, of_a_short_bar_among_long_ones_is_that_of_its_spectrum) {
  const Chain chain = with_one_short_bar();
  const StabilityReport report = growth_of(chain, 0.5, own, stability_horizon);
  EXPECT_TRUE(report.exponential);
  EXPECT_TRUE(report.unstable);
  EXPECT_FALSE(report.releases_energy);
  EXPECT_NEAR(report.growth, 0.02754, 0.05 * 0.02754);
  EXPECT_NEAR(report.growth, exact_growth(linear_at_rest(*chain.body.model), chain.steps(0.5, own)), 0.02754 * 0.02);
  EXPECT_LT(report.longest_steps, 3000);  // ln 1e8 / 0.02754 = 660, and what it takes to emerge
  EXPECT_DOUBLE_EQ(report.total_log_growth, report.growth * 1e5);
}

TEST(MeasureGrowth, of_a_short_bar_among_long_ones_ends_where_neighbours_are_kept_close) {
  const Chain chain = with_one_short_bar();
  struct Choice {
    double safety, rule;
  };
  for (const auto& [safety, rule] : {Choice{0.5, 4.0}, {0.5, 2.0}, {0.5, one_ring}, {0.95, one_ring}}) {
    SCOPED_TRACE(rule);
    const StabilityReport report = growth_of(chain, safety, rule, 10'000);
    EXPECT_LT(exact_growth(linear_at_rest(*chain.body.model), chain.steps(safety, rule)), 1e-6);
    EXPECT_FALSE(report.exponential);
    EXPECT_FALSE(report.unstable);
    EXPECT_EQ(report.longest_steps, 10'000);
    EXPECT_LT(std::abs(report.growth), 0.2 * report.resolution);
  }
}

// 16 bars with lengths spread evenly in logarithm. A growth of four times what a run of this length resolves must be
// found, none must be called growth; what lies between is left to either.
TEST(MeasureGrowth, of_random_chains_is_that_of_their_spectra) {
  test::Random random(7);
  int unstable = 0, stable = 0;
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<double> lengths(16);
    for (double& length : lengths) length = std::pow(16.0, random.uniform(-1.0, 0.0));
    const Chain chain(lengths);
    const double safety = trial % 2 == 0 ? 0.6 : 0.8, rule = trial % 4 < 2 ? own : 4.0;
    const double exact = exact_growth(linear_at_rest(*chain.body.model), chain.steps(safety, rule));
    const StabilityReport report = growth_of(chain, safety, rule, 3'000);
    SCOPED_TRACE(testing::Message() << "trial " << trial << ", exact growth " << exact);
    if (exact > 4.0 * report.resolution || report.unstable) {
      ++unstable;
      EXPECT_TRUE(report.unstable);
      EXPECT_NEAR(report.growth, exact, 0.1 * exact);
    } else if (exact < 1e-6) {
      ++stable;
      EXPECT_LT(std::abs(report.growth), report.resolution);
    }
  }
  EXPECT_GE(unstable, 5);
  EXPECT_GE(stable, 15);
}

// ---- a single oscillator ----

// One bar of stable step 1 whose free end has a mass that makes its frequency omega.
struct Oscillator {
  explicit Oscillator(double omega) {
    Model::Parts parts = test::elastic_parts(*mesh, unit_bar, 1.0);
    parts.mass[1] = 1.0 / (omega * omega);
    parts.supports = one_support(*mesh, resting({NodeId{0}}, {true, true, true}));
    model = std::make_unique<Model>(std::move(parts));
  }
  StabilityReport growth(Index longest_steps = stability_horizon) const {
    return growth_of(linear_at_rest(*model), {1.0, {1}}, {.longest_steps = longest_steps});
  }
  std::unique_ptr<Mesh> mesh = std::make_unique<Mesh>(test::bar_mesh(1));
  std::unique_ptr<Model> model;
};

// The map of a step 1 has the trace 2 - omega^2 = -2 cosh(growth).
double frequency_growing(double growth) { return std::sqrt(2.0 + 2.0 * std::cosh(growth)); }

TEST(MeasureGrowth, of_an_oscillator_beyond_its_limit_is_exact) {
  for (const double growth : {2.0, 0.3, 1e-2, 1e-3, 1e-4}) {
    const StabilityReport report = Oscillator(frequency_growing(growth)).growth();
    EXPECT_TRUE(report.unstable) << growth;
    EXPECT_NEAR(report.growth, growth, 1e-2 * growth);
  }
}

TEST(MeasureGrowth, below_the_tolerated_growth_is_not_unstable) {
  const StabilityReport report = Oscillator(frequency_growing(3e-5)).growth();  // 20-fold over the horizon
  EXPECT_FALSE(report.unstable);
}

TEST(MeasureGrowth, of_an_oscillator_below_its_limit_is_none) {
  for (const double omega : {0.01, 1.0, std::sqrt(2.0), 1.9, 1.999999}) {
    const StabilityReport report = Oscillator(omega).growth(20'000);
    EXPECT_FALSE(report.exponential) << omega;
    EXPECT_FALSE(report.unstable) << omega;
  }
}

// Both eigenvalues are -1 with one eigenvector: the amplitude grows in proportion to time.
TEST(MeasureGrowth, of_an_oscillator_at_its_limit_is_no_exponential) {
  for (const Index longest_steps : {100, 1'000, 10'000, 100'000}) {
    const StabilityReport report = Oscillator(2.0).growth(longest_steps);
    EXPECT_FALSE(report.exponential) << longest_steps;
    EXPECT_FALSE(report.unstable) << longest_steps;
    EXPECT_GT(report.growth * static_cast<double>(longest_steps), 0.5);  // the slope of ln t over the later half
  }
}

// So far beyond its limit that the numbers overflow between two looks at them.
TEST(MeasureGrowth, beyond_the_range_of_numbers_is_unstable) {
  const Body body = test::make_body(test::bar_mesh(2), unit_bar, 1.0);
  Model::Parts parts = test::elastic_parts(*body.mesh, unit_bar, 1.0);
  parts.mass[2] *= 1e-3;
  const Model model(std::move(parts));
  const Model linear = linear_at_rest(model);
  AviExplicit map(linear, {0.25 / 64, 0.25});
  const StabilityReport report = measure_growth(linear, map, 0.25 * 128, {.longest_steps = 1'000});
  EXPECT_TRUE(report.unstable);
  EXPECT_EQ(report.growth, std::numeric_limits<double>::infinity());
  EXPECT_EQ(report.longest_steps, 1);
}

// ---- what the supports allow ----

struct Held {
  std::array<bool, 3> components;
  int rigid_motions;
};

TEST(MeasureGrowth, a_body_free_to_fly_and_turn_is_not_unstable) {
  struct Case {
    Mesh mesh;
    std::vector<Held> supports;  // of the left side
  };
  const std::array<bool, 3> none{}, x{true, false, false}, xy{true, true, false}, all{true, true, true};
  const std::vector<Case> cases = {{test::bar_mesh(5, 0.15, 11), {{none, 1}, {all, 0}}},
                                   {test::triangle_mesh(CellType::triangle3, 3, 0.15, 12),
                                    {{none, 3}, {x, 1}, {all, 0}}},
                                   {test::tetrahedron_mesh(CellType::tetrahedron4, 2, 0.15, 15),
                                    {{none, 6}, {x, 3}, {xy, 1}, {all, 0}}}};
  for (const auto& [mesh, supports] : cases)
    for (const auto& [components, rigid_motions] : supports) {
      SCOPED_TRACE(testing::Message() << mesh.dim() << "-D with " << rigid_motions << " rigid motions");
      const auto model = test::make_model(mesh, NeoHookean{{1.3, 0.7}}, 1.0,
                                          one_support(mesh, resting(test::nodes_of(mesh, "left"), components)));
      const Model linear = linear_at_rest(*model);
      const double step = 0.9 * assembled_limit(linear);
      const std::vector<double> stable = stable_steps(linear, std::vector<double>(mesh.points().size(), 0.0));
      const double h = std::min(step, *std::ranges::min_element(stable));
      const Steps steps{h, std::vector<int>(stable.size(), 1)};
      const StabilityReport report = growth_of(linear, steps, {.longest_steps = 3'000});
      EXPECT_EQ(report.rigid_motions, rigid_motions);
      EXPECT_FALSE(report.exponential);
      EXPECT_LT(std::abs(report.growth), 0.2 * report.resolution);
    }
}

TEST(MeasureGrowth, of_what_cannot_move_or_only_as_a_whole_is_none) {
  const Mesh mesh = test::bar_mesh(1);
  const auto held =
      test::make_model(mesh, unit_bar, 1.0, one_support(mesh, resting({NodeId{0}, NodeId{1}}, {true, true, true})));
  Model::Parts parts;
  parts.dim = 1;
  parts.reference = {0.0};
  parts.mass = {1.0};
  const Model mass(std::move(parts));
  for (const Model* model : {static_cast<const Model*>(held.get()), &mass}) {
    SyncNewmark map(*model, 0.5);
    const StabilityReport report = measure_growth(*model, map, 0.5, {.longest_steps = 100});
    EXPECT_EQ(report.growth, 0.0);
    EXPECT_FALSE(report.unstable);
  }
}

// Saint Venant-Kirchhoff has no stiffness left past a stretch of 0.58: it is the bar that runs away, not the steps.
TEST(MeasureGrowth, of_a_model_without_stiffness_is_told_from_that_of_its_steps) {
  const Mesh mesh = test::bar_mesh(4);
  const auto model = test::make_model(mesh, SaintVenantKirchhoff{{0.0, 0.5}}, 1.0,
                                      one_support(mesh, resting({NodeId{0}}, {true, true, true})));
  const Model linear = linearised(*model, test::affine_displacements(mesh, {-0.5}, {0.0}));
  AviExplicit map(linear, std::vector<double>(4, 0.1));
  const StabilityReport report = measure_growth(linear, map, 0.1);
  EXPECT_TRUE(report.unstable);
  EXPECT_TRUE(report.releases_energy);
}

TEST(MeasureGrowth, is_the_same_for_the_same_seed_and_alike_for_another) {
  const Chain chain = with_one_short_bar();
  const Model linear = linear_at_rest(*chain.body.model);
  const Steps steps = chain.steps(0.5, own);
  const StabilityReport one = growth_of(linear, steps, {}), again = growth_of(linear, steps, {});
  const StabilityReport other = growth_of(linear, steps, {.seed = 2});
  EXPECT_EQ(one.growth, again.growth);
  EXPECT_NE(one.growth, other.growth);
  EXPECT_NEAR(one.growth, other.growth, 0.02 * one.growth);
}

// ---- the assembled limit ----

void expect_within_a_thousandth_below(double step, double limit) {
  EXPECT_LE(step, limit);
  EXPECT_GE(step, limit * (1.0 - 1.1e-3));
}

TEST(AssembledStableStep, is_that_of_the_dense_matrices_and_never_more) {
  for (const auto& c : test::mesh_cases())
    for (const bool held : {false, true}) {
      SCOPED_TRACE(c.name);
      const Mesh mesh = c.make();
      const auto model =
          test::make_model(mesh, NeoHookean{{1.3, 0.7}}, 2.0, held ? test::held_at_rest(mesh, "left") : Supports());
      const auto u = test::random_displacements(mesh, 0.01, 3);
      const Model linear = linearised(*model, u);
      const double limit = dense_limit(linear);
      for (const double step : {assembled_limit(linear), assembled_stable_step(*model, u, 2)})
        expect_within_a_thousandth_below(step, limit);
      for (const MassShares shares : {MassShares::own, MassShares::balanced}) {
        Model::Parts parts = test::elastic_parts(mesh, NeoHookean{{1.3, 0.7}}, 2.0);
        parts.shares = shares;
        const auto steps = stable_steps(Model(std::move(parts)), u);
        EXPECT_LE(*std::ranges::min_element(steps), limit * (1.0 + 1e-9));
      }
    }
}

// omega_max = 2 sin((2n - 1) pi / (4n)) n for n bars of length 1/n, one end held: the hardest kind of spectrum, with
// its largest frequencies ever closer together.
TEST(AssembledStableStep, of_long_uniform_bars_is_that_of_the_formula) {
  for (const int n : {1, 2, 3, 10, 100, 3'000}) {
    const Mesh mesh = test::bar_mesh(n);
    const auto model =
        test::make_model(mesh, unit_bar, 1.0, one_support(mesh, resting({NodeId{0}}, {true, true, true})));
    const double omega = 2.0 * n * std::sin((2.0 * n - 1.0) / (4.0 * n) * 3.14159265358979);
    expect_within_a_thousandth_below(assembled_limit(*model), 2.0 / omega);
  }
}

TEST(AssembledStableStep, of_what_has_no_stiffness_or_cannot_move_is_infinite) {
  const Mesh mesh = test::bar_mesh(1);
  Model::Parts masses = test::elastic_parts(mesh, unit_bar, 1.0);
  masses.potentials.clear();
  EXPECT_TRUE(std::isinf(assembled_limit(Model(std::move(masses)))));
  const auto held =
      test::make_model(mesh, unit_bar, 1.0, one_support(mesh, resting({NodeId{0}, NodeId{1}}, {true, true, true})));
  EXPECT_TRUE(std::isinf(assembled_limit(*held)));
}

}  // namespace
}  // namespace tempi
