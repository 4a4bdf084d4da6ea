// SPDX-License-Identifier: Apache-2.0
// Control: one element after the other, plain double.
#pragma once

#include <cmath>

#include "strike.hpp"

namespace tempi::bench::TEMPI_CANDIDATE {
struct Pack {
  double v;
  static constexpr int width = 1;
  Pack() = default;
  explicit Pack(double x) : v(x) {}
  static Pack load(const double* p) { return Pack(*p); }
  void store(double* p) const { *p = v; }
  friend Pack operator+(Pack a, Pack b) { return Pack(a.v + b.v); }
  friend Pack operator-(Pack a, Pack b) { return Pack(a.v - b.v); }
  friend Pack operator*(Pack a, Pack b) { return Pack(a.v * b.v); }
  friend Pack operator/(Pack a, Pack b) { return Pack(a.v / b.v); }
  friend Pack log1p(Pack x) { return Pack(std::log1p(x.v)); }
  static void edges(const Node* nodes, const std::int32_t* ids, Mat<Pack, 3>& e) {
    for (int a = 0; a < 3; ++a)
      for (int i = 0; i < 3; ++i) e(i, a) = Pack(nodes[ids[a + 1]].u[i] - nodes[ids[0]].u[i]);
  }
  static void kick(Node* nodes, const std::int32_t* ids, const Mat<Pack, 3>& f) {
    double sum[3] = {};
    for (int a = 0; a < 3; ++a) {
      Node& n = nodes[ids[a + 1]];
      for (int i = 0; i < 3; ++i) {
        n.v[i] += n.inverse_mass * f(i, a).v;
        sum[i] -= f(i, a).v;
      }
    }
    Node& n = nodes[ids[0]];
    for (int i = 0; i < 3; ++i) n.v[i] += n.inverse_mass * sum[i];
  }
};
}  // namespace tempi::bench::TEMPI_CANDIDATE
