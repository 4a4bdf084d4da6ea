// SPDX-License-Identifier: Apache-2.0
#include "tempi/constraint/supports.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/meshes.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Motion = Support::Motion;

const std::vector<double> square = {0, 0, 1, 0, 1, 1, 0, 1};  // four points in the plane

struct Wish {
  int component;
  std::string displacement;  // empty: at rest
};

Support support(std::string name, std::vector<int> nodes, const std::vector<Wish>& wishes) {
  Support s;
  s.name = std::move(name);
  for (const int a : nodes) s.nodes.push_back(make_id<NodeId>(a));
  for (const Wish& w : wishes) {
    const auto c = static_cast<std::size_t>(w.component);
    s.motion[c] = w.displacement.empty() ? Motion::at_rest : Motion::prescribed;
    if (!w.displacement.empty()) s.displacement[c] = Expression(w.displacement, {});
  }
  return s;
}

template <class... S>
Supports supports(S... s) {
  std::vector<Support> all;
  (all.push_back(std::move(s)), ...);
  return Supports(std::move(all), square, 2);
}

TEST(Supports, none_hold_nothing) {
  const Supports none;
  EXPECT_EQ(none.size(), 0);
  EXPECT_FALSE(none.holds(NodeId{3}));
  EXPECT_EQ(none.support_of(NodeId{3}, 0), Supports::none);
  EXPECT_TRUE(none.held_nodes().empty());
}

TEST(Supports, hold_the_components_that_were_asked_for_and_no_others) {
  const Supports s = supports(support("left", {0, 3}, {{0, ""}}), support("corner", {0}, {{1, "0.1*t"}}));
  EXPECT_TRUE(s.holds(NodeId{0}));
  EXPECT_TRUE(s.holds(NodeId{3}));
  EXPECT_FALSE(s.holds(NodeId{1}));
  EXPECT_EQ(s.support_of(NodeId{0}, 0), 0);
  EXPECT_EQ(s.support_of(NodeId{0}, 1), 1);
  EXPECT_EQ(s.support_of(NodeId{3}, 1), Supports::none);
  EXPECT_EQ(s.support_of(NodeId{1}, 0), Supports::none);
  EXPECT_EQ(s.held_nodes().size(), 2u);
}

TEST(Supports, at_rest_have_no_displacement_of_their_own_and_do_not_move) {
  const Supports s = supports(support("left", {0}, {{0, ""}}));
  EXPECT_FALSE(s.displacement(NodeId{0}, 0, 1.0));
  EXPECT_EQ(s.velocity(NodeId{0}, 0, 1.0, 1e-3), 0.0);
  EXPECT_EQ(s.acceleration(NodeId{0}, 0, 1.0, 1e-3), 0.0);
  EXPECT_FALSE(s.moves(NodeId{0}));
}

TEST(Supports, prescribed_motion_is_the_formula_at_the_nodes_reference_place) {
  const Supports s = supports(support("top", {2, 3}, {{0, "(1 + X)*sin(3*t)"}, {1, "0.25*Y"}}));
  const double t = 0.4;
  EXPECT_DOUBLE_EQ(*s.displacement(NodeId{2}, 0, t), 2.0 * std::sin(1.2));
  EXPECT_DOUBLE_EQ(*s.displacement(NodeId{3}, 0, t), std::sin(1.2));
  EXPECT_DOUBLE_EQ(*s.displacement(NodeId{3}, 1, t), 0.25);
}

// Differences of fourth order: error (3 delta)^4 / 30 relative, 3e-14 at 1e-3, and rounding 1e-16 / delta^2.
TEST(Supports, velocity_and_acceleration_are_the_derivatives_of_the_motion) {
  const Supports s = supports(support("top", {2}, {{0, "(1 + X)*sin(3*t)"}, {1, "0.25*Y"}}));
  for (const double t : {0.0, 0.4}) {
    EXPECT_NEAR(s.velocity(NodeId{2}, 0, t, 1e-3), 6.0 * std::cos(3.0 * t), 1e-9);
    EXPECT_NEAR(s.acceleration(NodeId{2}, 0, t, 1e-3), -18.0 * std::sin(3.0 * t), 1e-7);
  }
  EXPECT_EQ(s.velocity(NodeId{2}, 1, 0.4, 1e-3), 0.0);
}

// One of X for two components, one without a place, one without time, one that rests; a node that two supports move.
TEST(Supports, paths_have_the_motion_of_each_of_their_nodes) {
  const Supports s =
      supports(support("top", {2, 3}, {{0, "(1 + X)*sin(3*t)"}, {1, "0.25*Y"}}), support("left", {0}, {{0, ""}}),
               support("right", {1, 2, 3}, {{0, "(1 + X)*sin(3*t)"}}), support("up", {1}, {{1, "t^2"}}));
  std::vector<Supports::Component> all;
  for (const int a : {3, 1, 0, 2})
    for (const int c : {1, 0}) all.push_back({make_id<NodeId>(a), c});
  std::vector<int> met(all.size(), 0);
  for (SupportPath& path : s.paths(all)) {
    for (Index block = 0; block < path.displacement.blocks(); ++block) path.displacement.evaluate(block, 0.4);
    for (std::size_t k = 0; k < path.places.size(); ++k) {
      const auto [a, c] = all[path.places[k]];
      ++met[path.places[k]];
      EXPECT_EQ(path.support, s.support_of(a, c));
      EXPECT_EQ(path.component, c);
      EXPECT_NEAR(path.displacement[k], *s.displacement(a, c, 0.4), 1e-15);
    }
  }
  for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(met[k], s.is_prescribed(all[k].node, all[k].component)) << k;
}

TEST(Supports, move_only_where_time_matters) {
  const Supports s =
      supports(support("pulled", {1}, {{0, "0.1*t"}}), support("displaced", {2}, {{0, "0.1"}, {1, "X"}}));
  EXPECT_TRUE(s.moves(NodeId{1}));
  EXPECT_FALSE(s.moves(NodeId{2}));
  EXPECT_FALSE(s.moves(NodeId{0}));
}

TEST(Supports, that_agree_about_a_component_are_carried_by_the_first) {
  const Supports s =
      supports(support("left", {0, 3}, {{0, ""}, {1, "t"}}), support("bottom", {0, 1}, {{0, ""}, {1, "t"}}));
  EXPECT_EQ(s.support_of(NodeId{0}, 0), 0);
  EXPECT_EQ(s.support_of(NodeId{0}, 1), 0);
  EXPECT_EQ(s.support_of(NodeId{1}, 0), 1);
}

TEST(Supports, that_disagree_about_a_component_are_refused_with_both_names_and_the_place) {
  const auto refusal = [](Support a, Support b) {
    try {
      supports(std::move(a), std::move(b));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const auto& message : {refusal(support("left", {2}, {{1, ""}}), support("top", {2}, {{1, "t"}})),
                              refusal(support("left", {2}, {{1, "2*t"}}), support("top", {2}, {{1, "t"}})),
                              refusal(support("left", {2}, {{1, "t"}}), support("top", {2}, {{1, ""}}))}) {
    for (const char* word : {"'left'", "'top'", "component y", "(1, 1)"})
      EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
  }
  EXPECT_EQ(refusal(support("left", {2}, {{0, ""}}), support("top", {2}, {{1, "t"}})), "");
}

TEST(Supports, a_node_listed_twice_in_one_support_is_held_once) {
  const Supports s = supports(support("left", {0, 0}, {{0, "t"}}));
  EXPECT_EQ(s.held_nodes().size(), 1u);
}

TEST(Supports, a_motion_that_is_not_finite_is_told_with_formula_place_and_time) {
  const Supports s = supports(support("top", {2}, {{0, "1/(t - 2)"}}));
  try {
    s.displacement(NodeId{2}, 0, 2.0);
    FAIL();
  } catch (const SolveError& e) {
    for (const char* word : {"1/(t - 2)", "(1, 1)", "t = 2 s"})
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

TEST(Supports, work_in_one_and_three_dimensions) {
  std::vector<Support> one, three;
  one.push_back(support("end", {1}, {{0, "X*t"}}));
  const Supports bar(std::move(one), std::vector<double>{0, 2}, 1);
  EXPECT_EQ(*bar.displacement(NodeId{1}, 0, 3.0), 6.0);
  three.push_back(support("end", {1}, {{2, "Z*t"}}));
  const Supports solid(std::move(three), std::vector<double>{0, 0, 0, 1, 2, 3}, 3);
  EXPECT_EQ(*solid.displacement(NodeId{1}, 2, 3.0), 9.0);
  EXPECT_EQ(solid.support_of(NodeId{1}, 0), Supports::none);
}

}  // namespace
}  // namespace tempi
