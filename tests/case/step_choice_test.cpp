// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/step_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/runs.hpp"

namespace tempi {
namespace {

// A mesh whose steps spread, and what is wished for it.
struct Spread {
  test::Body body =
      test::make_body(test::tetrahedron_mesh(CellType::tetrahedron4, 4, 0.15, 3), NeoHookean{{1.0, 1.0}}, 1.0);
  StepWish wish;

  explicit Spread(double safety) : wish{*body.model, test::own_steps(*body.model, safety), {}, {}} {
    wish.cost_per_update.assign(wish.steps.size(), 20.0);
    wish.near_nodes =
        smallest_within_a_ring(*body.model, nodal_stable_steps(*body.model, reference_state(*body.model).displacement));
    wish.steps[7] /= 40.0;  // a sliver
  }
};

double smallest_around(const Model& model, const TickLattice& lattice, Index i) {
  std::int32_t least = lattice.ticks[static_cast<std::size_t>(i)];
  const NodeTerms around = node_terms(model);
  for (const NodeId a : model.term(make_id<TermId>(i)).stencil())
    for (const TermId term : around[a]) least = std::min(least, lattice.ticks[static_cast<std::size_t>(index(term))]);
  return least;
}

TEST(StepChoice, exceeds_no_wish_and_saves_what_its_updates_say) {
  const Spread s(0.9);
  for (const LatticeRule rule :
       {LatticeRule::powers_of_two, LatticeRule::powers_of_three, LatticeRule::twos_and_threes, LatticeRule::any}) {
    const StepChoice choice = choice_of(s.wish, rule, {});
    double updates = 0.0;
    for (std::size_t i = 0; i < s.wish.steps.size(); ++i) {
      const double step = choice.lattice.tick * choice.lattice.ticks[i];
      EXPECT_LE(step, s.wish.steps[i] * (1.0 + 1e-11));
      updates += 1.0 / step;
    }
    const double newmark = static_cast<double>(s.wish.steps.size()) / *std::ranges::min_element(s.wish.steps);
    EXPECT_NEAR(choice.saving, newmark / updates, 1e-12 * choice.saving);
  }
}

TEST(StepChoice, keeps_neighbours_within_the_limit_up_to_rounding_down) {
  const Spread s(0.9);
  for (const double ratio : {1.5, 2.0, 4.0}) {
    const StepChoice choice = choice_of(s.wish, LatticeRule::powers_of_two, {{}, ratio, false});
    bool any_at_the_limit = false;
    for (Index i = 0; i < s.body.model->term_count(); ++i) {
      const double times =
          choice.lattice.ticks[static_cast<std::size_t>(i)] / smallest_around(*s.body.model, choice.lattice, i);
      EXPECT_LE(times, std::exp2(std::ceil(std::log2(ratio))));  // rounding down may add one factor of two
      any_at_the_limit = any_at_the_limit || times > 1.0;
    }
    EXPECT_TRUE(any_at_the_limit);
  }
}

TEST(StepChoice, exceeds_no_part_of_a_node_s_stable_step_within_one_ring) {
  const Spread s(0.9);
  double largest = 0.0;
  for (const double part : {0.9, 0.5}) {
    const StepChoice choice = choice_of(s.wish, LatticeRule::powers_of_two, {part, std::nullopt, false});
    bool any_at_the_limit = false;
    for (std::size_t i = 0; i < s.wish.steps.size(); ++i) {
      const double step = choice.lattice.tick * choice.lattice.ticks[i];
      EXPECT_LE(step, part * s.wish.near_nodes[i] * (1.0 + 1e-11));
      EXPECT_LE(step, s.wish.steps[i] * (1.0 + 1e-11));
      any_at_the_limit = any_at_the_limit || 2.0 * step > part * s.wish.near_nodes[i];
    }
    EXPECT_TRUE(any_at_the_limit);
    EXPECT_TRUE(largest == 0.0 || choice.saving < largest);  // a tighter limit costs
    largest = choice.saving;
  }
}

TEST(StepChoice, of_one_ring_gives_each_element_the_smallest_step_around_it) {
  const Spread s(0.9);
  const StepChoice choice = choice_of(s.wish, LatticeRule::powers_of_two, {std::nullopt, std::nullopt, true});
  std::vector<double> shared = s.wish.steps;
  share_around_nodes(s.wish.model, shared);
  for (std::size_t i = 0; i < shared.size(); ++i)
    EXPECT_LE(choice.lattice.tick * choice.lattice.ticks[i], shared[i] * (1.0 + 1e-11));
}

TEST(StepChoice, is_the_cheaper_of_two_and_three) {
  const Spread s(0.5);
  const StepChoice best = automatic_choice(s.wish, {});
  EXPECT_LE(best.cost, choice_of(s.wish, LatticeRule::powers_of_two, {}).cost);
  EXPECT_LE(best.cost, choice_of(s.wish, LatticeRule::powers_of_three, {}).cost);
}

TEST(StepChoice, attempts_begin_with_the_nodes_and_the_last_resort_is_one_step_for_all) {
  const Spread s(0.9);
  EXPECT_EQ(attempts().front().limit, (NeighbourLimit{0.9, std::nullopt, false}));
  EXPECT_EQ("nodes 0.9", describe(attempts().front().limit));
  double part = 1.0;
  for (const StepAttempt& attempt : attempts()) {
    EXPECT_LE(attempt.part, part);
    EXPECT_LE(*attempt.limit.nodal_safety, 0.9);
    part = attempt.part;
  }
  const StepChoice equal = equal_steps(s.wish);
  EXPECT_TRUE(std::ranges::all_of(equal.lattice.ticks, [](std::int32_t m) { return m == 1; }));
  EXPECT_DOUBLE_EQ(*std::ranges::min_element(s.wish.steps), equal.lattice.tick);
  EXPECT_NEAR(1.0, equal.saving, 1e-12);
}

TEST(StepChoice, rules_have_names) {
  for (const LatticeRule rule :
       {LatticeRule::powers_of_two, LatticeRule::powers_of_three, LatticeRule::twos_and_threes, LatticeRule::any})
    EXPECT_EQ(lattice_rule(name_of(rule)), rule);
  EXPECT_EQ(lattice_rule("fours"), std::nullopt);
}

}  // namespace
}  // namespace tempi
