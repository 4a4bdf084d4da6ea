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

  explicit Spread(double safety)
      : wish{*body.model, test::own_steps(*body.model, safety), {CellType::tetrahedron4}, {}, safety} {
    wish.cost_per_update.assign(wish.steps.size(), 20.0);
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
    const StepChoice choice = choice_of(s.wish, rule, std::nullopt);
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
    const StepChoice choice = choice_of(s.wish, LatticeRule::powers_of_two, ratio);
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

TEST(StepChoice, of_tetrahedra_at_the_default_safety_limits_neighbours_and_is_verified) {
  const Spread s(0.9);
  const StepChoice choice = automatic_choice(s.wish);
  EXPECT_TRUE(nests(choice.rule));
  EXPECT_EQ(choice.ratio, NeighbourRatio{1.5});
  EXPECT_TRUE(choice.verified(0.9));
  EXPECT_FALSE(choice_of(s.wish, LatticeRule::powers_of_two, std::nullopt).verified(0.9));
}

TEST(StepChoice, takes_the_loosest_limit_that_is_verified) {
  EXPECT_EQ(automatic_choice(Spread(0.5).wish).ratio, NeighbourRatio{});
  Spread bars(0.9);
  bars.wish.types.push_back(CellType::line2);  // the strictest of the types that occur decides
  EXPECT_EQ(safest_choice(bars.wish, LatticeRule::powers_of_two).ratio, NeighbourRatio{1.5});
}

TEST(StepChoice, needs_no_limit_where_steps_are_those_of_one_ring) {
  Spread s(0.9);
  s.wish.one_ring = true;
  EXPECT_EQ(automatic_choice(s.wish).ratio, NeighbourRatio{});
  EXPECT_TRUE(automatic_choice(s.wish).verified(0.9));
}

TEST(StepChoice, is_the_cheaper_of_two_and_three) {
  const Spread s(0.5);
  const StepChoice best = automatic_choice(s.wish);
  EXPECT_LE(best.cost, choice_of(s.wish, LatticeRule::powers_of_two, std::nullopt).cost);
  EXPECT_LE(best.cost, choice_of(s.wish, LatticeRule::powers_of_three, std::nullopt).cost);
}

TEST(StepChoice, evidence_never_grows_with_a_looser_limit) {
  for (const CellType type :
       {CellType::line2, CellType::triangle3, CellType::triangle6, CellType::tetrahedron4, CellType::tetrahedron10})
    for (const LatticeRule rule :
         {LatticeRule::powers_of_two, LatticeRule::powers_of_three, LatticeRule::twos_and_threes, LatticeRule::any}) {
      EXPECT_EQ(lattice_rule(name_of(rule)), rule);
      for (const MassShares shares : {MassShares::own, MassShares::balanced}) {
        const auto safety = [&](NeighbourRatio ratio) { return verified_safety(type, shares, rule, ratio); };
        EXPECT_LE(safety(std::nullopt), safety(4.0));
        EXPECT_LE(safety(4.0), safety(2.0));
        EXPECT_LE(safety(2.0), safety(1.5));
        EXPECT_LE(safety(1.5), safety(1.0));
        EXPECT_EQ(safety(3.0), safety(4.0 - 1e-9));
      }
    }
  EXPECT_EQ(lattice_rule("fours"), std::nullopt);
}

}  // namespace
}  // namespace tempi
