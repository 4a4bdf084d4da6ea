// SPDX-License-Identifier: Apache-2.0
// When two triangles whose vertices fly straight begin to cross, cease to, or cross otherwise (face_crossing.hpp): when
// a vertex of one passes through the other, or an edge of one an edge of the other. Between such times the segment in
// which they cross is a smooth function of time.
//
// Four points p, q, r, o lie in one plane where f(s) = det(p - o, q - o, r - o) = 0, a cubic in time. In Bernstein form
// on a span of time a cubic lies within the hull of its coefficients: where all have one sign it has no root, elsewhere
// the span is halved. No change of sign is passed over; where the points only touch one plane nothing begins.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "tempi/contact/face_crossing.hpp"

namespace tempi {
namespace crossing {

// Coefficients of Bernstein's polynomials on [0, 1].
using Cubic = std::array<double, 4>;

// Of a + s da where s is 0 and 1.
struct Way {
  Point3<double> begin, end;
};

// (p - o) . ((q - o) x (r - o)) of the ways from o.
inline Cubic coplanarity(const Way& p, const std::array<Point3<double>, 3>& plane) {
  return {dot(p.begin, plane[0]), (dot(p.end, plane[0]) + 2.0 * dot(p.begin, plane[1])) / 3.0,
          (2.0 * dot(p.end, plane[1]) + dot(p.begin, plane[2])) / 3.0, dot(p.end, plane[2])};
}
// q x r, a quadratic in time, in Bernstein form.
inline std::array<Point3<double>, 3> product(const Way& q, const Way& r) {
  const Point3<double> first = cross(q.begin, r.end), second = cross(q.end, r.begin);
  Point3<double> middle;
  for (std::size_t c = 0; c < 3; ++c) middle[c] = 0.5 * (first[c] + second[c]);
  return {cross(q.begin, r.begin), middle, cross(q.end, r.end)};
}

// The first in [0, 1] that is taken of the roots where the sign changes, ascending; infinite: none.
template <class Takes>
double first_root(const Cubic& b, double from, double width, const Takes& takes) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const auto [low, high] = std::ranges::minmax(b);
  if (low >= 0.0 || high < 0.0) return none;
  const double half = 0.5 * width, middle = from + half;
  if (!(from < middle) || half < 1e-17) return (b[0] < 0.0) != (b[3] < 0.0) && takes(middle) ? middle : none;
  const double ab = 0.5 * (b[0] + b[1]), bc = 0.5 * (b[1] + b[2]), cd = 0.5 * (b[2] + b[3]);
  const double abc = 0.5 * (ab + bc), bcd = 0.5 * (bc + cd), all = 0.5 * (abc + bcd);
  const double first = first_root({b[0], ab, abc, all}, from, half, takes);
  return first < none ? first : first_root({all, bcd, cd, b[3]}, middle, half, takes);
}

constexpr double on_the_edge = 1e-9;  // parts of a length or an area: rather a time too many

// Whether p, in the plane of a, b and c, is in the triangle.
inline bool is_inside(const Point3<double>& p, const Point3<double>& a, const Point3<double>& b,
                      const Point3<double>& c) {
  const Point3<double> n = normal(a, b, c);
  const double least = -on_the_edge * dot(n, n);
  return dot(n, normal(p, a, b)) >= least && dot(n, normal(p, b, c)) >= least && dot(n, normal(p, c, a)) >= least;
}

// Whether the segments pq and ab, in one plane, meet; parallel ones may.
inline bool do_meet(const Point3<double>& p, const Point3<double>& q, const Point3<double>& a,
                    const Point3<double>& b) {
  const Point3<double> along = q - p, across = b - a, n = normal(Point3<double>{}, along, across);
  const double whole = dot(n, n), most = (1.0 + on_the_edge) * whole, least = -on_the_edge * whole;
  const double s = dot(n, normal(Point3<double>{}, a - p, across)), r = dot(n, normal(Point3<double>{}, a - p, along));
  return !(s < least || s > most || r < least || r > most);
}

}  // namespace crossing

// The first such time in (after, within] [s]; infinite: there is none. `x` [m] where s = 0, `v` [m/s].
inline double first_passage(const TwoTriangles<double>& x, const TwoTriangles<double>& v, double after, double within) {
  using namespace crossing;
  constexpr double none = std::numeric_limits<double>::infinity();
  std::array<Point3<double>, 6> last;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t c = 0; c < 3; ++c) last[i][c] = x[i][c] + within * v[i][c];
  for (std::size_t c = 0; c < 3; ++c) {  // apart all the time?
    std::array<double, 2> low{none, none}, high{-none, -none};
    for (std::size_t i = 0; i < 6; ++i) {
      low[i / 3] = std::min({low[i / 3], x[i][c], last[i][c]});
      high[i / 3] = std::max({high[i / 3], x[i][c], last[i][c]});
    }
    if (low[0] > high[1] || low[1] > high[0]) return none;
  }
  const auto way = [&](std::size_t from, std::size_t to) { return Way{x[to] - x[from], last[to] - last[from]}; };
  // Each vertex against the plane of the other triangle. Where all of one stay on one side nothing can pass.
  std::array<Cubic, 6> of_vertex;
  for (const std::size_t t : {std::size_t{0}, std::size_t{3}}) {
    const std::size_t a = 3 - t;
    const auto plane = product(way(a, a + 1), way(a, a + 2));
    double low = none, high = -none;
    for (std::size_t p = t; p < t + 3; ++p) {
      of_vertex[p] = coplanarity(way(a, p), plane);
      const auto [least, most] = std::ranges::minmax(of_vertex[p]);
      low = std::min(low, least);
      high = std::max(high, most);
    }
    if (low > 0.0 || high < 0.0) return none;
  }
  double first = none;
  const auto try_four = [&](const Cubic& cubic, const std::array<std::size_t, 4>& four, auto&& meet) {
    const double s = first_root(cubic, 0.0, 1.0, [&](double part) {
      const double at = part * within;
      if (!(at > after) || at >= first) return false;
      std::array<Point3<double>, 4> y;
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t c = 0; c < 3; ++c)
          y[i][c] = x[four[i]][c] - x[four[3]][c] + at * (v[four[i]][c] - v[four[3]][c]);
      return meet(y[0], y[1], y[2], y[3]);
    });
    first = std::min(first, s * within);
  };
  for (std::size_t p = 0; p < 6; ++p) {
    const std::size_t a = p < 3 ? 3 : 0;
    try_four(of_vertex[p], {p, a, a + 1, a + 2}, is_inside);
  }
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t p = i, q = (i + 1) % 3, a = 3 + j, b = 3 + (j + 1) % 3;
      try_four(coplanarity(way(a, b), product(way(a, p), way(a, q))), {p, q, a, b}, do_meet);
    }
  return first;
}

}  // namespace tempi
