// SPDX-License-Identifier: Apache-2.0
// Pack: what the templates of Tempi ask of a scalar, over the V, splat(), ... of one adapter.
// Its namespace is named after candidate and target, and so is every template instance over it: no two translation
// units compiled for different processors can define one symbol twice.
#pragma once

#include "lines.hpp"

namespace tempi::bench::TEMPI_CANDIDATE {

struct Pack {
  Vec v;
  static constexpr int width = lanes;

  Pack() : v(splat(0.0)) {}  // Mat needs T{} to be zero, and an Eigen::Array{} is not
  Pack(const Vec& x) : v(x) {}
  explicit Pack(double x) : v(splat(x)) {}
  static Pack load(const double* p) { return load_vec(p); }
  void store(double* p) const { store_vec(p, v); }

  friend Pack operator+(const Pack& a, const Pack& b) { return Vec(a.v + b.v); }
  friend Pack operator-(const Pack& a, const Pack& b) { return Vec(a.v - b.v); }
  friend Pack operator*(const Pack& a, const Pack& b) { return Vec(a.v * b.v); }
  friend Pack operator/(const Pack& a, const Pack& b) { return Vec(a.v / b.v); }
  friend Pack log1p(const Pack& x) {
#ifdef TEMPI_LIBRARY_LOG1P
    return library_log1p(x.v);
#else
    return log1p_by_atanh(x);
#endif
  }

  static Bits bits(const Pack& x) { return to_bits(x.v); }
  static Bits bits(std::uint64_t b) { return splat_bits(b); }
  static Pack from_bits(const Bits& b) { return to_vec(b); }
  static Bits shift52(const Bits& b) { return shift_right_52(b); }

#ifdef TEMPI_LIBRARY_LINES
  static void edges(const Node* nodes, const std::int32_t* ids, Mat<Pack, 3>& e) {
    for (int a = 0; a < 3; ++a)
      for (int i = 0; i < 3; ++i) e(i, a) = Vec(gather(nodes, ids + (a + 1) * width, i) - gather(nodes, ids, i));
  }
  static void kick(Node* nodes, const std::int32_t* ids, const Mat<Pack, 3>& f) {
    alignas(64) double buffer[9][width];
    for (std::size_t i = 0; i < 9; ++i) f.a[i].store(buffer[i]);
    for (int l = 0; l < width; ++l) {
      double sum[3] = {};
      for (int a = 0; a < 3; ++a) {
        Node& n = nodes[ids[(a + 1) * width + l]];
        for (int i = 0; i < 3; ++i) {
          n.v[i] += n.inverse_mass * buffer[3 * i + a][l];
          sum[i] -= buffer[3 * i + a][l];
        }
      }
      Node& n = nodes[ids[l]];
      for (int i = 0; i < 3; ++i) n.v[i] += n.inverse_mass * sum[i];
    }
  }
#else
  static void edges(const Node* nodes, const std::int32_t* ids, Mat<Pack, 3>& e) {
    V<width> columns[3][3];
    bench::TEMPI_CANDIDATE::edges<width>(nodes, ids, columns);
    for (int a = 0; a < 3; ++a)
      for (int i = 0; i < 3; ++i) e(i, a) = from_vector(columns[a][i]);
  }
  static void kick(Node* nodes, const std::int32_t* ids, const Mat<Pack, 3>& f) {
    V<width> columns[3][3];
    for (int a = 0; a < 3; ++a)
      for (int i = 0; i < 3; ++i) columns[a][i] = to_vector(f(i, a).v);
    bench::TEMPI_CANDIDATE::kick<width>(nodes, ids, columns);
  }
#endif
};

}  // namespace tempi::bench::TEMPI_CANDIDATE
