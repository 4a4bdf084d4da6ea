// SPDX-License-Identifier: Apache-2.0
#include "tempi/space/box_tree.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tempi/space/box_sweep.hpp"

namespace tempi {
namespace {

using Pairs = std::set<std::pair<std::int32_t, std::int32_t>>;

Pairs of_tree(const BoxTree& tree) {
  Pairs result;
  tree.each_pair([&](std::int32_t i, std::int32_t j) {
    EXPECT_LT(i, j);
    EXPECT_TRUE(result.emplace(i, j).second) << "twice: " << i << ' ' << j;
  });
  return result;
}

Pairs of_sweep(const std::vector<Bounds>& boxes) {
  Pairs result;
  sweep_boxes(boxes, [&](std::int32_t i, std::int32_t j) {
    EXPECT_LT(i, j);
    EXPECT_TRUE(result.emplace(i, j).second) << "twice: " << i << ' ' << j;
  });
  return result;
}

Pairs by_hand(const std::vector<Bounds>& boxes) {
  Pairs result;
  for (std::size_t j = 0; j < boxes.size(); ++j)
    for (std::size_t i = 0; i < j; ++i)
      if (boxes[i].touches(boxes[j])) result.emplace(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j));
  return result;
}

std::vector<Bounds> drawn(std::size_t count, double size, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::vector<Bounds> boxes(count);
  for (Bounds& b : boxes) {
    const std::array<double, 3> at = {unit(random), unit(random), unit(random)};
    std::array<double, 3> other = at;
    for (double& x : other) x += size * std::pow(unit(random), 4);  // many small, few large
    b.take(at);
    b.take(other);
  }
  return boxes;
}

TEST(BoxTree, FindsEveryPairOnceAsTryingAllDoes) {
  std::mt19937 random(5);
  std::size_t found = 0;
  for (std::size_t count = 0; count < 40; ++count) {
    const auto boxes = drawn(count, 0.5, random);
    BoxTree tree;
    tree.make(boxes);
    ASSERT_EQ(of_tree(tree), by_hand(boxes)) << count;
    ASSERT_EQ(of_sweep(boxes), by_hand(boxes)) << count;
  }
  for (const double size : {0.02, 0.3, 2.0}) {
    const auto boxes = drawn(700, size, random);
    BoxTree tree;
    tree.make(boxes);
    const Pairs pairs = of_tree(tree);
    EXPECT_EQ(pairs, by_hand(boxes));
    EXPECT_EQ(of_sweep(boxes), pairs);
    found += pairs.size();
  }
  EXPECT_GT(found, 10'000u);
}

TEST(BoxTree, FollowsThingsThatMove) {
  std::mt19937 random(6);
  BoxTree tree;
  tree.make(drawn(300, 0.2, random));
  const auto moved = drawn(300, 0.2, random);
  EXPECT_NE(of_tree(tree), by_hand(moved));  // control
  tree.refit(moved);
  EXPECT_EQ(of_tree(tree), by_hand(moved));
}

TEST(BoxTree, TellsWhatTouchesABox) {
  std::mt19937 random(7);
  const auto boxes = drawn(300, 0.3, random), questions = drawn(100, 0.5, random);
  BoxTree tree;
  tree.make(boxes);
  for (const Bounds& q : questions) {
    std::set<std::int32_t> found, expected;
    tree.each_touching(q, [&](std::int32_t i) { EXPECT_TRUE(found.insert(i).second); });
    for (std::size_t i = 0; i < boxes.size(); ++i)
      if (boxes[i].touches(q)) expected.insert(static_cast<std::int32_t>(i));
    EXPECT_EQ(found, expected);
  }
}

TEST(BoxTree, TouchingCountsAsTouching) {
  Bounds a, b, apart;
  a.take(std::array{0.0, 0.0, 0.0});
  a.take(std::array{1.0, 1.0, 1.0});
  b.take(std::array{1.0, 1.0, 1.0});
  apart.take(std::array{1.1, 0.5, 0.5});
  EXPECT_TRUE(a.touches(b));
  EXPECT_FALSE(a.touches(apart));
  apart.grow(0.05);
  EXPECT_FALSE(a.touches(apart));
  apart.grow(0.06);
  EXPECT_TRUE(a.touches(apart));
}

}  // namespace
}  // namespace tempi
