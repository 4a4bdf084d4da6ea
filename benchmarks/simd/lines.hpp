// SPDX-License-Identifier: Apache-2.0
// Node lines <-> packs in GCC's vector extension (GCC >= 12, clang): the compiler picks the shuffles of the target.
// V<W> is W doubles; x86's __m128d, __m256d and __m512d are these very types.
#pragma once

#include <cstring>

#include "strike.hpp"

namespace tempi::bench::TEMPI_CANDIDATE {

template <int W>
struct VectorOf;
template <>
struct VectorOf<2> {
  typedef double type __attribute__((vector_size(16)));
};
template <>
struct VectorOf<4> {
  typedef double type __attribute__((vector_size(32)));
};
template <>
struct VectorOf<8> {
  typedef double type __attribute__((vector_size(64)));
};
template <int W>
using V = typename VectorOf<W>::type;

template <int W>
V<W> load(const double* p) {
  V<W> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <int W>
void store(double* p, const V<W>& v) {
  std::memcpy(p, &v, sizeof v);
}

#define TEMPI_SHUFFLE __builtin_shufflevector

// A block of node a of all lanes, before lanes are sorted out. Differences are taken here: lanes of the first node need
// no shuffling of their own.
template <int W>
struct Lines;

template <>
struct Lines<2> {
  V<2> xy[2], z;
  Lines(const Node* n, const std::int32_t* id)
      : xy{load<2>(n[id[0]].u), load<2>(n[id[1]].u)}, z{n[id[0]].u[2], n[id[1]].u[2]} {}
  void edge(const Lines& o, V<2>* e) const {
    const V<2> a = xy[0] - o.xy[0], b = xy[1] - o.xy[1];
    e[0] = TEMPI_SHUFFLE(a, b, 0, 2);
    e[1] = TEMPI_SHUFFLE(a, b, 1, 3);
    e[2] = z - o.z;
  }
};

template <>
struct Lines<4> {
  V<4> r[4];
  Lines(const Node* n, const std::int32_t* id)
      : r{load<4>(n[id[0]].u), load<4>(n[id[1]].u), load<4>(n[id[2]].u), load<4>(n[id[3]].u)} {}
  void edge(const Lines& o, V<4>* e) const {
    const V<4> a = r[0] - o.r[0], b = r[1] - o.r[1], c = r[2] - o.r[2], d = r[3] - o.r[3];
    const V<4> xz0 = TEMPI_SHUFFLE(a, b, 0, 4, 2, 6), xz1 = TEMPI_SHUFFLE(c, d, 0, 4, 2, 6);
    const V<4> yc0 = TEMPI_SHUFFLE(a, b, 1, 5, 3, 7), yc1 = TEMPI_SHUFFLE(c, d, 1, 5, 3, 7);
    e[0] = TEMPI_SHUFFLE(xz0, xz1, 0, 1, 4, 5);
    e[1] = TEMPI_SHUFFLE(yc0, yc1, 0, 1, 4, 5);
    e[2] = TEMPI_SHUFFLE(xz0, xz1, 2, 3, 6, 7);
  }
};

// Lines 0 | 2, 1 | 3, 4 | 6, 5 | 7.
template <>
struct Lines<8> {
  V<8> r[4];
  static V<8> join(const double* p, const double* q) {
    return TEMPI_SHUFFLE(load<4>(p), load<4>(q), 0, 1, 2, 3, 4, 5, 6, 7);
  }
  Lines(const Node* n, const std::int32_t* id)
      : r{join(n[id[0]].u, n[id[2]].u), join(n[id[1]].u, n[id[3]].u), join(n[id[4]].u, n[id[6]].u),
          join(n[id[5]].u, n[id[7]].u)} {}
  void edge(const Lines& o, V<8>* e) const {
    const V<8> a = r[0] - o.r[0], b = r[1] - o.r[1], c = r[2] - o.r[2], d = r[3] - o.r[3];
    const V<8> xz0 = TEMPI_SHUFFLE(a, b, 0, 8, 2, 10, 4, 12, 6, 14),
               xz1 = TEMPI_SHUFFLE(c, d, 0, 8, 2, 10, 4, 12, 6, 14);
    const V<8> yc0 = TEMPI_SHUFFLE(a, b, 1, 9, 3, 11, 5, 13, 7, 15),
               yc1 = TEMPI_SHUFFLE(c, d, 1, 9, 3, 11, 5, 13, 7, 15);
    e[0] = TEMPI_SHUFFLE(xz0, xz1, 0, 1, 4, 5, 8, 9, 12, 13);
    e[1] = TEMPI_SHUFFLE(yc0, yc1, 0, 1, 4, 5, 8, 9, 12, 13);
    e[2] = TEMPI_SHUFFLE(xz0, xz1, 2, 3, 6, 7, 10, 11, 14, 15);
  }
};

// Three packs into W rows {x, y, z, 0}.
inline void rows(const V<4>* f, V<4>* r) {
  const V<4> zero{};
  const V<4> xy02 = TEMPI_SHUFFLE(f[0], f[1], 0, 4, 2, 6), xy13 = TEMPI_SHUFFLE(f[0], f[1], 1, 5, 3, 7);
  const V<4> z02 = TEMPI_SHUFFLE(f[2], zero, 0, 4, 2, 6), z13 = TEMPI_SHUFFLE(f[2], zero, 1, 5, 3, 7);
  r[0] = TEMPI_SHUFFLE(xy02, z02, 0, 1, 4, 5);
  r[1] = TEMPI_SHUFFLE(xy13, z13, 0, 1, 4, 5);
  r[2] = TEMPI_SHUFFLE(xy02, z02, 2, 3, 6, 7);
  r[3] = TEMPI_SHUFFLE(xy13, z13, 2, 3, 6, 7);
}
inline void rows(const V<8>* f, V<4>* r) {
  const V<8> zero{};
  const V<8> xy0 = TEMPI_SHUFFLE(f[0], f[1], 0, 8, 2, 10, 4, 12, 6, 14),
             xy1 = TEMPI_SHUFFLE(f[0], f[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const V<8> z0 = TEMPI_SHUFFLE(f[2], zero, 0, 8, 2, 10, 4, 12, 6, 14),
             z1 = TEMPI_SHUFFLE(f[2], zero, 1, 9, 3, 11, 5, 13, 7, 15);
  const V<8> r02 = TEMPI_SHUFFLE(xy0, z0, 0, 1, 8, 9, 2, 3, 10, 11),
             r46 = TEMPI_SHUFFLE(xy0, z0, 4, 5, 12, 13, 6, 7, 14, 15);
  const V<8> r13 = TEMPI_SHUFFLE(xy1, z1, 0, 1, 8, 9, 2, 3, 10, 11),
             r57 = TEMPI_SHUFFLE(xy1, z1, 4, 5, 12, 13, 6, 7, 14, 15);
  r[0] = TEMPI_SHUFFLE(r02, r02, 0, 1, 2, 3);
  r[2] = TEMPI_SHUFFLE(r02, r02, 4, 5, 6, 7);
  r[1] = TEMPI_SHUFFLE(r13, r13, 0, 1, 2, 3);
  r[3] = TEMPI_SHUFFLE(r13, r13, 4, 5, 6, 7);
  r[4] = TEMPI_SHUFFLE(r46, r46, 0, 1, 2, 3);
  r[6] = TEMPI_SHUFFLE(r46, r46, 4, 5, 6, 7);
  r[5] = TEMPI_SHUFFLE(r57, r57, 0, 1, 2, 3);
  r[7] = TEMPI_SHUFFLE(r57, r57, 4, 5, 6, 7);
}

// e[a][i]: component i of the edge to node a + 1.
template <int W>
void edges(const Node* nodes, const std::int32_t* ids, V<W> (&e)[3][3]) {
  const Lines<W> first(nodes, ids);
  for (int a = 0; a < 3; ++a) Lines<W>(nodes, ids + (a + 1) * W).edge(first, e[a]);
}

inline void kick(Node& node, const V<4>& impulse) {  // 1/m from memory: a load that broadcasts, no shuffle
  store<4>(node.v, load<4>(node.v) + node.inverse_mass * impulse);
}

// Two lanes: a line of four would be two registers, most of the second one empty.
inline void kick(Node& node, const V<2>& xy, double z) {
  store<2>(node.v, load<2>(node.v) + node.inverse_mass * xy);
  node.v[2] += node.inverse_mass * z;
}
inline void kick_two(Node* nodes, const std::int32_t* ids, const V<2> (&f)[3][3]) {
  V<2> sum[3] = {};
  for (int a = 0; a < 4; ++a) {
    const V<2>* g = a < 3 ? f[a] : sum;
    const std::int32_t* id = ids + (a + 1) % 4 * 2;
    kick(nodes[id[0]], TEMPI_SHUFFLE(g[0], g[1], 0, 2), g[2][0]);
    kick(nodes[id[1]], TEMPI_SHUFFLE(g[0], g[1], 1, 3), g[2][1]);
    if (a < 3)
      for (int i = 0; i < 3; ++i) sum[i] = sum[i] - g[i];
  }
}

template <int W>
void kick(Node* nodes, const std::int32_t* ids, const V<W> (&f)[3][3]) {
  if constexpr (W == 2) {
    kick_two(nodes, ids, f);
  } else {
    V<4> sum[W] = {};
    for (int a = 0; a < 3; ++a) {
      V<4> r[W];
      rows(f[a], r);
      for (int l = 0; l < W; ++l) {
        kick(nodes[ids[(a + 1) * W + l]], r[l]);
        sum[l] = sum[l] - r[l];
      }
    }
    for (int l = 0; l < W; ++l) kick(nodes[ids[l]], sum[l]);
  }
}

}  // namespace tempi::bench::TEMPI_CANDIDATE
