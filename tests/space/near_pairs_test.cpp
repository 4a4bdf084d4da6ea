// SPDX-License-Identifier: Apache-2.0
#include "tempi/space/near_pairs.hpp"

#include <gtest/gtest.h>

#include "support/lattice.hpp"

namespace tempi {
namespace {

using Vector = std::array<double, 3>;

double distance(const Vector& a, const Vector& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

// A list holds what comes within reach as long as no two nodes have neared each other by more than the skin.
TEST(Reach, is_exceeded_before_two_nodes_have_neared_each_other_by_the_skin) {
  const Reach reach{1.0, 0.2};
  test::Random random(3);
  const auto part = [&] { return random.uniform(-1.0, 1.0); };
  int kept = 0, kept_far_away = 0;
  for (int draw = 0; draw < 2000; ++draw) {
    std::vector<Vector> moved(2 + static_cast<std::size_t>(draw) % 9);
    const double far = draw % 2 == 0 ? 0.0 : 50.0, near = 0.15 * (part() + 1.0);
    const Vector common = {far * part(), far * part(), far * part()};
    for (Vector& of : moved)
      for (std::size_t c = 0; c < 3; ++c) of[c] = common[c] + near * part();
    if (reach.exceeded_by(moved.size(), [&](std::size_t i) { return moved[i]; })) continue;
    ++kept;
    if (std::hypot(common[0], common[1], common[2]) > reach.skin) ++kept_far_away;
    for (const Vector& a : moved)
      for (const Vector& b : moved) ASSERT_LE(distance(a, b), reach.skin);
  }
  EXPECT_GT(kept, 400);  // or nothing was shown
  EXPECT_GT(kept_far_away, 200);
}

TEST(Reach, is_exceeded_by_one_node_among_many_and_by_what_is_no_number) {
  const Reach reach{1.0, 0.2};
  std::vector<Vector> moved(1000, Vector{7.0, 0.0, -3.0});
  const auto exceeded = [&] { return reach.exceeded_by(moved.size(), [&](std::size_t i) { return moved[i]; }); };
  EXPECT_FALSE(exceeded());
  moved[412][1] = 0.099;
  EXPECT_FALSE(exceeded());
  moved[412][1] = 0.101;
  EXPECT_TRUE(exceeded());
  moved[412][1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(exceeded());
}

}  // namespace
}  // namespace tempi
