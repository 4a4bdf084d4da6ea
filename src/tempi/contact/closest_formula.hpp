// SPDX-License-Identifier: Apache-2.0
// The formulas of closest_points.hpp for numbers T: doubles, or packs of them (simd/pack_functions.hpp, which a source
// that wants packs includes first).
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "tempi/contact/point3.hpp"

namespace tempi {

// What a pack does lane by lane, of one number.
inline bool is_less(double a, double b) { return a < b; }
inline bool holds_for_all(bool lane) { return lane; }
inline bool holds_for_none(bool lane) { return !lane; }
inline double choose(bool first, double a, double b) { return first ? a : b; }
inline double sqrt(double x) { return std::sqrt(x); }

inline constexpr double infinite = std::numeric_limits<double>::infinity();

template <class T>
struct ClosestPointsOf {
  std::array<T, 4> weight;
  Point3<T> apart;
  T distance;
};

template <class T>
struct PlaceOnEdge {
  T part;     // from 0 at a to 1 at b
  T squared;  // distance from there to p
};
// The point of the edge from a to a + e that is nearest to p; `per_length`: 1 / |e|^2, 0 of an edge that is a point.
template <class T>
PlaceOnEdge<T> place_on_edge(const Point3<T>& p, const Point3<T>& a, const Point3<T>& e, T per_length) {
  const T zero(0.0), one(1.0), s = dot(p - a, e) * per_length;
  const T part = choose(is_less(s, zero), zero, choose(is_less(one, s), one, s));
  Point3<T> d;
  for (std::size_t c = 0; c < 3; ++c) d[c] = p[c] - (a[c] + part * e[c]);
  return {part, dot(d, d)};
}
template <class T>
T per(T squared_length) {
  const T zero(0.0);
  return choose(is_less(zero, squared_length), T(1.0) / squared_length, zero);
}

// The nearest of several places so far, in N parts.
template <class T, std::size_t N>
struct Nearest {
  std::array<T, N> place;
  T squared;  // distance

  void take(const std::array<T, N>& other, T other_squared) {
    const auto nearer = is_less(other_squared, squared);
    squared = choose(nearer, other_squared, squared);
    for (std::size_t k = 0; k < N; ++k) place[k] = choose(nearer, other[k], place[k]);
  }
};

// Parts of a, b, c of the point of the triangle nearest to p.
template <class T>
Point3<T> place_in_face(const Point3<T>& p, const Point3<T>& a, const Point3<T>& b, const Point3<T>& c) {
  const T zero(0.0), one(1.0);
  const Point3<T> n = cross(b - a, c - a);
  const Point3<T> to_a = a - p, to_b = b - p, to_c = c - p;
  const T of_a = dot(n, cross(to_b, to_c)), of_b = dot(n, cross(to_c, to_a)), of_c = dot(n, cross(to_a, to_b));
  const auto inside = is_less(zero, dot(n, n)) & is_less(zero, of_a) & is_less(zero, of_b) & is_less(zero, of_c);
  const T per_sum = one / (of_a + of_b + of_c);
  const Point3<T> inner = {one - (of_b + of_c) * per_sum, of_b * per_sum, of_c * per_sum};
  if (holds_for_all(inside)) return inner;
  const std::array<const Point3<T>*, 3> corner = {&a, &b, &c};
  Nearest<T, 3> best{{zero, zero, zero}, T(infinite)};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3;
    const Point3<T> edge = *corner[j] - *corner[i];
    const PlaceOnEdge<T> on = place_on_edge(p, *corner[i], edge, per(dot(edge, edge)));
    Point3<T> place{zero, zero, zero};
    place[i] = one - on.part;
    place[j] = on.part;
    best.take(place, on.squared);
  }
  for (std::size_t k = 0; k < 3; ++k) best.place[k] = choose(inside, inner[k], best.place[k]);
  return best.place;
}

// Places on the edges from a to b and from c to d: the inner minimum where it lies within both, otherwise the best of
// the four where an end takes part.
template <class T>
std::array<T, 2> places_on_edges(const Point3<T>& a, const Point3<T>& b, const Point3<T>& c, const Point3<T>& d) {
  const T zero(0.0), one(1.0);
  const Point3<T> u = b - a, v = d - c, w = a - c;
  const T uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), uw = dot(u, w), vw = dot(v, w);
  const T determinant = uu * vv - uv * uv;
  const T part = one / determinant, s = (uv * vw - vv * uw) * part, t = (uu * vw - uv * uw) * part;
  const auto inside =
      is_less(zero, determinant) & is_less(zero, s) & is_less(s, one) & is_less(zero, t) & is_less(t, one);
  if (holds_for_all(inside)) return {s, t};
  const T per_u = per(uu), per_v = per(vv);
  Nearest<T, 2> best{{zero, zero}, T(infinite)};
  for (int end = 0; end < 4; ++end) {
    const bool of_first = end < 2, high = end % 2 == 1;
    const PlaceOnEdge<T> on =
        of_first ? place_on_edge(high ? b : a, c, v, per_v) : place_on_edge(high ? d : c, a, u, per_u);
    const T corner(high ? 1.0 : 0.0);
    best.take(of_first ? std::array<T, 2>{corner, on.part} : std::array<T, 2>{on.part, corner}, on.squared);
  }
  return {choose(inside, s, best.place[0]), choose(inside, t, best.place[1])};
}

// Of simplices of so many vertices; `x` may have more places than they have.
template <int first, int second, class T>
ClosestPointsOf<T> closest_points_of(const std::array<Point3<T>, 4>& x) {
  const T zero(0.0), one(1.0);
  ClosestPointsOf<T> r;
  if constexpr (first == 2) {
    const auto [s, t] = places_on_edges(x[0], x[1], x[2], x[3]);
    r.weight = {one - s, s, t - one, -t};
  } else if constexpr (second == 3) {
    const Point3<T> place = place_in_face(x[0], x[1], x[2], x[3]);
    r.weight = {one, -place[0], -place[1], -place[2]};
  } else if constexpr (second == 2) {
    const Point3<T> edge = x[2] - x[1];
    const T s = place_on_edge(x[0], x[1], edge, per(dot(edge, edge))).part;
    r.weight = {one, s - one, -s, zero};
  } else {
    r.weight = {one, -one, zero, zero};
  }
  // From the last vertex: the weights sum to zero, so places of their own do not count.
  constexpr std::size_t last = first + second - 1;
  r.apart = {zero, zero, zero};
  for (std::size_t i = 0; i < last; ++i) {
    const Point3<T> d = x[i] - x[last];
    for (std::size_t c = 0; c < 3; ++c) r.apart[c] = r.apart[c] + r.weight[i] * d[c];
  }
  // Square to an edge that is long beside it, too: what rounding has left along it, is taken away.
  if constexpr (first == 1 && second == 2) {
    const Point3<T> edge = x[2] - x[1];
    const T part = -r.weight[2], along = dot(r.apart, edge) * per(dot(edge, edge));
    const T off = choose(is_less(zero, part) & is_less(part, one), along, zero);
    for (std::size_t c = 0; c < 3; ++c) r.apart[c] = r.apart[c] - off * edge[c];
  }
  r.distance = sqrt(dot(r.apart, r.apart));
  return r;
}

}  // namespace tempi
