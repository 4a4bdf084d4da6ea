// SPDX-License-Identifier: Apache-2.0
// The segment AB in which two triangles cross: Gonzalez (2011), section 2.5.2, Figure 2.9 and eq. (2.91).
//
// Each triangle meets the other's plane in a segment between two of its edges; both lie on the line of both planes,
// and what they share is AB. So A and B are each where an edge (p, q) of one triangle passes the plane of the other
// (a, b, c): with n = (b - a) x (c - a) and f(x) = n . (x - a)
//
//   P = p + s (q - p),  s = f(p) / (f(p) - f(q)),  P = alpha a + beta b + gamma c
//   w . dP = w . ((1 - s) dp + s dq) + kappa n . ((1 - s) dp + s dq - alpha da - beta db - gamma dc),
//   kappa = w . (q - p) / (f(p) - f(q))
//
// whichever of the three types the crossing is of: from one type to the next A and B go continuously, their speeds do
// not. Triangles in one plane do not cross, nor do those that touch.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "tempi/contact/point3.hpp"

namespace tempi {

// Vertices of one triangle, then those of the other.
template <class T>
using TwoTriangles = std::array<Point3<T>, 6>;

namespace crossing {

template <class T>
Point3<T> normal(const Point3<T>& a, const Point3<T>& b, const Point3<T>& c) {
  return cross(b - a, c - a);
}

struct End {         // where an edge passes the other triangle's plane
  std::size_t p, q;  // vertices, of 0 to 5
  std::size_t a;     // first vertex of the other triangle: 0 or 3
};

template <class T>
struct Passage {
  Point3<T> at, n, edge;
  T s, difference;  // f(p) - f(q)
};
template <class T>
Passage<T> passage(const TwoTriangles<T>& x, const End& end) {
  Passage<T> r;
  r.n = normal(x[end.a], x[end.a + 1], x[end.a + 2]);
  const T fp = dot(r.n, x[end.p] - x[end.a]), fq = dot(r.n, x[end.q] - x[end.a]);
  r.difference = fp - fq;
  r.s = fp / r.difference;
  r.edge = x[end.q] - x[end.p];
  for (std::size_t c = 0; c < 3; ++c) r.at[c] = x[end.p][c] + r.s * r.edge[c];
  return r;
}

}  // namespace crossing

struct FaceCrossing {
  std::array<crossing::End, 2> ends;
};

inline std::optional<FaceCrossing> find_crossing(const TwoTriangles<double>& x) {
  using namespace crossing;
  std::array<std::array<End, 2>, 2> edges{};  // of each triangle, those that pass the other's plane
  std::array<Point3<double>, 2> normals{};
  for (const std::size_t t : {std::size_t{0}, std::size_t{3}}) {
    const std::size_t other = 3 - t;
    normals[t / 3] = normal(x[other], x[other + 1], x[other + 2]);
    std::array<bool, 3> above{};
    for (std::size_t i = 0; i < 3; ++i) above[i] = dot(normals[t / 3], x[t + i] - x[other]) > 0.0;
    if (above[0] == above[1] && above[1] == above[2]) return std::nullopt;
    const std::size_t lone = above[1] == above[2] ? 0 : above[0] == above[2] ? 1 : 2;
    edges[t / 3] = {End{t + lone, t + (lone + 1) % 3, other}, End{t + lone, t + (lone + 2) % 3, other}};
  }
  const Point3<double> along = normal(Point3<double>{}, normals[0], normals[1]);
  const auto place = [&](const End& end) { return dot(along, passage(x, end).at); };
  std::array<std::array<double, 2>, 2> places{};
  for (std::size_t t = 0; t < 2; ++t) {
    for (std::size_t i = 0; i < 2; ++i) places[t][i] = place(edges[t][i]);
    if (places[t][0] > places[t][1]) {
      std::swap(places[t][0], places[t][1]);
      std::swap(edges[t][0], edges[t][1]);
    }
  }
  const std::size_t low = places[0][0] >= places[1][0] ? 0 : 1, high = places[0][1] <= places[1][1] ? 0 : 1;
  if (!(places[low][0] < places[high][1])) return std::nullopt;
  return FaceCrossing{{edges[low][0], edges[high][1]}};
}

// |A - B|^2 / 2 and, added to `g`, its derivative.
template <class T>
T half_squared_length(const TwoTriangles<T>& x, const FaceCrossing& found, TwoTriangles<T>& g) {
  using namespace crossing;
  const std::array<Passage<T>, 2> P = {passage(x, found.ends[0]), passage(x, found.ends[1])};
  const Point3<T> w = P[0].at - P[1].at;
  for (std::size_t e = 0; e < 2; ++e) {
    const End& end = found.ends[e];
    const Passage<T>& at = P[e];
    const double sign = e == 0 ? 1.0 : -1.0;
    const T kappa = dot(w, at.edge) / at.difference;
    // The place in the other triangle: parts of its area.
    const Point3<T>&a = x[end.a], &b = x[end.a + 1], &c = x[end.a + 2];
    const T area = dot(at.n, at.n);
    const T alpha = dot(at.n, normal(at.at, b, c)) / area, beta = dot(at.n, normal(at.at, c, a)) / area;
    const T gamma = 1.0 - alpha - beta, rest = 1.0 - at.s;
    for (std::size_t i = 0; i < 3; ++i) {
      const T pull = sign * kappa * at.n[i], whole = sign * w[i] + pull;
      g[end.p][i] += rest * whole;
      g[end.q][i] += at.s * whole;
      g[end.a][i] -= alpha * pull;
      g[end.a + 1][i] -= beta * pull;
      g[end.a + 2][i] -= gamma * pull;
    }
  }
  return 0.5 * dot(w, w);
}

}  // namespace tempi
