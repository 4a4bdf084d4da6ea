// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/layered_contact.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "support/touching.hpp"
#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using namespace test;
using Point = std::array<double, 3>;

TEST(LayerLaw, BarriersDoubleAndStepsHalve) {
  for (const double p : {2.0, 2.5, 3.0, 4.0}) {
    const LayerLaw law{0.02, 0.005, 7e3, p};
    for (int l = 0; l < 20; ++l) {
      EXPECT_NEAR(law.barrier(l + 1) / law.barrier(l), 2.0, 1e-12);
      EXPECT_NEAR(law.curvature(l + 1) / law.curvature(l), 4.0, 1e-12);
      EXPECT_GT(law.distance(l), law.distance(l + 1));
      EXPECT_GT(law.distance(l), law.inner);
      const double d = law.inner + 0.3 * law.depth(l), h = 1e-5 * law.depth(l);
      EXPECT_NEAR((law.at(l, d - h).energy - law.at(l, d + h).energy) / (2 * h), law.at(l, d).force,
                  1e-8 * law.at(l, d).force);
      EXPECT_EQ(law.at(l, law.distance(l)).force, 0.0);
    }
  }
}

TEST(ClosestPoints, AreThoseOfASearch) {
  Random random(1);
  for (const SimplexPair pair : {SimplexPair{1, 1}, SimplexPair{1, 2}, SimplexPair{1, 3}, SimplexPair{2, 2}})
    for (int i = 0; i < 300; ++i) {
      std::array<Point, 4> x{};
      for (auto& p : x)
        for (double& c : p) c = random.uniform(-1, 1);
      if (i % 5 == 0) x[3] = x[2];
      const auto used = std::span(x).first(static_cast<std::size_t>(pair.size()));
      const ClosestPoints found = closest_points(pair, used);
      double least = 1e9;
      for (int j = 0; j < 4000; ++j) {  // random points of both
        std::array<double, 4> w{};
        const auto first = static_cast<std::size_t>(pair.first), n = used.size();
        double a = 0.0, b = 0.0;
        for (std::size_t k = 0; k < n; ++k) (k < first ? a : b) += w[k] = -std::log(random.uniform(1e-12, 1));
        Point d{};
        for (std::size_t k = 0; k < n; ++k)
          for (std::size_t c = 0; c < 3; ++c) d[c] += (k < first ? w[k] / a : -w[k] / b) * x[k][c];
        least = std::min(least, std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
      }
      EXPECT_LE(found.distance, least * (1 + 1e-12));
      EXPECT_NEAR(found.distance, least, 0.12);
      double sum = 0.0;
      for (const double w : found.weight) sum += w;
      EXPECT_NEAR(sum, 0.0, 1e-15);
    }
}

// A surface of one simplex of each side.
LayeredContact one_pair(SimplexPair pair, std::span<const Point> x, const LayerOptions& options) {
  ContactSurface surface(pair.first == 1 && pair.second == 2 ? 2 : 3);
  for (std::size_t i = 0; i < 4; ++i) {
    ContactSurface::Vertex v;
    v.node = make_id<NodeId>(static_cast<Index>(i));
    v.place = x[i];
    v.radius = pair.within && i > 0 ? 1.8 : 0.0;
    surface.add_vertex(v);
  }
  const std::vector<double> masses(4, 1.0);
  return LayeredContact(std::move(surface), options, masses, "pair");
}
ContactPair all_of(SimplexPair kind) {
  ContactPair pair{kind};
  for (std::int32_t i = 0; i < kind.size(); ++i) pair.vertex[static_cast<std::size_t>(i)] = i;
  return pair;
}

// The gradient by differences, and what it keeps; edges from square to nearly parallel.
TEST(LayeredContact, PushesAreTheGradientAndKeepMomenta) {
  Random random(2);
  int tested = 0, nearly_parallel = 0;
  for (const SimplexPair kind : {SimplexPair{1, 1}, SimplexPair{1, 2}, SimplexPair{1, 3}, SimplexPair{2, 2},
                                 SimplexPair{1, 1, true}, SimplexPair{1, 2, true}})
    for (int i = 0; i < 200; ++i) {
      std::array<Point, 4> x{}, rest{};
      for (auto& p : x)
        for (double& c : p) c = random.uniform(-1, 1);
      if (kind.first == 2 && i % 2 == 0) {  // crossing at a small angle
        const double turn = random.uniform(0.01, 0.04), wide = random.uniform(0.3, 0.6);
        x = {Point{-0.5, 0, 0}, Point{0.5, 0, 0}, Point{-wide, -wide * turn, 0.3}, Point{wide, wide * turn, 0.3}};
      }
      rest = {Point{0, 0, 0}, Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}};
      const LayeredContact contact = one_pair(kind, rest, layers_of(1.5, 3.0));
      const auto constants = contact.constants(all_of(kind));
      const auto n = static_cast<std::size_t>(kind.size());
      const auto push = [&](const std::array<Point, 4>& at) {
        return contact.push(kind, constants, std::span(at).first(n), 0, 4, [](int l) { return 1.0 + l; });
      };
      const auto here = push(x);
      if (here.touched == 0) continue;
      ++tested;
      double largest = 0.0, worst = 0.0;
      Point sum{}, moment{};
      for (std::size_t k = 0; k < n; ++k) {
        const Point &p = here.impulse[k], &r = x[k];
        for (std::size_t c = 0; c < 3; ++c) {
          constexpr double h = 1e-6;
          auto up = x, down = x;
          up[k][c] += h;
          down[k][c] -= h;
          const double difference = (push(down).energy - push(up).energy) / (2 * h);
          largest = std::max(largest, std::abs(difference));
          worst = std::max(worst, std::abs(difference - p[c]));
          sum[c] += p[c];
          moment[c] += r[(c + 1) % 3] * p[(c + 2) % 3] - r[(c + 2) % 3] * p[(c + 1) % 3];
        }
      }
      nearly_parallel += kind.first == 2 && i % 2 == 0 && here.energy > 0.0 ? 1 : 0;
      EXPECT_LT(worst, 1e-7 * std::max(1.0, largest)) << int{kind.first} << int{kind.second} << " " << i;
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(sum[c], 0.0, 1e-13 * (1.0 + largest));
        EXPECT_NEAR(moment[c], 0.0, 1e-12 * (1.0 + largest));
      }
    }
  EXPECT_GT(tested, 400);
  EXPECT_GT(nearly_parallel, 50);
}

// A control: without the factor the force of edges jumps where they become parallel.
TEST(LayeredContact, EdgesThatBecomeParallelPushWithoutAJump) {
  const std::array<Point, 4> square = {Point{0, 0, 0}, Point{1, 0, 0}, Point{0, 0, 0}, Point{0, 1, 0}};
  const LayeredContact contact = one_pair({2, 2}, square, layers_of(1.0, 1.0));
  const auto constants = contact.constants(all_of({2, 2}));
  const auto at = [&](double turn) {
    const std::array<Point, 4> x = {Point{0, 0, 0}, Point{1, 0, 0}, Point{0, 0.2 - 0.5 * turn, 0},
                                    Point{1, 0.2 + 0.5 * turn, 0}};
    return std::pair(contact.push({2, 2}, constants, x, 0, 2, [](int) { return 1.0; }), closest_points({2, 2}, x));
  };
  const auto [left, left_points] = at(-1e-12);
  const auto [right, right_points] = at(1e-12);
  EXPECT_GT(std::abs(left_points.weight[0] - right_points.weight[0]), 0.9);  // the points jump
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(left.impulse[i][c], right.impulse[i][c], 1e-8);
}

TEST(ContactSurface, FindsEachPairOnce) {
  const Mesh mesh =
      beside(tetrahedron_mesh(CellType::tetrahedron4, 2), tetrahedron_mesh(CellType::tetrahedron4, 1), {0.0, 0.0, 1.5});
  SurfaceBuilder builder(mesh);
  builder.add_facets(mesh, boundary_facets(mesh), ContactSurface::both);
  ContactSurface surface = std::move(builder).build();
  surface.finish();
  EXPECT_EQ(surface.face_count(), 48u + 12u);
  EXPECT_EQ(surface.edge_count(), 72u + 18u);
  std::vector<Bounds> boxes(surface.vertices().size());
  for (auto& box : boxes) box.take(Point{});
  ContactSurface::Search search;
  std::vector<ContactPair> pairs;
  surface.find_pairs(boxes, search, pairs);
  EXPECT_EQ(std::ranges::adjacent_find(pairs), pairs.end());
  const auto faces = static_cast<std::ptrdiff_t>(surface.face_count());
  const auto vertices = std::ssize(surface.vertices());
  const auto of_faces = std::ranges::count_if(pairs, [](const ContactPair& p) { return p.kind == SimplexPair{1, 3}; });
  EXPECT_EQ(of_faces, vertices * faces - 3 * faces);
  // Edges without a common vertex: all pairs less those at each vertex.
  std::vector<std::array<std::int32_t, 2>> edges;
  for (const ContactPair& p : pairs)
    if (p.kind == SimplexPair{2, 2})
      for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) edges.push_back({p.vertex[i], p.vertex[i + 1]});
  make_distinct(edges);
  ASSERT_EQ(edges.size(), surface.edge_count());
  std::vector<std::ptrdiff_t> at(surface.vertices().size(), 0);
  for (const auto& e : edges)
    for (const std::int32_t v : e) ++at[static_cast<std::size_t>(v)];
  std::ptrdiff_t apart = std::ssize(edges) * (std::ssize(edges) - 1) / 2;
  for (const std::ptrdiff_t k : at) apart -= k * (k - 1) / 2;
  EXPECT_EQ(std::ssize(pairs) - of_faces, apart);
}

TEST(LayeredContact, SaysWhoIsTooClose) {
  const Mesh mesh = beside(tetrahedron_mesh(CellType::tetrahedron4, 1), tetrahedron_mesh(CellType::tetrahedron4, 1),
                           {0.0, 0.0, 1.01});
  const std::vector<double> masses(static_cast<std::size_t>(mesh.node_count()), 1.0);
  const auto contact = contact_of(mesh, layers_of(0.02, 1.0), masses);
  std::vector<Point> x;
  for (const auto& v : contact->surface().vertices()) x.push_back(v.place);
  const std::string said = too_close(*contact, x, 0.02);
  EXPECT_NE(said.find("0.01 m apart"), std::string::npos) << said;
  EXPECT_NE(said.find("node"), std::string::npos) << said;
  EXPECT_EQ(too_close(*contact, x, 0.009), "");
}

TEST(LayeredContact, RefusesWhatCannotBe) {
  const std::array<Point, 4> x{};
  const auto with = [&](auto&& edit) {
    LayerOptions options = layers_of(1.0, 1.0);
    edit(options);
    one_pair({1, 3}, x, options);
  };
  EXPECT_THROW(with([](LayerOptions& o) { o.law.inner = 1.0; }), InputError);
  EXPECT_THROW(with([](LayerOptions& o) { o.law.inner = 0.0; }), InputError);
  EXPECT_THROW(with([](LayerOptions& o) { o.law.stiffness = -1.0; }), InputError);
  EXPECT_THROW(with([](LayerOptions& o) { o.law.exponent = 1.5; }), InputError);
  EXPECT_THROW(with([](LayerOptions& o) { o.alpha = 0.0; }), InputError);
  EXPECT_THROW(with([](LayerOptions& o) { o.friction = -0.1; }), InputError);
  EXPECT_THROW(with([](LayerOptions& o) { o.restitution = 1.1; }), InputError);
  EXPECT_NO_THROW(with([](LayerOptions&) {}));
}

}  // namespace
}  // namespace tempi
