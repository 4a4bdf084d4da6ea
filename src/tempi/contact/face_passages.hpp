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

inline double determinant(const Point3<double>& a, const Point3<double>& b, const Point3<double>& c) {
  return dot(a, normal(Point3<double>{}, b, c));
}

// det(a + s da, b + s db, c + s dc), `d...` over the whole span.
inline Cubic coplanarity(const std::array<Point3<double>, 3>& x, const std::array<Point3<double>, 3>& dx) {
  const auto& [a, b, c] = x;
  const auto& [da, db, dc] = dx;
  const double c0 = determinant(a, b, c), c1 = determinant(da, b, c) + determinant(a, db, c) + determinant(a, b, dc),
               c2 = determinant(da, db, c) + determinant(da, b, dc) + determinant(a, db, dc),
               c3 = determinant(da, db, dc);
  return {c0, c0 + c1 / 3.0, c0 + (2.0 * c1 + c2) / 3.0, c0 + c1 + c2 + c3};
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
  for (std::size_t c = 0; c < 3; ++c) {  // apart all the time?
    std::array<double, 2> low{none, none}, high{-none, -none};
    for (std::size_t i = 0; i < 6; ++i) {
      const double begin = x[i][c], end = begin + within * v[i][c];
      low[i / 3] = std::min({low[i / 3], begin, end});
      high[i / 3] = std::max({high[i / 3], begin, end});
    }
    if (low[0] > high[1] || low[1] > high[0]) return none;
  }
  double first = none;
  const auto try_four = [&](const std::array<std::size_t, 4>& four, auto&& meet) {
    std::array<Point3<double>, 3> from{}, way{};
    for (std::size_t i = 0; i < 3; ++i) {
      from[i] = x[four[i]] - x[four[3]];
      way[i] = v[four[i]] - v[four[3]];
      for (double& w : way[i]) w *= within;
    }
    const double s = first_root(coplanarity(from, way), 0.0, 1.0, [&](double part) {
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
    try_four({p, a, a + 1, a + 2}, is_inside);
  }
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) try_four({i, (i + 1) % 3, 3 + j, 3 + (j + 1) % 3}, do_meet);
  return first;
}

}  // namespace tempi
