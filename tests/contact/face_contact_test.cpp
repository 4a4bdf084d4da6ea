// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/face_contact.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tempi/contact/face_crossing.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Points = TwoTriangles<double>;

// Where the edges of each triangle pass through the other, by solving p + s (q - p) = a + beta (b - a) + gamma (c - a).
std::vector<Point3<double>> piercings(const Points& x, std::array<int, 2>& of_triangle) {
  using namespace crossing;
  std::vector<Point3<double>> found;
  for (const std::size_t t : {std::size_t{0}, std::size_t{3}})
    for (std::size_t i = 0; i < 3; ++i) {
      const auto &p = x[t + i], &q = x[t + (i + 1) % 3], &a = x[3 - t], &b = x[4 - t], &c = x[5 - t];
      const Point3<double> d = q - p, e = b - a, f = c - a, r = p - a;
      const auto det = [](const Point3<double>& u, const Point3<double>& v, const Point3<double>& w) {
        return u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) +
               u[2] * (v[0] * w[1] - v[1] * w[0]);
      };
      const Point3<double> minus = {-d[0], -d[1], -d[2]};
      const double D = det(minus, e, f), s = det(r, e, f) / D, beta = det(minus, r, f) / D,
                   gamma = det(minus, e, r) / D;
      if (s < 0.0 || s > 1.0 || beta < 0.0 || gamma < 0.0 || beta + gamma > 1.0) continue;
      found.push_back({p[0] + s * d[0], p[1] + s * d[1], p[2] + s * d[2]});
      ++of_triangle[t / 3];
    }
  return found;
}

Points drawn(std::mt19937& random) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  Points x;
  for (auto& p : x)
    for (double& c : p) c = unit(random);
  return x;
}

double half_of(const Points& x) {
  const auto found = find_crossing(x);
  Points g{};
  return found ? half_squared_length(x, *found, g) : 0.0;
}

TEST(FaceCrossing, IsWhereEdgesPassThroughFaces) {
  std::mt19937 random(1);
  std::array<int, 3> types{};  // both ends of one triangle's edges, of the other's, one of each
  int apart = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Points x = drawn(random);
    std::array<int, 2> of{};
    const auto expected = piercings(x, of);
    const auto found = find_crossing(x);
    ASSERT_EQ(expected.size(), found ? 2u : 0u) << i;
    if (!found) {
      ++apart;
      continue;
    }
    ++types[of[0] == 2 ? 0 : of[1] == 2 ? 1 : 2];
    const auto d = expected[0] - expected[1];
    EXPECT_NEAR(half_of(x), 0.5 * dot(d, d), 1e-13);
  }
  for (const int count : types) EXPECT_GT(count, 300);
  EXPECT_GT(apart, 5000);
}

TEST(FaceCrossing, KnowsFacesThatDoNotCross) {
  const Points face = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
  const auto with = [&](const Point3<double>& a, const Point3<double>& b, const Point3<double>& c) {
    Points x = face;
    x[3] = a, x[4] = b, x[5] = c;
    return find_crossing(x).has_value();
  };
  EXPECT_FALSE(with({0, 0, 1}, {1, 0, 1}, {0, 1, 1}));                 // above
  EXPECT_FALSE(with({0.1, 0.1, 0}, {0.8, 0.1, 0}, {0.1, 0.8, 0}));     // in the same plane
  EXPECT_FALSE(with({0.2, 0.2, 1}, {0.4, 0.2, 1}, {0.2, 0.2, 0}));     // a vertex on it
  EXPECT_FALSE(with({2, 2, -1}, {3, 2, 1}, {2, 3, 1}));                // through its plane, beside it
  EXPECT_TRUE(with({0.2, 0.2, 1}, {0.4, 0.2, 1}, {0.2, 0.2, -1e-9}));  // a vertex through it
  EXPECT_NEAR(half_of({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.1, 0.2, -1}, {0.3, 0.2, 1}, {-0.1, 0.2, 1}}}),
              0.5 * 0.2 * 0.2, 1e-15);
}

TEST(FaceCrossing, ItsDerivativeIsThatOfDifferences) {
  std::mt19937 random(2);
  double worst = 0.0;
  int count = 0;
  for (int i = 0; i < 3000; ++i) {
    Points x = drawn(random);
    const auto found = find_crossing(x);
    if (!found) continue;
    Points g{}, none{};
    half_squared_length(x, *found, g);
    double size = 0.0, error = 0.0;
    for (auto& p : g)
      for (const double c : p) size = std::max(size, std::abs(c));
    const double h = 1e-6;
    for (std::size_t k = 0; k < 18; ++k) {  // of the same edges: where others take over there is a kink
      double& c = x[k / 3][k % 3];
      const double at = c;
      c = at + h;
      const double up = half_squared_length(x, *found, none);
      c = at - h;
      const double down = half_squared_length(x, *found, none);
      c = at;
      error = std::max(error, std::abs((up - down) / (2.0 * h) - g[k / 3][k % 3]));
    }
    if (size > 50.0) continue;  // nearly parallel: differences are too coarse
    worst = std::max(worst, error / std::max(size, 0.1));
    ++count;
    // Neither pushes nor turns the two together.
    for (std::size_t c = 0; c < 3; ++c) {
      double force = 0.0, moment = 0.0;
      for (std::size_t a = 0; a < 6; ++a) {
        force += g[a][c];
        moment += x[a][(c + 1) % 3] * g[a][(c + 2) % 3] - x[a][(c + 2) % 3] * g[a][(c + 1) % 3];
      }
      EXPECT_NEAR(force, 0.0, 1e-12 * (1.0 + size));
      EXPECT_NEAR(moment, 0.0, 1e-12 * (1.0 + size * size));
    }
  }
  EXPECT_GT(count, 500);
  EXPECT_LT(worst, 1e-5);
}

TEST(FaceCrossing, ChangesItsTypeContinuously) {
  std::mt19937 random(3);
  int changes = 0;
  for (int i = 0; i < 4000; ++i) {
    Points x = drawn(random);
    const Points v = drawn(random);
    auto before = find_crossing(x);
    double V = half_of(x);
    for (int k = 0; k < 400; ++k) {
      for (std::size_t a = 0; a < 6; ++a)
        for (std::size_t c = 0; c < 3; ++c) x[a][c] += 1e-5 * v[a][c];
      const auto now = find_crossing(x);
      const double next = half_of(x);
      Points g{};
      double slope = 1.0;
      if (now) half_squared_length(x, *now, g);
      for (const auto& p : g)
        for (const double c : p) slope = std::max(slope, std::abs(c));
      const bool changed =
          before && now && before->ends[0].p + 6 * before->ends[1].p != now->ends[0].p + 6 * now->ends[1].p;
      if (changed || before.has_value() != now.has_value()) {
        ++changes;
        EXPECT_NEAR(next, V, 18e-5 * slope * 2.0);
      }
      before = now;
      V = next;
    }
  }
  EXPECT_GT(changes, 20);
}

// Two tetrahedra, one with a corner in a face of the other.
struct TwoBodies {
  std::vector<double> X = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1, 0.2, 0.2, 0.01, 0.5, 0.2, 1, 0.2, 0.5, 1, 0.1, 0.1, 1};
  static std::vector<SurfaceTriangle> faces(int first) {
    std::vector<SurfaceTriangle> result;
    for (const auto& f : local_facets(CellType::tetrahedron4))
      result.push_back({make_id<NodeId>(first + f.nodes[0]), make_id<NodeId>(first + f.nodes[1]),
                        make_id<NodeId>(first + f.nodes[2])});
    return result;
  }
  std::unique_ptr<FaceContact> contact = make_face_contact(X, faces(0), faces(4), 1e-3, 0.2);
};

TEST(FaceContact, SumsCrossingsAndItsFastFormDoesToo) {
  const TwoBodies two;
  std::vector<double> u(24, 0.0);
  EXPECT_EQ(two.contact->energy(0, u, 0.0), 0.0);
  EXPECT_EQ(two.contact->first_crossing(u), "");
  for (std::size_t a = 4; a < 8; ++a) u[3 * a + 2] = -0.05;
  // The corner is 0.04 deep: its three faces cross the face z = 0 along the triangle that the corner's cone cuts there.
  const auto cut = [&](std::size_t b) {
    const double s = 0.04 / (two.X[3 * b + 2] - 0.01);
    return std::array{0.2 + s * (two.X[3 * b] - 0.2), 0.2 + s * (two.X[3 * b + 1] - 0.2)};
  };
  double V = 0.0;
  const std::array<std::array<double, 2>, 3> c = {cut(5), cut(6), cut(7)};
  for (std::size_t i = 0; i < 3; ++i)
    V += (std::pow(c[i][0] - c[(i + 1) % 3][0], 2) + std::pow(c[i][1] - c[(i + 1) % 3][1], 2)) / 2e-3;
  EXPECT_NEAR(two.contact->energy(0, u, 0.0), V, 1e-13 * V);
  EXPECT_NE(two.contact->first_crossing(u), "");
  EXPECT_LT(check_gradient(*two.contact, 0, u, 0.0, 1e-6), 1e-8);

  const std::vector<std::int32_t> place = {3, 1, 0, 2, 7, 6, 5, 4};
  const auto batch = two.contact->batch(std::vector<Index>{0}, place);
  std::vector<NodeLine> lines(8);
  std::vector<double> energies(16), gradients(16 * 24), g(24, 0.0);
  for (const double deeper : {0.0, -0.3, -0.6, 0.4, -0.05}) {  // beyond the skin, and back
    for (std::size_t a = 4; a < 8; ++a) u[3 * a + 2] = deeper;
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t k = 0; k < 3; ++k) lines[static_cast<std::size_t>(place[a])].displacement[k] = u[3 * a + k];
    batch->measure(0, 1, 0.0, lines, energies, gradients);
    std::ranges::fill(g, 0.0);
    EXPECT_EQ(two.contact->add_gradient(0, u, 0.0, g), 1.0);
    EXPECT_EQ(energies[0], two.contact->energy(0, u, 0.0));
    for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(gradients[i], g[i]);
  }
  EXPECT_GT(energies[0], 0.0);
}

// Along flights it finds what it measures there, whichever nodes may cross: near ones, far ones, forwards and back.
TEST(FaceContact, FindsAlongAFlightWhatItMeasuresThere) {
  const TwoBodies two;
  const std::vector<std::int32_t> place = {3, 1, 0, 2, 7, 6, 5, 4};
  const auto batch = two.contact->batch(std::vector<Index>{0}, place),
             other = two.contact->batch(std::vector<Index>{0}, place);
  const auto row = static_cast<std::size_t>(batch->followed());
  ASSERT_EQ(row, 24u);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  std::vector<double> flight(2 * row), rates(8), kept(row), energies(16), gradients(16 * row);
  int touching = 0, apart = 0;
  for (int i = 0; i < 60; ++i) {
    std::vector<NodeLine> lines(8);
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t c = 0; c < 3; ++c) {
        const double own = 0.01 * unit(random);
        lines[a].displacement[c] = own - (a > 3 && c == 2 ? 0.05 : 0.0);
        lines[a].velocity[c] = unit(random) + (a > 3 && c == 2 ? 2.0 : 0.0);
      }
    batch->depart(0, 1, lines, {}, 0.0, flight);
    for (const double s : {0.0, 1e-4, 0.01, 0.05, 1.0, 0.02, 0.3, 1e-3}) {
      std::ranges::fill(rates, std::nan(""));
      const Batch::Followed found = batch->follow(0, 1, s, flight, rates, kept);
      std::vector<NodeLine> there = lines;
      for (NodeLine& node : there)
        for (std::size_t c = 0; c < 3; ++c) node.displacement[c] += s * node.velocity[c];
      other->measure(0, 1, 0.0, there, energies, gradients);
      (energies[0] > 0.0 ? touching : apart) += 1;
      EXPECT_NEAR(found.V, energies[0], 1e-11 * std::max(1.0, energies[0]));
      EXPECT_EQ(found.magnitude, std::abs(found.V));
      std::vector<double> g(24, 0.0), expected = g;
      batch->add_gradient(0, 1, kept, g);
      double scale = 1.0, sum = 0.0;
      for (std::size_t k = 0; k < 24; ++k) {
        scale = std::max(scale, std::abs(gradients[k]));
        expected[3 * static_cast<std::size_t>(place[k / 3]) + k % 3] = gradients[k];
      }
      for (std::size_t k = 0; k < 24; ++k) EXPECT_NEAR(g[k], expected[k], 1e-9 * scale) << s;
      for (std::size_t a = 0; a < 8; ++a) {
        double rate = 0.0;
        for (std::size_t c = 0; c < 3; ++c)
          rate += expected[3 * static_cast<std::size_t>(place[a]) + c] *
                  lines[static_cast<std::size_t>(place[a])].velocity[c];
        EXPECT_NEAR(rates[a], rate, 1e-9 * scale) << s;
        sum += rate;
      }
      EXPECT_NEAR(found.rate, sum, 1e-8 * scale);
    }
    // Off again with other velocities, where what was kept still holds.
    for (NodeLine& node : lines)
      for (std::size_t c = 0; c < 3; ++c) node.velocity[c] = unit(random);
    std::vector<double> next(2 * row), turned(8);
    batch->depart(0, 1, lines, {}, 0.0, next);
    EXPECT_EQ(batch->turn(0, 1, next, turned, kept).V, 0.0);
    for (std::size_t a = 0; a < 8; ++a) {
      double rate = 0.0;
      for (std::size_t c = 0; c < 3; ++c)
        rate += kept[3 * a + c] * lines[static_cast<std::size_t>(place[a])].velocity[c];
      EXPECT_EQ(turned[a], rate);
    }
  }
  EXPECT_GT(touching, 100);
  EXPECT_GT(apart, 50);
  std::vector<NodeLine> lost(8);
  lost[2].velocity[1] = std::nan("");
  batch->depart(0, 1, lost, {}, 0.0, flight);
  EXPECT_TRUE(std::isnan(batch->follow(0, 1, 0.1, flight, rates, kept).V));
}

TEST(FaceContact, IsSmoothUntilACornerPassesAFaceAndAsFarAsItsListTells) {
  const TwoBodies two;
  std::vector<double> u(24, 0.0), v(24, 0.0);
  const auto move = [&](double speed) {
    for (std::size_t a = 4; a < 8; ++a) v[3 * a + 2] = speed;
  };
  EXPECT_EQ(two.contact->smooth_until(u, v, 0.0, 3.0), 3.0);  // at rest
  move(-2.0);
  EXPECT_NEAR(two.contact->smooth_until(u, v, 0.0, 3.0), 0.005, 1e-15);
  EXPECT_EQ(two.contact->smooth_until(u, v, 0.0, 0.004), 0.004);
  move(2.0);
  EXPECT_NEAR(two.contact->smooth_until(u, v, 0.0, 3.0), 0.5 * 0.2 / 2.0, 1e-9);  // half the skin
  // From where it stands on the face that passage is none to come: the next is what its list tells.
  for (std::size_t a = 4; a < 8; ++a) u[3 * a + 2] = -0.01;
  move(-2.0);
  EXPECT_GT(two.contact->smooth_until(u, v, 1e-12, 3.0), 0.01);
  u[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(two.contact->smooth_until(u, v, 1e-12, 3.0), 1e-12);
}

TEST(FaceContact, ItsPiecesAreItsGradientAndItsHessian) {
  const TwoBodies two;
  std::vector<double> u(24, 0.0);
  for (std::size_t a = 4; a < 8; ++a) u[3 * a + 2] = -0.05 - 0.003 * static_cast<double>(a);
  std::vector<double> g(24, 0.0), sum(24, 0.0), H(24 * 24, 0.0);
  two.contact->add_gradient(0, u, 0.0, g);
  TermKey last{};
  last.fill(NodeId{-1});
  int pieces = 0;
  two.contact->each_present(u, 0.0, [&](const ManyBodySum::Present& term) {
    EXPECT_LT(last, term.key);
    last = term.key;
    ++pieces;
    for (std::size_t i = 0; i < 18; ++i) sum[3 * ordinal(term.nodes[i / 3]) + i % 3] += term.gradient[i];
  });
  EXPECT_EQ(pieces, 3);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_NEAR(sum[i], g[i], 1e-12);
  two.contact->each_hessian_piece(0, u, 0.0, [&](std::span<const NodeId> n, std::span<const double> piece) {
    for (std::size_t i = 0; i < 18; ++i)
      for (std::size_t j = 0; j < 18; ++j)
        H[(3 * ordinal(n[i / 3]) + i % 3) * 24 + 3 * ordinal(n[j / 3]) + j % 3] += piece[i * 18 + j];
  });
  double size = 0.0;
  for (const double value : H) size = std::max(size, std::abs(value));
  const double h = 1e-6;
  for (std::size_t j = 0; j < 24; ++j) {
    std::vector<double> up(24, 0.0), down(24, 0.0), w = u;
    w[j] += h;
    two.contact->add_gradient(0, w, 0.0, up);
    w[j] = u[j] - h;
    two.contact->add_gradient(0, w, 0.0, down);
    for (std::size_t i = 0; i < 24; ++i) EXPECT_NEAR(H[i * 24 + j], (up[i] - down[i]) / (2 * h), 1e-7 * size);
  }
}

TEST(FaceContact, FacesWithACommonNodeAndOfOneSideDoNotPush) {
  const TwoBodies two;
  std::vector<double> u(24, 0.0);
  u[9] = u[10] = -0.5, u[11] = 1.005;  // turned inside out, below the other
  EXPECT_EQ(two.contact->energy(0, u, 0.0), 0.0);
  auto faces = TwoBodies::faces(0);
  const auto more = TwoBodies::faces(4);
  faces.insert(faces.end(), more.begin(), more.end());
  std::ranges::reverse(faces);
  const auto all = make_face_contact(two.X, faces, {}, 1e-3, 0.2);
  EXPECT_EQ(all->energy(0, u, 0.0), 0.0);
  std::ranges::fill(u, 0.0);
  for (std::size_t a = 4; a < 8; ++a) u[3 * a + 2] = -0.05;
  EXPECT_EQ(all->energy(0, u, 0.0), two.contact->energy(0, u, 0.0));
  EXPECT_EQ(make_face_contact(two.X, TwoBodies::faces(4), TwoBodies::faces(4), 1e-3)->energy(0, u, 0.0), 0.0);
}

TEST(FaceContact, RefusesWhatCannotBe) {
  const TwoBodies two;
  EXPECT_THROW(make_face_contact(two.X, TwoBodies::faces(0), TwoBodies::faces(4), 0.0), InputError);
  EXPECT_THROW(make_face_contact(two.X, TwoBodies::faces(0), TwoBodies::faces(4), -1.0), InputError);
  EXPECT_THROW(make_face_contact(two.X, TwoBodies::faces(0), TwoBodies::faces(4), 1.0, -0.1), InputError);
  EXPECT_THROW(make_face_contact(two.X, {}, {}, 1.0), InputError);
  EXPECT_THROW(make_face_contact(two.X, {{NodeId{0}, NodeId{1}, NodeId{1}}}, TwoBodies::faces(4), 1.0), InputError);
  std::vector<double> u(24, 0.0);
  u[5] = std::nan("");
  EXPECT_TRUE(std::isnan(two.contact->energy(0, u, 0.0)));
}

}  // namespace
}  // namespace tempi
