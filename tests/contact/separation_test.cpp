// SPDX-License-Identifier: Apache-2.0
// Certified separation, held against pairs whose closeness is exact by construction: all numbers are whole multiples of
// a power of two, small enough that sums and products of the witness are exact.
#include "tempi/contact/separation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {
namespace {

using Point = std::array<double, 3>;

constexpr SimplexPair vertex_face{1, 3}, edges{2, 2}, vertex_edge{1, 2}, vertices{1, 1};

struct Query {
  SimplexPair pair{1, 1};
  std::array<std::array<Bend, 2>, 4> paths{};
  std::array<std::vector<Bend>, 4> bent_paths{};
  double distance = 0.0;

  bool closer() const {
    std::array<Path, 4> views;
    for (std::size_t i = 0; i < 4; ++i) views[i] = paths[i];
    return ever_closer(pair, std::span(views).first(static_cast<std::size_t>(pair.size())), 0.0, 1.0, distance);
  }
  // As paths that are elsewhere at both ends, and at time t where they were.
  Query bent(double t, const std::array<Point, 8>& ends) const {
    Query q = *this;
    for (std::size_t i = 0; i < 4; ++i) {
      const Point at = place_at(paths[i], t);
      q.bent_paths[i] = {Bend{-1.0, ends[2 * i]}, Bend{t, at}, Bend{2.0, ends[2 * i + 1]}};
    }
    return q;
  }
  bool chords_tell_apart() const {
    std::array<Chord, 4> chords;
    for (std::size_t i = 0; i < 4; ++i)
      chords[i] = bent_paths[i].empty() ? chord_of(paths[i], 0.0, 1.0) : chord_of(bent_paths[i], -1.0, 2.0);
    return chords_stay_apart(pair, std::span(chords).first(static_cast<std::size_t>(pair.size())), distance);
  }
  double at(double t) const {
    std::array<Point, 4> x{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(pair.size()); ++i) x[i] = place_at(paths[i], t);
    return closest_points(pair, std::span(x).first(static_cast<std::size_t>(pair.size()))).distance;
  }
};

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  Point point(int most) {
    Point x;
    for (double& c : x) c = whole(-most, most) / 1024.0;
    return x;
  }

  // At t = k/64 a point of one simplex (parts of it multiples of 1/16) is exactly `w` away from one of the other, and
  // |w| <= distance. Some are flat, have no area, do not move, or come exactly as near as the distance.
  Query touching(SimplexPair pair) {
    Query q;
    q.pair = pair;
    const int kind = whole(0, 7);
    const int size = kind == 0 ? 4 : 1024;  // small ones often coincide
    const int speed = kind == 1 ? 0 : kind == 2 ? 100'000 : 1024;
    const double t = whole(0, 64) / 64.0;
    Point w = {whole(-60, 60) / 1024.0, whole(-60, 60) / 1024.0, whole(-60, 60) / 1024.0};
    if (kind == 3) w = {whole(0, 1) * 60 / 1024.0, 0.0, 0.0};
    q.distance = std::max(1.0 / 1024.0, std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]));
    if (kind == 4) w = {};  // straight through
    const auto parts = [&](int count) {
      std::array<double, 3> p{};
      int left = 16;
      for (int i = 0; i + 1 < count; ++i) {
        const int part = whole(0, left);
        p[static_cast<std::size_t>(i)] = part / 16.0;
        left -= part;
      }
      p[static_cast<std::size_t>(count - 1)] = left / 16.0;
      return p;
    };
    // Places at that time: the last vertex of the first simplex is where the witness wants it.
    std::array<Point, 4> x;
    for (auto& p : x) p = point(size);
    if (kind == 5) x[3] = x[2];
    if (kind == 6)
      for (auto& p : x) p[2] = 0.0;
    if (kind == 7 && pair.first == 2)  // parallel
      for (std::size_t c = 0; c < 3; ++c) x[3][c] = x[2][c] + 2.0 * (x[1][c] - x[0][c]);
    const auto a = parts(pair.first), b = parts(pair.second);
    const auto first = static_cast<std::size_t>(pair.first), n = static_cast<std::size_t>(pair.size());
    for (std::size_t c = 0; c < 3; ++c) {  // shifts the first simplex
      double gap = w[c];
      for (std::size_t i = 0; i < first; ++i) gap -= a[i] * x[i][c];
      for (std::size_t i = first; i < n; ++i) gap += b[i - first] * x[i][c];
      for (std::size_t i = 0; i < first; ++i) x[i][c] += gap;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const Point v = point(speed);
      Point from, to;
      for (std::size_t c = 0; c < 3; ++c) {
        from[c] = x[i][c] - t * v[c];
        to[c] = x[i][c] + (1.0 - t) * v[c];
      }
      q.paths[i] = {Bend{0.0, from}, Bend{1.0, to}};
    }
    return q;
  }

  Query any(SimplexPair pair) {
    Query q;
    q.pair = pair;
    q.distance = whole(1, 200) / 1024.0;
    for (auto& path : q.paths) path = {Bend{0.0, point(1024)}, Bend{1.0, point(1024)}};
    return q;
  }

 private:
  std::mt19937 random_;
};

void expect_none_missed(Index of_each_kind) {
  Draw draw(1);
  for (const SimplexPair pair : {vertex_face, edges, vertex_edge, vertices}) {
    Index missed = 0;
    for (Index i = 0; i < of_each_kind; ++i) missed += draw.touching(pair).closer() ? 0 : 1;
    EXPECT_EQ(missed, 0) << int{pair.first} << " " << int{pair.second};
  }
}

TEST(Separation, MissesNobody) { expect_none_missed(50'000); }
TEST(Separation, FullMissesNobody) { expect_none_missed(2'500'000); }

// Of random ones: what is reported came as near as a search by sampling finds, but for one in a hundred.
TEST(Separation, ReportsFewWhoStayApart) {
  Draw draw(2);
  for (const SimplexPair pair : {vertex_face, edges, vertex_edge, vertices}) {
    int apart = 0, reported = 0, wrongly = 0;
    for (int i = 0; i < 20'000; ++i) {
      const Query q = draw.any(pair);
      const bool closer = q.closer();
      double least = q.at(0.0), where = 0.0;
      for (int k = 1; k <= 200; ++k)
        if (const double d = q.at(k / 200.0); d < least) least = d, where = k / 200.0;
      for (double h = 1.0 / 200; h > 1e-9; h *= 0.5)
        for (const double t : {std::max(0.0, where - h), std::min(1.0, where + h)})
          if (const double d = q.at(t); d < least) least = d, where = t;
      if (least <= q.distance) {
        EXPECT_TRUE(closer);
        ++reported;
      } else {
        ++apart;
        wrongly += closer ? 1 : 0;
      }
    }
    EXPECT_GT(apart, 500);
    EXPECT_GT(reported, 200);
    EXPECT_LT(wrongly, 0.01 * apart) << int{pair.first} << " " << int{pair.second};
  }
}

TEST(Separation, ChordsMissNobody) {
  Draw draw(5);
  for (const SimplexPair pair : {vertex_face, edges, vertex_edge, vertices}) {
    int missed = 0, of_bent = 0;
    for (int i = 0; i < 10'000; ++i) {
      const Query q = draw.touching(pair);
      missed += q.chords_tell_apart() ? 1 : 0;
      std::array<Point, 8> ends;
      for (Point& end : ends) end = draw.point(4096);
      for (int k = 0; k <= 64; ++k)  // one of these is when they touch
        if (q.at(k / 64.0) <= q.distance) of_bent += q.bent(k / 64.0, ends).chords_tell_apart() ? 1 : 0;
    }
    EXPECT_EQ(missed, 0) << int{pair.first} << " " << int{pair.second};
    EXPECT_EQ(of_bent, 0) << int{pair.first} << " " << int{pair.second};
  }
}

// Straight paths: chords are the paths, and one direction tells of most who stay apart.
TEST(Separation, ChordsTellOfMostWhoStayApart) {
  Draw draw(6);
  for (const SimplexPair pair : {vertex_face, edges, vertex_edge, vertices}) {
    int apart = 0, told = 0;
    for (int i = 0; i < 20'000; ++i) {
      Query q = draw.any(pair);
      for (auto& path : q.paths)  // short ways, as in a window
        for (std::size_t c = 0; c < 3; ++c) path[1].place[c] = path[0].place[c] + path[1].place[c] / 64.0;
      if (q.closer()) continue;
      ++apart;
      told += q.chords_tell_apart() ? 1 : 0;
    }
    EXPECT_GT(apart, 5000);
    EXPECT_GT(told, 0.9 * apart) << int{pair.first} << " " << int{pair.second};
  }
}

TEST(Separation, FollowsPathsThatBend) {
  // Over a hill: the chord would pass through.
  const std::array<Bend, 3> over = {Bend{0.0, {-1, 0, 0.05}}, Bend{0.5, {0, 0, 1}}, Bend{1.0, {1, 0, 0.05}}};
  const std::array<Bend, 2> still = {Bend{0.0, {0, 0, 0}}, Bend{1.0, {0, 0, 0}}};
  const std::array<Path, 2> paths = {Path(over), Path(still)};
  EXPECT_FALSE(ever_closer(vertices, paths, 0.0, 1.0, 0.5));
  EXPECT_TRUE(ever_closer(vertices, paths, 0.0, 1.0, 1.01 * 2.0 * 0.05 / std::hypot(1.0, 0.95) + 0.9));
  EXPECT_FALSE(ever_closer(vertices, paths, 0.0, 0.1, 0.8));
}

TEST(Separation, SeesWhatGoesTogetherAsAtRest) {
  const std::array<Bend, 2> a = {Bend{0.0, {0, 0, 0}}, Bend{1.0, {0, 1e6, 1e6}}};
  const std::array<Bend, 2> b = {Bend{0.0, {0, 0, 0.5}}, Bend{1.0, {0, 1e6, 1e6 + 0.5}}};
  EXPECT_FALSE(ever_closer(vertices, std::array{Path(a), Path(b)}, 0.0, 1.0, 0.4999));
  EXPECT_TRUE(ever_closer(vertices, std::array{Path(a), Path(b)}, 0.0, 1.0, 0.5));
}

TEST(Separation, TakesWhatIsNotFiniteAsClose) {
  const double nan = std::nan("");
  const std::array<Bend, 2> a = {Bend{0.0, {0, 0, 0}}, Bend{1.0, {nan, 0, 0}}};
  const std::array<Bend, 2> b = {Bend{0.0, {5, 0, 0}}, Bend{1.0, {5, 0, 0}}};
  EXPECT_TRUE(ever_closer(vertices, std::array{Path(a), Path(b)}, 0.0, 1.0, 0.1));
}

// Bent paths within something hollow: the farthest of many samples, which lie on the paths to rounding, is never beyond
// what was said to hold; and what was said not to hold is beyond it, nearly.
TEST(Separation, KnowsWhoStaysWithin) {
  Draw draw(8);
  for (const SimplexPair pair : {SimplexPair{1, 1, true}, SimplexPair{1, 2, true}}) {
    int stays = 0, goes = 0, told = 0;
    for (int i = 0; i < 5'000; ++i) {
      std::vector<Bend> path;
      for (int k = 0; k <= 4; ++k) path.push_back({k / 4.0, draw.point(1024)});
      const Point a = draw.point(300), way = draw.point(300), axis = draw.point(1 << 22);
      std::array<std::array<Bend, 2>, 2> ends;
      for (std::size_t e = 0; e < 2; ++e)
        for (std::size_t c = 0; c < 3; ++c) {
          const double at = pair.second == 1 ? a[c] : a[c] + (e == 0 ? -axis[c] : axis[c]);
          ends[e][0].time = 0.0, ends[e][1].time = 1.0;
          ends[e][0].place[c] = at;
          ends[e][1].place[c] = at + way[c];
        }
      const std::array<Path, 3> all = {Path(path), Path(ends[0]), Path(ends[1])};
      const auto paths = std::span(all).first(static_cast<std::size_t>(pair.size()));
      double farthest = 0.0;
      for (int k = 0; k <= 400; ++k) {
        std::array<Point, 3> x{};
        for (std::size_t v = 0; v < paths.size(); ++v) x[v] = place_at(paths[v], k / 400.0);
        farthest = std::max(farthest, closest_points(pair, std::span(x).first(paths.size())).distance);
      }
      const double radius = farthest * (i % 3 == 0 ? 1.0 : i % 3 == 1 ? 1.0 - 1e-9 : 1.0 + 1e-9);
      const bool beyond = ever_closer(pair, paths, 0.0, 1.0, radius);
      EXPECT_EQ(beyond, i % 3 != 2);
      beyond ? ++goes : ++stays;
      std::array<Chord, 3> chords;
      for (std::size_t v = 0; v < paths.size(); ++v) chords[v] = chord_of(paths[v], 0.0, 1.0);
      for (const double part : {1.0 - 1e-9, 3.0}) {
        const bool within = chords_stay_apart(pair, std::span(chords).first(paths.size()), part * farthest);
        EXPECT_FALSE(within && part < 1.0);
        told += within ? 1 : 0;
      }
    }
    EXPECT_GT(stays, 1000);
    EXPECT_GT(goes, 1000);
    EXPECT_GT(told, 3000);
  }
}

// A control: floating-point sampling, as finite-element codes look for contact, does miss.
TEST(Separation, SamplingWouldMiss) {
  Draw draw(3);
  int missed = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Query q = draw.touching(vertex_face);
    double least = q.distance * 2.0;
    for (int k = 0; k <= 10; ++k) least = std::min(least, q.at(k / 10.0));
    missed += least > q.distance ? 1 : 0;
  }
  EXPECT_GT(missed, 1000);
}

}  // namespace
}  // namespace tempi
