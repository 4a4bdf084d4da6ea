// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/space_filling_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "support/lattice.hpp"

namespace tempi {
namespace {

// The points of a lattice of 2^k points a side, shuffled.
std::vector<double> lattice(int dim, int k, double spacing, double origin) {
  const std::size_t n = std::size_t{1} << k;
  std::vector<std::size_t> order(static_cast<std::size_t>(std::pow(n, dim)));
  std::iota(order.begin(), order.end(), std::size_t{0});
  test::Random random(7);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<Index>(i)))]);
  std::vector<double> points;
  for (std::size_t place : order)
    for (int c = 0; c < dim; ++c) {
      points.push_back(origin + spacing * static_cast<double>(place % n));
      place /= n;
    }
  return points;
}

std::vector<std::size_t> by_key(const std::vector<std::uint64_t>& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return keys[i]; });
  return order;
}

// The property that makes the curve Hilbert's: it never jumps.
TEST(HilbertKeys, of_a_regular_lattice_lead_from_neighbour_to_neighbour_through_all_points) {
  for (const int dim : {1, 2, 3})
    for (int k = 1; k <= (dim == 3 ? 5 : dim == 2 ? 8 : 12); ++k)
      for (const auto& [spacing, origin] : {std::pair{1.0, 0.0}, std::pair{0.37, -5.3}, std::pair{1e-6, 2.0}}) {
        SCOPED_TRACE(testing::Message() << dim << "-D, k = " << k << ", spacing " << spacing);
        const std::vector<double> points = lattice(dim, k, spacing, origin);
        const std::vector<std::uint64_t> keys = hilbert_keys(points, dim);
        const std::vector<std::size_t> order = by_key(keys);
        const auto d = static_cast<std::size_t>(dim);
        for (std::size_t i = 1; i < order.size(); ++i) {
          ASSERT_LT(keys[order[i - 1]], keys[order[i]]);
          double distance = 0.0;
          for (std::size_t c = 0; c < d; ++c)
            distance += std::abs(points[order[i] * d + c] - points[order[i - 1] * d + c]);
          ASSERT_NEAR(distance / spacing, 1.0, 1e-8) << i;  // coordinates 2e6 spacings from zero: 4e-10 of one
        }
      }
}

TEST(HilbertKeys, in_one_dimension_ascend_with_the_coordinate) {
  std::vector<double> points;
  test::Random random(3);
  for (int i = 0; i < 1000; ++i) points.push_back(random.uniform(-3.0, 8.0));
  std::ranges::sort(points);
  EXPECT_TRUE(std::ranges::is_sorted(hilbert_keys(points, 1)));
}

TEST(HilbertKeys, do_not_depend_on_the_scale_or_the_place_of_the_points) {
  std::vector<double> points, other;
  test::Random random(4);
  for (int i = 0; i < 3000; ++i) points.push_back(static_cast<double>(random.below(1024)));
  for (const double x : points) other.push_back(0.25 * x - 64.0);  // exact
  EXPECT_EQ(hilbert_keys(points, 3), hilbert_keys(other, 3));
}

TEST(HilbertKeys, differ_for_points_a_millionth_of_the_box_apart) {
  const std::vector<double> points = {0.0, 0.0, 1.0, 0.2, 0.5, 0.1, 0.5 + 2e-6, 0.1, 0.5, 0.1 + 2e-6};
  std::vector<std::uint64_t> keys = hilbert_keys(points, 2);
  std::ranges::sort(keys);
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
}

TEST(HilbertKeys, of_points_that_coincide_are_equal) {
  const std::vector<std::uint64_t> keys = hilbert_keys(std::vector<double>{1.0, 2.0, 3.0, 1.0, 2.0, 3.0}, 3);
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0], keys[1]);
  EXPECT_TRUE(hilbert_keys({}, 3).empty());
}

}  // namespace
}  // namespace tempi
