// SPDX-License-Identifier: Apache-2.0
// The queue's order is one of many: whoever is earliest among its neighbours may act (Lew, Marsden, Ortiz, West 2004,
// section 4.7). Neighbours are all elements that share a node.
#include <gtest/gtest.h>

#include "support/runs.hpp"

namespace tempi::test {
namespace {

// Of two terms, which one acts first; equal times go by id.
using Before = std::function<bool(double, Index, double, Index)>;
bool by_time_then_id(double s, Index i, double t, Index j) { return s < t || (s == t && i < j); }
bool by_time_then_falling_id(double s, Index i, double t, Index j) { return s < t || (s == t && i > j); }

// Terms that share at least `shared` nodes.
std::vector<std::vector<Index>> neighbours(const Model& model, int shared) {
  const NodeTerms around = node_terms(model);
  std::vector<std::vector<Index>> result(static_cast<std::size_t>(model.term_count()));
  for (Index i = 0; i < model.term_count(); ++i) {
    std::map<Index, int> common;
    for (const NodeId a : model.term(make_id<TermId>(i)).stencil())
      for (const TermId other : around[a])
        if (index(other) != i) ++common[index(other)];
    for (const auto& [other, count] : common)
      if (count >= shared) result[static_cast<std::size_t>(i)].push_back(other);
  }
  return result;
}

// Picks terms at random and walks to the earliest neighbour until none is earlier.
void advance_by_local_minimum(AviExplicit& avi, State& state, double t_end,
                              const std::vector<std::vector<Index>>& neighbours_of, const Before& before,
                              Random& random) {
  avi.start(state);
  const auto time = [&](Index i) { return avi.next_time(make_id<TermId>(i)); };
  std::vector<Index> waiting(neighbours_of.size());
  std::iota(waiting.begin(), waiting.end(), Index{0});
  while (!waiting.empty()) {
    const auto picked = static_cast<std::size_t>(random.below(static_cast<Index>(waiting.size())));
    if (time(waiting[picked]) >= t_end) {
      waiting[picked] = waiting.back();
      waiting.pop_back();
      continue;
    }
    Index best = waiting[picked], here = -1;
    while (best != here) {
      here = best;
      for (const Index other : neighbours_of[static_cast<std::size_t>(here)])
        if (before(time(other), other, time(best), best)) best = other;
    }
    avi.update(state, make_id<TermId>(here));
  }
}

// 750 tetrahedra, one end at rest, the other moving; a third of the steps equal, a sixth half of those (exact ties at
// every second act), the rest at irrational ratios.
struct Example {
  Body body;
  std::vector<double> steps;
  State start;
  double t_end;
};
Example example() {
  Body body = make_body_with(
      tetrahedron_mesh(CellType::tetrahedron4, 5, 0.15, 21), materials().front(), 1.2,
      [](const Mesh& mesh, Model::Parts& parts) {
        std::vector<Support> supports;
        supports.push_back(resting("left", nodes_of(mesh, "left"), 3));
        supports.push_back(moving("right", nodes_of(mesh, "right"), {"0.02*sin(3*t)", "0.01*Y*t", "-0.01*t*t"}, 3));
        parts.supports = Supports(std::move(supports), mesh.points(), 3);
        add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0", "0.1", "-0.3*cos(t)"}, 3)));
      });
  std::vector<double> steps = own_steps(*body.model, 0.5);
  const double least = smallest(steps);
  Random random(3);
  for (double& step : steps) {
    const double draw = random.uniform(0.0, 1.0);
    step = draw < 1.0 / 3 ? least : draw < 0.5 ? 0.5 * least : step * random.uniform(0.6, 1.0);
  }
  State start = moving_state(body, 0.1, 0.02, 4);
  return {std::move(body), std::move(steps), std::move(start), 25.3 * least};
}

std::vector<Index> counts(const AviExplicit& avi, const Model& model) {
  std::vector<Index> result;
  for (Index i = 0; i < model.term_count(); ++i) result.push_back(avi.updates(make_id<TermId>(i)));
  return result;
}

TEST(LocalMinimumOrder, GivesTheQueuesBits) {
  const Example e = example();
  ASSERT_GE(e.body.model->term_count(), 500);
  AviExplicit queue(*e.body.model, e.steps);
  State expected = e.start;
  queue.advance_to(expected, e.t_end);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE(seed);
    Random random(seed);
    AviExplicit avi(*e.body.model, e.steps);
    State state = e.start;
    advance_by_local_minimum(avi, state, e.t_end, neighbours(*e.body.model, 1), by_time_then_id, random);
    EXPECT_TRUE(same_bits(state.displacement, expected.displacement));
    EXPECT_TRUE(same_bits(state.velocity, expected.velocity));
    EXPECT_TRUE(same_bits(state.clock, expected.clock));
    EXPECT_EQ(counts(avi, *e.body.model), counts(queue, *e.body.model));
  }
}

TEST(LocalMinimumOrder, AmongNeighboursByFacesOnlyBreaksCausality) {
  const Example e = example();
  AviExplicit queue(*e.body.model, e.steps), avi(*e.body.model, e.steps);
  State expected = e.start, state = e.start;
  queue.advance_to(expected, e.t_end);
  Random random(1);
  advance_by_local_minimum(avi, state, e.t_end, neighbours(*e.body.model, 3), by_time_then_id, random);
  EXPECT_EQ(counts(avi, *e.body.model), counts(queue, *e.body.model));
  // Far beyond rounding: impulses were evaluated at positions of wrong times.
  EXPECT_GT(largest_difference(state.displacement, expected.displacement), 1e-8);
}

TEST(LocalMinimumOrder, WithTiesTheOtherWayRoundChangesRoundingOnly) {
  const Example e = example();
  AviExplicit queue(*e.body.model, e.steps), avi(*e.body.model, e.steps);
  State expected = e.start, state = e.start;
  queue.advance_to(expected, e.t_end);
  Random random(1);
  advance_by_local_minimum(avi, state, e.t_end, neighbours(*e.body.model, 1), by_time_then_falling_id, random);
  EXPECT_FALSE(same_bits(state.velocity, expected.velocity));
  // 25 acts of each term: some hundred roundings of velocities of size one.
  EXPECT_LT(largest_difference(state.velocity, expected.velocity), 1e-13);
}

TEST(UpdateCounts, AreThoseOfEachTermsOwnSteps) {
  const Example e = example();
  AviExplicit avi(*e.body.model, e.steps);
  State state = e.start;
  avi.advance_to(state, e.t_end);
  for (Index i = 0; i < e.body.model->term_count(); ++i) {
    const double step = e.steps[static_cast<std::size_t>(i)];
    Index expected = 0;
    while (static_cast<double>(expected + 1) * step < e.t_end) ++expected;
    EXPECT_EQ(avi.updates(make_id<TermId>(i)), expected);
  }
}

}  // namespace
}  // namespace tempi::test
