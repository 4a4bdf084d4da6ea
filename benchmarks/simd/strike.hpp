// SPDX-License-Identifier: Apache-2.0
// The element kernel under comparison: 4-node tetrahedra of a neo-Hookean solid, one template over the pack P of
// doubles.
//
// For each element: edges e_a = u_a - u_0 (a = 1..3), H = e G with G = dxi/dX, P from the material, impulses
// -step V P G^T at nodes 1..3 and minus their sum at node 0, and the kick v += impulse / m.
#pragma once

#include <bit>
#include <cstdint>

#include "tempi/material/material.hpp"

namespace tempi::bench {

// One cache line. A kick adds {impulse, 0} / m to the second half.
struct alignas(64) Node {
  double u[3], clock, v[3], inverse_mass;
};

// Pack-major: nodes[pack][a][lane], geometry[pack][3 i + J, or 9 for the volume][lane].
struct Batch {
  std::int64_t packs;
  const std::int32_t* nodes;
  const double* geometry;
};

struct Candidate {
  const char* name;
  int width;
  void (*strike)(const Batch& batch, Node* nodes, double step, const NeoHookean& material);
  void (*log1p)(const double* x, double* y, std::int64_t n);  // n a multiple of width
};

// ln(1 + x), x > -1, to 1 ulp or so. With u = 1 + x rounded, c = x - (u - 1) what rounding lost, u = 2^k m,
// m in [sqrt(1/2), sqrt(2)), 1 + x = 2^k (1 + f) where f = (m - 1) + 2^-k c (f = x exactly if k = 0), and
//   ln(1 + f) = 2 atanh(s) = 2 s + s R(s^2),  s = f / (2 + f),
// where 2 s = f - s f lets f itself stand in front: ln(1 + f) = f - s (f - R). R is the weighted minimax polynomial of
// degree 6 of (2 atanh(s) / s - 2) on s^2 <= (3 - 2 sqrt 2)^2: its error, 2.5e-18 at most, is below rounding.
// x <= -1 gives a number without meaning (not NaN): det F must be checked anyway. NaN gives NaN.
template <class P>
P log1p_by_atanh(const P& x) {
  constexpr std::uint64_t half_root = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000, exponent = 0xfff0000000000000;
  constexpr double two52 = 4503599627370496.0;
  const P u = P(1.0) + x, c = x - (u - P(1.0));
  const auto b = P::bits(u), t = b - P::bits(half_root), e = t & P::bits(exponent);
  const P m = P::from_bits(b - e), down = P::from_bits(P::bits(one) - e);
  const P k =
      P::from_bits(P::shift52(t + P::bits(std::uint64_t{1} << 62)) | P::bits(std::bit_cast<std::uint64_t>(two52))) -
      P(two52 + 1024.0);
  const P f = (m - P(1.0)) + down * c, s = f / (P(2.0) + f), z = s * s;
  P R = P(0.14795949700582858);
  for (const double a : {0.15314050552112712, 0.18183564326119675, 0.22222198573184523, 0.2857142874238762,
                         0.39999999999414676, 0.6666666666666734})
    R = R * z + P(a);
  return k * P(0.6931471805598903) + (f - (s * (f - z * R) - k * P(5.497923018708371e-14)));
}

// P::edges and P::kick hide how lines of four doubles become packs of one component and back.
// flatten: without it GCC calls stress() and passes its matrices through memory.
template <class P>
[[gnu::flatten]] void strike(const Batch& batch, Node* nodes, double step, const NeoHookean& material) {
  constexpr int W = P::width;
  for (std::int64_t k = 0; k < batch.packs; ++k) {
    const std::int32_t* ids = batch.nodes + k * 4 * W;
    const double* geometry = batch.geometry + k * 10 * W;
    Mat<P, 3> e, G;
    P::edges(nodes, ids, e);
    for (int i = 0; i < 9; ++i) G.a[static_cast<std::size_t>(i)] = P::load(geometry + i * W);
    const Stress<P, 3> stress = material.stress<P, 3>(e * G);
    const P scale = P(-step) * P::load(geometry + 9 * W);
    P::kick(nodes, ids, scale * (stress.P * transpose(G)));
  }
}

template <class P>
void log1p_all(const double* x, double* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += P::width) log1p(P::load(x + i)).store(y + i);
}

}  // namespace tempi::bench
