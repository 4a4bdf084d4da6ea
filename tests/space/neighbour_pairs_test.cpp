// SPDX-License-Identifier: Apache-2.0
#include "tempi/space/neighbour_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/lattice.hpp"
#include "tempi/core/error.hpp"
#include "tempi/pair/pairs.hpp"

namespace tempi {
namespace {

using test::Random;

// The slow obvious reference: every pair, every image.
std::vector<NodePair> by_brute_force(const std::vector<double>& x, int dim, double distance, const Box& box = {}) {
  const auto d = static_cast<std::size_t>(dim);
  std::vector<NodePair> pairs;
  for (const NodePair& pair : all_pairs(static_cast<Index>(x.size() / d))) {
    double r2 = 0.0;
    for (std::size_t c = 0; c < d; ++c) {
      const double w =
          x[static_cast<std::size_t>(index(pair[1])) * d + c] - x[static_cast<std::size_t>(index(pair[0])) * d + c];
      double nearest = w;
      if (const auto L = box.length(c))
        for (int image = -12; image <= 12; ++image)
          if (std::abs(w + image * *L) < std::abs(nearest)) nearest = w + image * *L;
      r2 += nearest * nearest;
    }
    if (r2 <= distance * distance) pairs.push_back(pair);
  }
  return pairs;
}

std::vector<double> cloud(int dim, std::size_t count, double low, double high, unsigned seed) {
  Random random(seed);
  std::vector<double> x(count * static_cast<std::size_t>(dim));
  for (double& value : x) value = random.uniform(low, high);
  return x;
}

TEST(PairsWithin, open_space_are_those_found_by_brute_force) {
  for (const int dim : {1, 2, 3})
    for (const double distance : {0.05, 0.2, 0.45, 1.0, 3.0}) {
      SCOPED_TRACE(testing::Message() << dim << "-D, distance " << distance);
      const auto x = cloud(dim, 300, -0.7, 0.9, 11);
      const auto expected = by_brute_force(x, dim, distance);
      EXPECT_GT(expected.size(), 0u);
      EXPECT_EQ(pairs_within(x, dim, distance), expected);
    }
}

// Boxes from exactly two to many distances wide; some nodes have left them.
TEST(PairsWithin, a_periodic_box_are_those_found_by_brute_force) {
  for (const int dim : {1, 2, 3})
    for (const double width : {2.0, 2.1, 2.9, 3.0, 3.1, 4.0, 7.3}) {
      SCOPED_TRACE(testing::Message() << dim << "-D, " << width << " distances wide");
      const double L = 1.7, distance = L / width;
      const auto x = cloud(dim, 250, -3.0 * L, 4.0 * L, 12);
      const Box box({L, L, L});
      const auto expected = by_brute_force(x, dim, distance, box);
      EXPECT_GT(expected.size(), 0u);
      EXPECT_EQ(pairs_within(x, dim, distance, box), expected);
    }
}

TEST(PairsWithin, a_box_may_be_periodic_along_some_axes_only_and_of_different_lengths) {
  const Box::Lengths cases[] = {{1.0, std::nullopt, std::nullopt},
                                {std::nullopt, 1.3, std::nullopt},
                                {2.2, 0.9, std::nullopt},
                                {std::nullopt, 0.85, 5.0}};
  for (const auto& lengths : cases)
    for (const int dim : {2, 3}) {
      const auto x = cloud(dim, 300, -1.0, 2.0, 13);
      const Box box(lengths);
      EXPECT_EQ(pairs_within(x, dim, 0.42, box), by_brute_force(x, dim, 0.42, box));
    }
}

TEST(PairsWithin, across_the_wall_are_found) {
  const std::vector<double> x = {0.05, 0.5, 0.95, 0.5, 0.5, 0.5};
  EXPECT_EQ(pairs_within(x, 2, 0.11, Box({1.0, 1.0, std::nullopt})), (std::vector<NodePair>{{NodeId{0}, NodeId{1}}}));
  EXPECT_TRUE(pairs_within(x, 2, 0.11).empty());  // control: without the box there is none
}

// Cells at every place of a lattice's points; those just at the distance count.
TEST(PairsWithin, at_exactly_the_distance_count) {
  std::vector<double> x;
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 8; ++i) x.insert(x.end(), {i * 0.5, j * 0.5});
  EXPECT_EQ(pairs_within(x, 2, 0.5).size(), 112u);                                 // 2 * 8 * 7
  EXPECT_EQ(pairs_within(x, 2, 0.5, Box({4.0, 4.0, std::nullopt})).size(), 128u);  // two a node
  EXPECT_TRUE(pairs_within(x, 2, std::nextafter(0.5, 0.0)).empty());
}

// Two clumps, so far apart that a grid between them would need 1e21 cells; and one whose distance is below its digits.
TEST(PairsWithin, empty_space_costs_nothing) {
  auto x = cloud(3, 200, 0.0, 1.0, 14);
  const auto far = cloud(3, 200, 1e7, 1e7 + 1.0, 15);
  x.insert(x.end(), far.begin(), far.end());
  EXPECT_EQ(pairs_within(x, 3, 0.3), by_brute_force(x, 3, 0.3));
  EXPECT_TRUE(pairs_within(x, 3, 1e-30).empty());
  const Box box({1e9, 1e9, 1e9});
  EXPECT_EQ(pairs_within(x, 3, 0.3, box), by_brute_force(x, 3, 0.3, box));
}

// 1e5 nodes of four neighbours each; brute force would look at 5e9 pairs.
TEST(PairsWithin, many_nodes_are_found_in_time_that_grows_as_their_number) {
  const auto x = cloud(3, 100000, 0.0, 1.0, 16);
  const double distance = std::cbrt(4.0 / (100000.0 * 4.0 / 3.0 * 3.14159265358979));
  const auto pairs = pairs_within(x, 3, distance, Box({1.0, 1.0, 1.0}));
  EXPECT_NEAR(static_cast<double>(pairs.size()), 2e5, 3e3);  // counted once; six deviations
  EXPECT_TRUE(std::ranges::is_sorted(pairs));
  EXPECT_EQ(std::ranges::adjacent_find(pairs), pairs.end());
}

TEST(PairsWithin, nodes_at_one_place_are_pairs_and_none_or_one_are_not) {
  EXPECT_EQ(pairs_within(std::vector<double>(9, 0.5), 3, 1e-3), all_pairs(3));
  EXPECT_TRUE(pairs_within(std::vector<double>{}, 3, 1.0).empty());
  EXPECT_TRUE(pairs_within(std::vector<double>{1.0, 2.0}, 2, 1.0).empty());
}

TEST(PairsWithin, another_distance_has_other_pairs) {  // control: the comparisons above can tell
  const auto x = cloud(3, 300, -0.7, 0.9, 11);
  EXPECT_NE(pairs_within(x, 3, 0.45), by_brute_force(x, 3, 0.44));
}

TEST(PairsWithin, refuse_what_cannot_be) {
  const std::vector<double> x = {0.0, 0.0, 1.0, NAN};
  EXPECT_THROW(pairs_within(x, 2, 1.0), InputError);
  const std::vector<double> fine = {0.0, 0.0, 1.0, 1.0};
  for (const double distance : {0.0, -1.0, std::nan(""), static_cast<double>(INFINITY)})
    EXPECT_THROW(pairs_within(fine, 2, distance), InputError);
  EXPECT_THROW(pairs_within(fine, 2, 1.1, Box({2.0, std::nullopt, std::nullopt})), InputError);
  EXPECT_NO_THROW(pairs_within(fine, 2, 1.0, Box({2.0, std::nullopt, std::nullopt})));
}

}  // namespace
}  // namespace tempi
