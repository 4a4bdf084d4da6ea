// SPDX-License-Identifier: Apache-2.0
// What layers of contact do between two simplices, as layered_contact.hpp has it, for numbers T as closest_formula.hpp.
#pragma once

#include <cmath>

#include "tempi/contact/closest_formula.hpp"

namespace tempi {

// Of layers 0, 1, 2 ...
struct LayerTable {
  static constexpr int most = 60;
  std::array<double, most + 1> distance{}, stiffness{};  // eta_l [m], r_l [J/m^p]
  double exponent = 3.0;                                 // p
};

inline double raised(double x, double power) { return std::pow(x, power); }

template <class T>
struct PushOf {
  T distance, energy;                // [m]; of the layers asked for [J]
  T near, touched;                   // layers from 0 on: within whose distance it is; that push
  T along;                           // impulse along the normal
  Point3<T> normal;                  // from the second simplex to the first
  std::array<T, 4> weight;           // of the closest points
  std::array<Point3<T>, 4> impulse;  // -sum over the layers of weight dV_l/dx, of each vertex
};

template <class T>
struct EdgeFactorOf {
  T value;
  std::array<Point3<T>, 4> gradient;
};
// Of two edges: m = S(|e x f|^2 / parallel_from) S(s) S(1 - s) S(t) S(1 - t), with places s, t in quarters of the edges
// from their ends. The places solve r . e = r . f = 0, r = (a + s e) - (c + t f): what changes them follows from these.
template <class T>
EdgeFactorOf<T> edge_factor(const std::array<Point3<T>, 4>& x, const ClosestPointsOf<T>& points, T parallel_from) {
  const T zero(0.0), one(1.0), two(2.0), three(3.0), six(6.0), quarters(4.0);
  const T s = points.weight[1], t = -points.weight[3];
  const Point3<T> e = x[1] - x[0], f = x[3] - x[2], area = cross(e, f);
  const T per_area = one / parallel_from;
  const std::array<T, 5> at = {dot(area, area) * per_area, s * quarters, (one - s) * quarters, t * quarters,
                               (one - t) * quarters};
  // The product of all S, and with S' in place of one of them.
  std::array<T, 5> value, slope, others;
  T before = one, after = one;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const T y = at[i];
    const auto low = is_less(zero, y), high = is_less(y, one);
    value[i] = choose(low, choose(high, y * y * (three - two * y), one), zero);
    slope[i] = choose(low, choose(high, six * y * (one - y), zero), zero);
    others[i] = before;
    before = before * value[i];
  }
  for (std::size_t i = at.size(); i-- > 0; after = after * value[i]) others[i] = slope[i] * others[i] * after;
  EdgeFactorOf<T> m;
  m.value = before;
  // 2 (f x area) . de + 2 (area x e) . df is the change of |e x f|^2.
  const T of_area = others[0] * two * per_area;
  const T of_s = (others[1] - others[2]) * quarters, of_t = (others[3] - others[4]) * quarters;
  const Point3<T> by_e = cross(f, area), by_f = cross(area, e);
  const T ee = dot(e, e), ef = dot(e, f), ff = dot(f, f), part = one / (ef * ef - ee * ff);
  // The transposed equations [ee, ef; -ef, -ff] lambda = (of_s, of_t).
  const T on_e = -(ff * of_s + ef * of_t) * part, on_f = (ef * of_s + ee * of_t) * part;
  const auto acts = is_less(zero, m.value);
  for (std::size_t k = 0; k < 3; ++k) {
    const T along = on_e * e[k] + on_f * f[k];
    const T of_e = of_area * by_e[k] - points.apart[k] * on_e, of_f = of_area * by_f[k] - points.apart[k] * on_f;
    const std::array<T, 4> g = {-of_e, of_e, -of_f, of_f};
    for (std::size_t i = 0; i < 4; ++i) m.gradient[i][k] = choose(acts, g[i] - points.weight[i] * along, zero);
  }
  return m;
}

// Of simplices of so many vertices, in layers `from` to `to` - 1, none before `begin` nor from `end` on;
// weight_of(layer). `parallel_from`: of two edges. Places that are not finite push nobody.
template <int first, int second, class T, class WeightOf>
PushOf<T> push_of(const std::array<Point3<T>, 4>& x, bool within, T radii, T parallel_from, const LayerTable& layers,
                  T from, T to, int begin, int end, WeightOf&& weight_of) {
  constexpr std::size_t size = first + second;
  const T zero(0.0), one(1.0);
  const ClosestPointsOf<T> points = closest_points_of<first, second>(x);
  PushOf<T> r;
  r.distance = within ? radii - points.distance : points.distance - radii;
  r.energy = r.near = r.touched = r.along = zero;
  r.normal.fill(zero);
  r.weight = points.weight;
  r.impulse.fill(r.normal);
  T energy = zero, force = zero;
  const auto apart = is_less(zero, points.distance);
  for (int l = begin; l < end; ++l) {
    const auto i = static_cast<std::size_t>(l);
    const T deep = T(layers.distance[i]) - r.distance, layer(static_cast<double>(l));
    const auto is_near = is_less(zero, deep) & apart;
    if (holds_for_none(is_near)) break;
    const auto acts = is_near & is_less(from, layer + one) & is_less(layer, to);
    const T power = layers.exponent == 3.0   ? deep * deep
                    : layers.exponent == 2.0 ? deep
                                             : raised(deep, layers.exponent - 1.0);
    const T f = choose(acts, weight_of(l) * T(layers.stiffness[i]) * power, zero);
    energy = energy + choose(acts, f * deep, zero);
    force = force + f;
    r.near = choose(acts, layer + one, r.near);
  }
  if (holds_for_none(is_less(zero, r.near))) return r;
  r.touched = r.near;
  const T towards = choose(apart, one / (within ? -points.distance : points.distance), zero);
  for (std::size_t c = 0; c < 3; ++c) r.normal[c] = points.apart[c] * towards;
  energy = energy / T(layers.exponent);
  EdgeFactorOf<T> m;
  if constexpr (first == 2) {
    m = edge_factor(x, points, parallel_from);
    r.touched = choose(is_less(zero, m.value), r.touched, zero);
    r.energy = m.value * energy;
    r.along = m.value * force;
  } else {
    r.energy = energy;
    r.along = force;
  }
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      r.impulse[i][c] = r.along * points.weight[i] * r.normal[c];
      if constexpr (first == 2) r.impulse[i][c] = r.impulse[i][c] - energy * m.gradient[i][c];
    }
  return r;
}

}  // namespace tempi
