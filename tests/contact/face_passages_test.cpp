// SPDX-License-Identifier: Apache-2.0
// When flying triangles begin to cross, cease to, or cross otherwise: against how they cross at many times.
#include "tempi/contact/face_passages.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tempi {
namespace {

using Points = TwoTriangles<double>;

constexpr double never = std::numeric_limits<double>::infinity();
const Points flat = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.2, 0.5}, {0.8, 0.1, 2}, {0.1, 0.9, 2}}};

Points falling(const std::array<double, 3>& v) {
  Points w{};
  for (std::size_t i = 3; i < 6; ++i) w[i] = v;
  return w;
}

TEST(FacePassages, knows_when_a_vertex_passes_a_face) {
  EXPECT_NEAR(first_passage(flat, falling({0, 0, -2}), 0.0, 1.0), 0.25, 1e-16);
  EXPECT_EQ(first_passage(flat, falling({0, 0, -2}), 0.0, 0.2), never);
  EXPECT_EQ(first_passage(flat, falling({0, 0, 2}), 0.0, 1.0), never);
  EXPECT_EQ(first_passage(flat, falling({0, 0, 0}), 0.0, 1.0), never);
  EXPECT_EQ(first_passage(flat, falling({4, 0, -2}), 0.0, 0.3), never);  // through the plane, beside the triangle
  EXPECT_GT(first_passage(flat, falling({0, 0, -2}), 0.25, 1.0), 0.26);
}

TEST(FacePassages, knows_when_an_edge_passes_an_edge) {
  // y = 0 from x = 0 to 1 at rest; x = 0.4 from y = -1 to 1 comes down, the triangle's third vertex far above.
  const Points x = {{{0, 0, 0}, {1, 0, 0}, {0.5, 0, -1}, {0.4, -1, 0.3}, {0.4, 1, 0.3}, {0.4, 0, 5}}};
  EXPECT_NEAR(first_passage(x, falling({0, 0, -1}), 0.0, 1.0), 0.3, 1e-15);
  Points beside = x;
  for (std::size_t i = 3; i < 6; ++i) beside[i][0] += 0.7;
  EXPECT_EQ(first_passage(beside, falling({0, 0, -1}), 0.0, 1.0), never);
}

std::array<std::size_t, 6> way_of_crossing(const Points& x, const Points& v, double s) {
  Points at = x;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t c = 0; c < 3; ++c) at[i][c] += s * v[i][c];
  const auto found = find_crossing(at);
  if (!found) return {};
  std::array<std::size_t, 6> way{};
  for (std::size_t e = 0; e < 2; ++e) {
    const crossing::End& end = found->ends[e];
    way[e] = 1 + 36 * end.a + 6 * std::min(end.p, end.q) + std::max(end.p, end.q);
  }
  if (way[0] > way[1]) std::swap(way[0], way[1]);
  return way;
}

// Between passages they cross as they do; at each that changes.
TEST(FacePassages, are_where_the_way_of_crossing_changes_and_only_there) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  int passages = 0, without_change = 0, crossed = 0;
  for (int i = 0; i < 4000; ++i) {
    Points x, v;
    for (auto* points : {&x, &v})
      for (auto& p : *points)
        for (double& c : p) c = unit(random);
    std::vector<double> at;
    double last = 0.0;
    while ((last = first_passage(x, v, last, 1.0)) < never) {
      at.push_back(last);
      ASSERT_LT(at.size(), 60u);
      last += 1e-12;
    }
    passages += static_cast<int>(at.size());
    for (const double s : at) without_change += way_of_crossing(x, v, s - 1e-9) == way_of_crossing(x, v, s + 1e-9);
    at.push_back(1.0);
    double begin = 0.0;
    for (const double end : at) {
      const auto expected = way_of_crossing(x, v, 0.5 * (begin + end));
      crossed += expected[0] != 0;
      for (int k = 1; k < 50; ++k)
        ASSERT_EQ(way_of_crossing(x, v, begin + (end - begin) * (1e-6 + 0.02 * k)), expected) << i << ' ' << k;
      begin = end;
    }
  }
  EXPECT_GT(passages, 4000);
  EXPECT_GT(crossed, 2000);
  EXPECT_EQ(without_change, 0);
}

}  // namespace
}  // namespace tempi
