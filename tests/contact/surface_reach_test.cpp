// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tempi/contact/closest_points.hpp"
#include "tempi/contact/contact_surface.hpp"

namespace tempi {
namespace {

// Pairs of faces thrown at random, each pair a part of two faces on a common edge.
ContactSurface drawn(std::mt19937& draw, int parts) {
  std::uniform_real_distribution<double> anywhere(0.0, 1.0), near(-0.05, 0.05);
  ContactSurface surface(3);
  for (int p = 0; p < parts; ++p) {
    const std::array<double, 3> middle = {anywhere(draw), anywhere(draw), 0.2 * anywhere(draw)};
    std::array<std::int32_t, 4> v{};
    for (std::size_t k = 0; k < 4; ++k) {
      ContactSurface::Vertex vertex;
      vertex.node = make_id<NodeId>(4 * p + static_cast<Index>(k));
      for (std::size_t c = 0; c < 3; ++c) vertex.place[c] = middle[c] + near(draw);
      v[k] = surface.add_vertex(vertex);
    }
    surface.add_simplex({v[0], v[1], v[2]}, ContactSurface::both);
    surface.add_simplex({v[1], v[2], v[3]}, ContactSurface::both);
  }
  surface.finish();
  return surface;
}

// Of each vertex to the nearest face of another part. Four nodes, one after the other, are a part.
std::vector<double> distances(const ContactSurface& surface) {
  const auto vertices = surface.vertices();
  std::vector<std::array<double, 3>> place(vertices.size());  // of the nodes
  for (const ContactSurface::Vertex& vertex : vertices) place[ordinal(vertex.node)] = vertex.place;
  std::vector<double> of;
  for (const ContactSurface::Vertex& vertex : vertices) {
    double& nearest = of.emplace_back(1e9);
    for (std::size_t first = 0; first < place.size(); first += 4)
      for (const std::size_t k : {first, first + 1}) {
        if (first == ordinal(vertex.node) / 4 * 4) continue;
        const std::array<std::array<double, 3>, 4> x = {vertex.place, place[k], place[k + 1], place[k + 2]};
        nearest = std::min(nearest, closest_points({1, 3}, x).distance);
      }
  }
  return of;
}

TEST(NearOthers, AreAllWithinReachAndFewBeyond) {
  std::mt19937 draw(7);
  int within = 0, beyond = 0, too_many = 0;
  for (int k = 0; k < 40; ++k) {
    const ContactSurface surface = drawn(draw, 10 + k % 5);
    const double reach = 0.02 + 0.01 * (k % 9), cell = std::max(reach / 8.0, 1.1 / 96.0);
    const std::vector<char> near = surface.near_others(reach);
    const std::vector<double> distance = distances(surface);
    for (std::size_t v = 0; v < near.size(); ++v) {
      within += distance[v] <= reach ? 1 : 0;
      if (distance[v] <= reach) {
        EXPECT_EQ(near[v], 1) << k << ' ' << v;
      }
      // Boxes of faces are as much larger than these as they are long.
      if (distance[v] > 2.0 * reach + 8.0 * cell + 0.2) {
        EXPECT_EQ(near[v], 0) << k << ' ' << v;
      }
      beyond += distance[v] > reach + 4.0 * cell ? 1 : 0;
      too_many += distance[v] > reach + 4.0 * cell && near[v] != 0 ? 1 : 0;
    }
  }
  EXPECT_GT(within, 150);
  EXPECT_GT(beyond, 400);
  EXPECT_LT(too_many, beyond / 2);
}

TEST(NearOthers, AreEverybodyWhereReachIsAsLargeAsAllOrSomethingIsHollow) {
  std::mt19937 draw(7);
  ContactSurface surface = drawn(draw, 6);
  const auto all = [](const std::vector<char>& near) {
    return std::ranges::all_of(near, [](char c) { return c == 1; });
  };
  EXPECT_FALSE(all(surface.near_others(0.01)));
  EXPECT_TRUE(all(surface.near_others(2.0)));
  EXPECT_TRUE(all(surface.near_others(std::numeric_limits<double>::infinity())));
  ContactSurface::Vertex centre;
  centre.radius = 3.0;
  surface.add_hollow({surface.add_vertex(centre), -1});
  EXPECT_TRUE(all(surface.near_others(0.01)));
}

}  // namespace
}  // namespace tempi
