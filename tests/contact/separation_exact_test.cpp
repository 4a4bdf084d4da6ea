// SPDX-License-Identifier: Apache-2.0
// Certified separation against an exact oracle: places are whole numbers of 2^-52, times of 2^-20, and the distance of
// two simplices at a time is worked out in whole numbers of any size (GMP). The distance asked for is the smallest
// double that is not below it, so whoever answers "apart" is wrong, by however little.
#include <gmpxx.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tempi/contact/separation.hpp"
#include "tempi/core/ids.hpp"

namespace tempi {
namespace {

using Whole = std::array<std::int64_t, 3>;
using Exact = std::array<mpz_class, 3>;

constexpr SimplexPair vertex_face{1, 3}, edges{2, 2}, vertex_edge{1, 2}, vertices{1, 1};
constexpr int place_bits = 52, time_bits = 20;

Exact operator-(const Exact& a, const Exact& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
mpz_class times(const Exact& a, const Exact& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Exact cross(const Exact& a, const Exact& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

struct Ratio {  // over > 0
  mpz_class part, over;
  bool operator<(const Ratio& other) const { return part * other.over < other.part * over; }
};

// Squared distances.
Ratio to_edge(const Exact& p, const Exact& a, const Exact& b) {
  const Exact e = b - a, r = p - a;
  const mpz_class ee = times(e, e), re = times(r, e), rr = times(r, r);
  if (ee == 0 || re <= 0) return {rr, 1};
  if (re >= ee) return {times(p - b, p - b), 1};
  return {rr * ee - re * re, ee};
}

Ratio to_face(const Exact& p, const Exact& a, const Exact& b, const Exact& c) {
  const Exact n = cross(b - a, c - a);
  const mpz_class nn = times(n, n);
  if (nn != 0 && times(cross(b - a, p - a), n) >= 0 && times(cross(c - b, p - b), n) >= 0 &&
      times(cross(a - c, p - c), n) >= 0) {
    const mpz_class h = times(p - a, n);
    return {h * h, nn};
  }
  return std::min({to_edge(p, a, b), to_edge(p, b, c), to_edge(p, c, a)});
}

Ratio between_edges(const Exact& a, const Exact& b, const Exact& c, const Exact& d) {
  const Exact e = b - a, f = d - c, r = c - a, n = cross(e, f);
  const mpz_class nn = times(n, n);
  if (nn != 0) {  // r + t f - s e is along n
    const mpz_class s = times(cross(r, f), n), t = times(cross(r, e), n);
    if (s >= 0 && s <= nn && t >= 0 && t <= nn) {
      const mpz_class h = times(r, n);
      return {h * h, nn};
    }
  }
  return std::min({to_edge(a, c, d), to_edge(b, c, d), to_edge(c, a, b), to_edge(d, a, b)});
}

struct Query {
  SimplexPair pair{1, 1};
  std::array<std::array<Whole, 2>, 4> ends{};
  std::array<std::array<Bend, 2>, 4> paths{};

  std::size_t size() const { return static_cast<std::size_t>(pair.size()); }
  void make_paths() {
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t e = 0; e < 2; ++e) {
        paths[i][e].time = static_cast<double>(e);
        for (std::size_t c = 0; c < 3; ++c)
          paths[i][e].place[c] = std::ldexp(static_cast<double>(ends[i][e][c]), -place_bits);
      }
  }
  double roughly(double t) const {
    std::array<std::array<double, 3>, 4> x{};
    for (std::size_t i = 0; i < size(); ++i) x[i] = place_at(paths[i], t);
    return closest_points(pair, std::span(x).first(size())).distance;
  }
  // Where it is least, as sampling finds, in units of 2^-20.
  std::int64_t when() const {
    constexpr int samples = 24;
    int least = 0;
    double distance = roughly(0.0);
    for (int k = 1; k <= samples; ++k)
      if (const double d = roughly(static_cast<double>(k) / samples); d < distance) distance = d, least = k;
    double low = std::max(0.0, (least - 1.0) / samples), high = std::min(1.0, (least + 1.0) / samples);
    while (high - low > 1e-7) {
      const double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
      (roughly(a) < roughly(b) ? high : low) = roughly(a) < roughly(b) ? b : a;
    }
    return std::llround(std::ldexp(0.5 * (low + high), time_bits));
  }
  // Squared, in units of 2^-144.
  Ratio squared_at(std::int64_t t) const {
    std::array<Exact, 4> x;
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t c = 0; c < 3; ++c) {
        const mpz_class begin = static_cast<long>(ends[i][0][c]), end = static_cast<long>(ends[i][1][c]);
        x[i][c] = begin * static_cast<long>((std::int64_t{1} << time_bits) - t) + end * static_cast<long>(t);
      }
    if (pair == vertex_face) return to_face(x[0], x[1], x[2], x[3]);
    if (pair == edges) return between_edges(x[0], x[1], x[2], x[3]);
    if (pair == vertex_edge) return to_edge(x[0], x[1], x[2]);
    return {times(x[1] - x[0], x[1] - x[0]), 1};
  }
  bool closer(double distance) const {
    std::array<Path, 4> views;
    for (std::size_t i = 0; i < 4; ++i) views[i] = paths[i];
    return ever_closer(pair, std::span(views).first(size()), 0.0, 1.0, distance);
  }
};

// Whether distance >= sqrt(squared), exactly.
bool holds(double distance, const Ratio& squared) {
  int exponent = 0;
  const auto mantissa = static_cast<long>(std::ldexp(std::frexp(distance, &exponent), 53));
  const int shift = 2 * (exponent - 53 + place_bits + time_bits);  // of its square, in the units of `squared`
  mpz_class left = mpz_class(mantissa) * mantissa * squared.over, right = squared.part;
  (shift >= 0 ? left : right) <<= static_cast<unsigned>(std::abs(shift));
  return left >= right;
}

double smallest_not_below(const Ratio& squared) {
  if (squared.part == 0) return 0.0;
  const mpq_class ratio(squared.part, squared.over);
  double d = std::ldexp(std::sqrt(ratio.get_d()), -place_bits - time_bits);
  while (!holds(d, squared)) d = std::nextafter(d, std::numeric_limits<double>::infinity());
  while (d > 0.0 && holds(std::nextafter(d, 0.0), squared)) d = std::nextafter(d, 0.0);
  return d;
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  Query query(SimplexPair pair, bool degenerate) {
    Query q;
    q.pair = pair;
    const int kind = degenerate ? whole(0, 6) : -1;
    const std::int64_t near = kind == 0 ? 3 : kind == 1 ? std::int64_t{1} << 20 : most;
    for (auto& of_vertex : q.ends) {
      of_vertex[0] = place(near);
      const Whole way = place(kind == 2 ? 0 : kind == 3 ? std::int64_t{1} << 30 : near);
      for (std::size_t c = 0; c < 3; ++c) of_vertex[1][c] = of_vertex[0][c] + way[c];
    }
    if (kind == 4) q.ends[3] = q.ends[2];
    if (kind == 5)
      for (auto& of_vertex : q.ends) of_vertex[0][2] = of_vertex[1][2] = 0;
    if (kind == 6)  // edges that stay parallel, faces without area
      for (std::size_t e = 0; e < 2; ++e)
        for (std::size_t c = 0; c < 3; ++c)
          q.ends[3][e][c] = pair.first == 2 ? q.ends[2][e][c] + (q.ends[1][e][c] - q.ends[0][e][c])
                                            : 2 * q.ends[2][e][c] - q.ends[1][e][c];
    q.make_paths();
    return q;
  }

 private:
  static constexpr std::int64_t most = std::int64_t{1} << 49;  // so that sums stay doubles
  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  Whole place(std::int64_t within) {
    std::uniform_int_distribution<std::int64_t> one(-within, within);
    return {one(random_), one(random_), one(random_)};
  }
  std::mt19937_64 random_;
};

void expect_none_missed(Index of_each) {
  for (const bool degenerate : {false, true}) {
    Draw draw(degenerate ? 12 : 11);
    for (const SimplexPair pair : {vertex_face, edges, vertex_edge, vertices}) {
      Index missed = 0, by_rounding = 0;
      for (Index i = 0; i < of_each; ++i) {
        const Query q = draw.query(pair, degenerate);
        const std::int64_t t = q.when();
        const double distance = smallest_not_below(q.squared_at(t));
        missed += q.closer(distance) ? 0 : 1;
        by_rounding += q.roughly(std::ldexp(static_cast<double>(t), -time_bits)) > distance ? 1 : 0;
      }
      EXPECT_EQ(missed, 0) << int{pair.first} << " " << int{pair.second} << " " << degenerate;
      // A control: the distance in floating point at the very instant.
      EXPECT_GT(by_rounding, of_each / 200) << int{pair.first} << " " << int{pair.second} << " " << degenerate;
    }
  }
}

TEST(SeparationByExactNumbers, MissesNobody) { expect_none_missed(5'000); }
TEST(SeparationByExactNumbers, FullMissesNobody) { expect_none_missed(1'250'000); }

// The oracle by what is known.
TEST(SeparationByExactNumbers, KnowsDistances) {
  const auto at = [](std::int64_t x, std::int64_t y, std::int64_t z) {
    return Exact{mpz_class(static_cast<long>(x)), mpz_class(static_cast<long>(y)), mpz_class(static_cast<long>(z))};
  };
  const auto is = [](const Ratio& r, long part, long over) { return r.part * over == r.over * part; };
  EXPECT_TRUE(is(to_face(at(1, 1, 5), at(0, 0, 0), at(9, 0, 0), at(0, 9, 0)), 25, 1));
  EXPECT_TRUE(is(to_face(at(9, 9, 0), at(0, 0, 0), at(9, 0, 0), at(0, 9, 0)), 81, 2));
  EXPECT_TRUE(is(to_face(at(-3, -4, 12), at(0, 0, 0), at(9, 0, 0), at(0, 9, 0)), 169, 1));
  EXPECT_TRUE(is(to_face(at(1, 2, 3), at(0, 0, 0), at(2, 2, 2), at(4, 4, 4)), 2, 1));
  EXPECT_TRUE(is(to_edge(at(1, 0, 0), at(0, 0, 0), at(1, 1, 0)), 1, 2));
  EXPECT_TRUE(is(between_edges(at(-1, 0, 0), at(1, 0, 0), at(0, -1, 3), at(0, 1, 3)), 9, 1));
  EXPECT_TRUE(is(between_edges(at(-1, 0, 0), at(1, 0, 0), at(0, 2, 3), at(0, 5, 3)), 13, 1));
  EXPECT_TRUE(is(between_edges(at(0, 0, 0), at(1, 0, 0), at(3, 4, 0), at(5, 4, 0)), 20, 1));
  EXPECT_EQ(smallest_not_below({mpz_class(25) << 144, 1}), 5.0);
}

}  // namespace
}  // namespace tempi
