// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/steps.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "support/chains.hpp"
#include "support/meshes.hpp"
#include "tempi/core/error.hpp"
#include "tempi/mesh/quality.hpp"

namespace tempi {
namespace {

constexpr Lame lame{1.3, 0.7};
const Material material = NeoHookean{lame};

struct Case {
  explicit Case(Mesh mesh, const Material& law = material)
      : body(test::make_body(std::move(mesh), law, 2.0)), u(body.mesh->points().size(), 0.0) {
    for (Index c = 0; c < body.mesh->cells().size(); ++c)
      times.push_back(inradius(*body.mesh, make_id<CellId>(c)) / dilatational_wave_speed(lame, 2.0));
  }
  std::vector<double> choose(StepSize size, StepRule rule = StepRule::element) const {
    return choose_steps(*body.model, u, size, rule, times);
  }
  test::Body body;
  std::vector<double> u, times;
};

Case distorted() { return Case(test::triangle_mesh(CellType::triangle3, 4, 0.15, 31)); }

TEST(StableSteps, are_those_of_every_term_in_order) {
  const Case c = distorted();
  const auto steps = stable_steps(*c.body.model, c.u);
  ASSERT_EQ(static_cast<Index>(steps.size()), c.body.model->term_count());
  for (std::size_t i = 0; i < steps.size(); ++i)
    EXPECT_EQ(steps[i], c.body.model->stable_step(make_id<TermId>(static_cast<Index>(i)), c.u));
}

TEST(NodalStableSteps, are_those_of_each_node_between_fixed_neighbours) {
  const std::vector<double> lengths = {1.0, 0.25, 2.0};  // E = rho = 1, the left end held
  const test::Chain chain(lengths);
  const auto steps = nodal_stable_steps(*chain.body.model, std::vector<double>(4, 0.0));
  ASSERT_EQ(4u, steps.size());
  EXPECT_TRUE(std::isinf(steps[0]));
  for (std::size_t a = 1; a < 4; ++a) {
    const double k = 1.0 / lengths[a - 1] + (a < 3 ? 1.0 / lengths[a] : 0.0);
    const double m = 0.5 * (lengths[a - 1] + (a < 3 ? lengths[a] : 0.0));
    EXPECT_NEAR(2.0 / std::sqrt(k / m), steps[a], 1e-13);
  }
  const auto near = smallest_within_a_ring(*chain.body.model, steps);
  EXPECT_EQ(steps[1], near[0]);
  EXPECT_EQ(std::min(steps[1], steps[2]), near[1]);
}

TEST(NodalStableSteps, are_those_of_the_assembled_stiffness_s_diagonal_blocks_and_bound_the_assembled_limit) {
  for (const CellType type : {CellType::triangle6, CellType::tetrahedron4}) {
    const bool flat = type == CellType::triangle6;
    const Case c(flat ? test::triangle_mesh(type, 3, 0.1, 5) : test::tetrahedron_mesh(type, 2, 0.1, 5));
    const Model linear = test::linear_at_rest(*c.body.model);
    const test::Assembled all = test::assembled(linear);
    const Eigen::Index d = flat ? 2 : 3;
    const auto steps = nodal_stable_steps(*c.body.model, c.u);
    for (std::size_t a = 0; a < steps.size(); ++a) {
      const auto at = static_cast<Eigen::Index>(a) * d;
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> block(all.K.block(at, at, d, d));
      const double exact = 2.0 / std::sqrt(block.eigenvalues().maxCoeff() / all.M(at));
      EXPECT_NEAR(exact, steps[a], 1e-9 * exact);
      EXPECT_GE(steps[a], test::dense_limit(linear));
    }
  }
}

// Three bars, slow, fast and slow; only nodes that are free are where their steps meet.
TEST(StepsAround, meet_at_nodes_that_are_not_held_altogether) {
  const auto body = [](NodeId held) {
    test::Chain chain({1.0, 0.25, 2.0});
    chain.body.model = test::make_model(*chain.body.mesh, test::unit_bar, 1.0,
                                        test::one_support(*chain.body.mesh, test::resting({held}, {true, true, true})));
    return chain;
  };
  const std::vector<std::int32_t> ticks = {4, 1, 8};
  const std::vector<double> steps = {4.0, 1.0, 8.0};
  const test::Chain free = body(NodeId{0}), left = body(NodeId{1}), right = body(NodeId{2});
  EXPECT_EQ(next_slower(*free.body.model, ticks), (std::vector<std::int32_t>{0, 4, 0}));
  EXPECT_EQ(next_slower(*left.body.model, ticks), (std::vector<std::int32_t>{0, 8, 0}));
  EXPECT_EQ(next_slower(*right.body.model, ticks), (std::vector<std::int32_t>{0, 4, 0}));
  EXPECT_EQ(longest_around(*free.body.model, steps), (std::vector<double>{4.0, 8.0, 8.0}));
  EXPECT_EQ(longest_around(*left.body.model, steps), (std::vector<double>{4.0, 8.0, 8.0}));
  EXPECT_EQ(longest_around(*right.body.model, steps), (std::vector<double>{4.0, 4.0, 8.0}));
}

// Never above the fraction asked for, and below it by rounding at most.
TEST(ChooseSteps, safety_is_a_fraction_of_each_stable_step) {
  const Case c = distorted();
  const auto stable = stable_steps(*c.body.model, c.u), steps = c.choose(SafetyFraction{0.3});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_LE(steps[i], 0.3 * stable[i]);
    EXPECT_GE(steps[i], 0.3 * stable[i] * (1.0 - 1e-9));
  }
}

TEST(ChooseSteps, courant_is_a_multiple_of_inradius_over_wave_speed) {
  const Case c = distorted();
  const auto steps = c.choose(CourantNumber{0.1});
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_NEAR(steps[i], 0.1 * c.times[i], 1e-9 * steps[i]);
}

TEST(ChooseSteps, one_step_for_all_is_taken_to_the_bit) {
  const Case c = distorted();
  for (const double step : c.choose(FixedStep{0.0123456789})) EXPECT_EQ(step, 0.0123456789);
}

TEST(ChooseSteps, uniform_is_the_smallest_of_all) {
  const Case c = distorted();
  const auto own = c.choose(SafetyFraction{0.5});
  for (const double step : c.choose(SafetyFraction{0.5}, StepRule::uniform))
    EXPECT_EQ(step, *std::ranges::min_element(own));
}

TEST(ChooseSteps, one_ring_is_the_smallest_of_the_terms_that_share_a_node) {
  const Case c = distorted();
  const auto own = c.choose(SafetyFraction{0.5}), shared = c.choose(SafetyFraction{0.5}, StepRule::one_ring);
  const Model& model = *c.body.model;
  for (std::size_t i = 0; i < own.size(); ++i) {
    double expected = own[i];
    for (std::size_t j = 0; j < own.size(); ++j)
      for (const NodeId a : model.term(make_id<TermId>(static_cast<Index>(i))).stencil())
        for (const NodeId b : model.term(make_id<TermId>(static_cast<Index>(j))).stencil())
          if (a == b) expected = std::min(expected, own[j]);
    EXPECT_EQ(shared[i], expected) << i;
  }
}

// Translated copies of one cell differ by rounding only; their steps must be the same to the bit.
TEST(ChooseSteps, congruent_cells_keep_the_same_tempo_to_the_bit) {
  for (const CellType type : {CellType::triangle3, CellType::triangle6}) {
    const Case c(test::triangle_mesh(type, 7).scaled(0.37));
    const auto stable = stable_steps(*c.body.model, c.u);
    EXPECT_GT(std::set<double>(stable.begin(), stable.end()).size(), 1u) << "nothing to make equal";
    for (const StepSize size : {StepSize(SafetyFraction{0.5}), StepSize(CourantNumber{0.1})}) {
      const auto steps = c.choose(size);
      EXPECT_EQ(std::set<double>(steps.begin(), steps.end()).size(), 1u);
    }
  }
}

TEST(ChooseSteps, cells_that_truly_differ_keep_their_own_tempo) {
  const Case c = distorted();
  const auto steps = c.choose(SafetyFraction{0.5});
  EXPECT_EQ(std::set<double>(steps.begin(), steps.end()).size(), steps.size());
}

std::string refusal(const Case& c, StepSize size) {
  try {
    c.choose(size);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// The stable step of a bar is L / c, so the Courant number on its inradius L / 2 may be 2.
TEST(ChooseSteps, a_step_beyond_the_stable_one_is_refused_with_term_and_both_values) {
  const Case c(test::bar_mesh(1));
  const double stable = 1.0 / dilatational_wave_speed(lame, 2.0);
  EXPECT_EQ(refusal(c, FixedStep{stable * (1.0 - 1e-6)}), "");
  EXPECT_EQ(refusal(c, CourantNumber{2.0 * (1.0 - 1e-6)}), "");
  for (const StepSize size : {StepSize(FixedStep{1.2 * stable}), StepSize(CourantNumber{2.4})}) {
    const std::string message = refusal(c, size);
    for (const std::string& word :
         {std::string("cell 1"), fmt::format("{:.6g}", 1.2 * stable), fmt::format("{:.6g}", stable)})
      EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
  }
}

// Past a stretch of 0.58 Saint Venant-Kirchhoff has no stiffness left to take a step from.
TEST(ChooseSteps, a_step_that_is_not_finite_is_refused_with_the_term) {
  Case c(test::bar_mesh(2), SaintVenantKirchhoff{lame});
  c.u = {0.0, 0.0, -0.25};
  EXPECT_NE(refusal(c, SafetyFraction{0.5}).find("cell 2"), std::string::npos);
}

std::vector<double> limited(const Model& model, std::vector<double> steps, double ratio) {
  limit_neighbours(model, steps, ratio);
  return steps;
}

// The slow obvious reference: every pair of terms that share a node, again and again until nothing changes.
struct Neighbours {
  explicit Neighbours(const Model& model) {
    for (Index i = 0; i < model.term_count(); ++i)
      for (Index j = 0; j < model.term_count(); ++j)
        if (i != j && std::ranges::find_first_of(model.term(make_id<TermId>(i)).stencil(),
                                                 model.term(make_id<TermId>(j)).stencil()) !=
                          model.term(make_id<TermId>(i)).stencil().end())
          pairs.emplace_back(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
  }
  std::vector<double> limited(std::vector<double> steps, double ratio) const {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [i, j] : pairs)
        if (steps[i] > ratio * steps[j]) {
          steps[i] = ratio * steps[j];
          changed = true;
        }
    }
    return steps;
  }
  bool hold(const std::vector<double>& steps, double ratio) const {
    return std::ranges::all_of(pairs, [&](const auto& p) { return steps[p.first] <= ratio * steps[p.second]; });
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
};

std::vector<double> random_steps(const Model& model, double spread, std::uint64_t seed) {
  test::Random random(seed);
  std::vector<double> steps(static_cast<std::size_t>(model.term_count()));
  for (double& s : steps) s = 1e-6 * std::exp(random.uniform(0.0, std::log(spread)));
  return steps;
}

TEST(LimitNeighbours, spreads_outward_from_a_small_step_until_steps_are_small_anyway) {
  const Case c(test::bar_mesh(8));
  const std::vector<double> steps = {100, 100, 1, 100, 100, 100, 13, 100};
  EXPECT_EQ(limited(*c.body.model, steps, 2.0), (std::vector<double>{4, 2, 1, 2, 4, 8, 13, 26}));
  EXPECT_EQ(limited(*c.body.model, steps, 10.0), (std::vector<double>{100, 10, 1, 10, 100, 100, 13, 100}));
  EXPECT_EQ(limited(*c.body.model, steps, 1.0), std::vector<double>(8, 1.0));
  EXPECT_EQ(limited(*c.body.model, steps, 100.0), steps);
}

// Two bars apart from two others.
TEST(LimitNeighbours, stays_within_connected_parts) {
  const Case c(test::mesh_of(1, {0, 1, 2, 3, 4, 5}, CellType::line2, {{0, 1}, {3, 4}, {1, 2}, {4, 5}}));
  EXPECT_EQ(limited(*c.body.model, {1, 50, 100, 30}, 1.0), (std::vector<double>{1, 30, 1, 30}));
  EXPECT_EQ(limited(*c.body.model, {1, 50, 100, 30}, 1.5), (std::vector<double>{1, 45, 1.5, 30}));
}

class LimitNeighboursOn : public testing::TestWithParam<test::MeshCase> {};
INSTANTIATE_TEST_SUITE_P(Model, LimitNeighboursOn, testing::ValuesIn(test::mesh_cases()),
                         [](const auto& c) { return c.param.name; });

// The same bits: both multiply along the same paths. Steps spread widely break the bound, or nothing would be tested.
TEST_P(LimitNeighboursOn, agrees_with_the_reference_to_the_bit) {
  const Case c(GetParam().make());
  const Neighbours neighbours(*c.body.model);
  for (const double spread : {3.0, 100.0, 1e6})
    for (const double ratio : {1.0, 1.1, 1.5, 2.0, 4.0}) {
      const auto own = random_steps(*c.body.model, spread, 17);
      if (spread > 10.0 * ratio) {
        EXPECT_FALSE(neighbours.hold(own, ratio));
      }
      EXPECT_EQ(limited(*c.body.model, own, ratio), neighbours.limited(own, ratio)) << spread << ' ' << ratio;
    }
}

TEST_P(LimitNeighboursOn, keeps_the_bound_by_lowering_no_more_than_needed) {
  const Case c(GetParam().make());
  const Neighbours neighbours(*c.body.model);
  for (const double ratio : {1.0, 1.5, 2.0, 4.0}) {
    const auto own = random_steps(*c.body.model, 1e4, 18), steps = limited(*c.body.model, own, ratio);
    EXPECT_TRUE(neighbours.hold(steps, ratio));
    std::vector<bool> justified(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      EXPECT_LE(steps[i], own[i]);
      justified[i] = steps[i] == own[i];
    }
    for (const auto& [i, j] : neighbours.pairs) justified[i] = justified[i] || steps[i] == ratio * steps[j];
    EXPECT_EQ(std::ranges::count(justified, false), 0);
    EXPECT_EQ(limited(*c.body.model, steps, ratio), steps) << "a second time does nothing";
  }
}

TEST_P(LimitNeighboursOn, does_nothing_where_the_bound_holds) {
  const Case c(GetParam().make());
  const auto own = random_steps(*c.body.model, 3.9, 19);
  EXPECT_EQ(limited(*c.body.model, own, 4.0), own);
  EXPECT_EQ(limited(*c.body.model, own, std::numeric_limits<double>::infinity()), own);
}

// Three terms of steps 1, 2, 4: in a time of 4 Newmark makes 12 updates, each term its own 4 + 2 + 1.
TEST(IdealSpeedup, is_the_ratio_of_updates) {
  EXPECT_DOUBLE_EQ(ideal_speedup(std::vector{1.0, 2.0, 4.0}), 12.0 / 7.0);
  EXPECT_DOUBLE_EQ(ideal_speedup(std::vector{0.3, 0.3}), 1.0);
}

Index counted(double step, double end_time) {
  Index j = 0;
  while (static_cast<double>(j + 1) * step < end_time) ++j;
  return j;
}

TEST(UpdateCount, is_what_counting_gives_also_at_exact_multiples) {
  test::Random random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const double step = random.uniform(1e-3, 1.0);
    const double multiple = static_cast<double>(random.below(300)) * step;
    for (const double end :
         {multiple, std::nextafter(multiple, 1e9), std::nextafter(multiple, 0.0), multiple + 0.3 * step})
      if (end > 0.0) {
        EXPECT_EQ(update_count(step, end), counted(step, end)) << step << ' ' << end;
      }
  }
}

TEST(UpdateCount, of_round_numbers_is_that_of_their_doubles) {
  EXPECT_EQ(update_count(0.25, 1.0), 3);
  EXPECT_EQ(update_count(0.1, 1.0), 9);
  EXPECT_EQ(update_count(0.1, 0.3), 2);   // 3 * 0.1 is above 0.3
  EXPECT_EQ(update_count(0.1, 0.61), 6);  // 6 * 0.1 is above 0.6, below 0.61
  EXPECT_EQ(update_count(1.0, 1.0), 0);
  EXPECT_EQ(update_count(2.0, 1.0), 0);
}

TEST(UpdateCount, of_billions_is_exact) {
  EXPECT_EQ(update_count(0x1p-30, 4.0), (Index{1} << 32) - 1);
  EXPECT_EQ(update_count(0x1p-30, 4.0 + 0x1p-31), Index{1} << 32);
}

}  // namespace
}  // namespace tempi
