// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/closest_points.hpp"

#include <algorithm>
#include <cmath>

#include "tempi/core/cross.hpp"

namespace tempi {
namespace {

using Point = std::array<double, 3>;

Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Where on the edge from a to b, from 0 to 1, is the point nearest to p.
double place_on_edge(const Point& p, const Point& a, const Point& b) {
  const Point e = b - a;
  const double length = dot(e, e);
  return length > 0.0 ? std::clamp(dot(p - a, e) / length, 0.0, 1.0) : 0.0;
}

double squared_to_edge(const Point& p, const Point& a, const Point& b, double s) {
  const Point d = {p[0] - (a[0] + s * (b[0] - a[0])), p[1] - (a[1] + s * (b[1] - a[1])),
                   p[2] - (a[2] + s * (b[2] - a[2]))};
  return dot(d, d);
}

// Parts of a, b, c of the point of the triangle nearest to p.
Point place_in_face(const Point& p, const Point& a, const Point& b, const Point& c) {
  const Point n = cross(b - a, c - a);
  const double area = dot(n, n);
  const double of_a = dot(n, cross(b - p, c - p)), of_b = dot(n, cross(c - p, a - p)),
               of_c = dot(n, cross(a - p, b - p));
  if (area > 0.0 && of_a > 0.0 && of_b > 0.0 && of_c > 0.0) {
    const double sum = of_a + of_b + of_c;
    return {1.0 - (of_b + of_c) / sum, of_b / sum, of_c / sum};
  }
  const std::array<const Point*, 3> corner = {&a, &b, &c};
  Point best{};
  double least = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3;
    const double s = place_on_edge(p, *corner[i], *corner[j]);
    const double d = squared_to_edge(p, *corner[i], *corner[j], s);
    if (i > 0 && !(d < least)) continue;
    least = d;
    best = {};
    best[i] = 1.0 - s;
    best[j] = s;
  }
  return best;
}

// Places on the edges from a to b and from c to d: the inner minimum where it lies within both, otherwise the best of
// the four where an end takes part.
std::array<double, 2> places_on_edges(const Point& a, const Point& b, const Point& c, const Point& d) {
  const Point u = b - a, v = d - c, w = a - c;
  const double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), uw = dot(u, w), vw = dot(v, w);
  const double determinant = uu * vv - uv * uv;
  if (determinant > 0.0) {
    const double s = (uv * vw - vv * uw) / determinant, t = (uu * vw - uv * uw) / determinant;
    if (s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0) return {s, t};
  }
  std::array<double, 2> best{};
  double least = 0.0;
  for (int end = 0; end < 4; ++end) {
    const bool of_first = end < 2, high = end % 2 == 1;
    const Point& p = of_first ? (high ? b : a) : (high ? d : c);
    const double s = of_first ? place_on_edge(p, c, d) : place_on_edge(p, a, b);
    const double squared = of_first ? squared_to_edge(p, c, d, s) : squared_to_edge(p, a, b, s);
    if (end > 0 && !(squared < least)) continue;
    least = squared;
    best = of_first ? std::array{high ? 1.0 : 0.0, s} : std::array{s, high ? 1.0 : 0.0};
  }
  return best;
}

}  // namespace

ClosestPoints closest_points(SimplexPair pair, std::span<const Point> x) {
  ClosestPoints r;
  if (pair.first == 2) {
    const auto [s, t] = places_on_edges(x[0], x[1], x[2], x[3]);
    r.weight = {1.0 - s, s, -(1.0 - t), -t};
  } else if (pair.second == 3) {
    const Point place = place_in_face(x[0], x[1], x[2], x[3]);
    r.weight = {1.0, -place[0], -place[1], -place[2]};
  } else if (pair.second == 2) {
    const double s = place_on_edge(x[0], x[1], x[2]);
    r.weight = {1.0, -(1.0 - s), -s, 0.0};
  } else {
    r.weight = {1.0, -1.0, 0.0, 0.0};
  }
  // From the last vertex: the weights sum to zero, so places of their own do not count.
  const Point& from = x[static_cast<std::size_t>(pair.size() - 1)];
  for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(pair.size()); ++i) {
    const Point d = x[i] - from;
    for (std::size_t c = 0; c < 3; ++c) r.apart[c] += r.weight[i] * d[c];
  }
  r.distance = std::sqrt(dot(r.apart, r.apart));
  return r;
}

}  // namespace tempi
