// SPDX-License-Identifier: Apache-2.0
// The kernel: W viscous cells (Kelvin-Voigt, force/damping.hpp) at once, each quadrature point a damper by itself. With
// E'(v) the rate of the Green strain in Mandel's components, S = D E'(w) the viscous stress and w the mean velocity,
//
//   w = v - r V M^{-1} B^T S   =>   (1 + r D^{1/2} A D^{1/2}) y = D^{1/2} E'(v),   S = D^{1/2} y,   A = V B M^{-1} B^T
//   A_{IJ,KL} = V / 4 (C_IK G_JL + C_IL G_JK + C_JK G_IL + C_JL G_IK),   C = F^T F,   G = sum_a dN_a (x) dN_a / m_a
//
// six equations, symmetric and positive definite, instead of thirty. Where components of nodes are held they have no
// inverse mass, and A is summed node by node. Include in cell_kernels_*.cpp only, once per instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tempi/element/strike_cells.hpp"

namespace tempi {

template <class P, class Element, bool straight>
struct ResistingCells {
  static constexpr std::size_t D = Element::dim, N = Element::nodes, Q = Element::stiffness_rule.size();
  static constexpr std::size_t W = P::width, points = straight ? 1 : Q, per_point = (D * D + 1) * W;
  static constexpr std::size_t S = D * (D + 1) / 2;
  static constexpr Index ahead = 2;  // packs whose node lines are fetched
  using Matrix = Mat<P, Element::dim>;
  using Local = std::array<std::array<P, D>, N>;
  using Strain = std::array<P, S>;
  using Metric = std::array<std::array<P, S>, S>;  // the lower triangle

  // Components of a symmetric tensor: those of the diagonal, then the others times sqrt 2.
  static constexpr std::array<std::array<std::size_t, 2>, 6> pair = {
      {{0, 0}, {D > 1 ? 1 : 0, 1}, {D == 2 ? 0 : 2, D == 2 ? 1 : 2}, {0, 1}, {1, 2}, {0, 2}}};
  static constexpr bool on_diagonal(std::size_t p) { return p < D; }

  struct Constants {
    P root, rest;  // D^{1/2} = root 1 + rest 1 (x) 1
    P relax, step;
    explicit Constants(const Viscous& of) : root(std::sqrt(2.0 * of.mu)), relax(of.relax), step(of.step) {
      const double d = D, along = std::sqrt(std::max(0.0, d * of.lambda + 2.0 * of.mu));
      rest = P((along - std::sqrt(2.0 * of.mu)) / d);
    }
  };

  struct Pending {
    Local e, v, inverse_mass, impulse;  // relative displacements; of every node
    P work;
  };

  static void add_metric(const Matrix& C, const Matrix& G, Metric& A) {
#pragma GCC unroll 8
    for (std::size_t p = 0; p < S; ++p)
#pragma GCC unroll 8
      for (std::size_t q = 0; q <= p; ++q) {
        const auto [I, J] = pair[p];
        const auto [K, L] = pair[q];
        const auto c = [&](std::size_t i, std::size_t j) { return C.a[i * D + j]; };
        const auto g = [&](std::size_t i, std::size_t j) { return G.a[i * D + j]; };
        if (on_diagonal(p) && on_diagonal(q)) {
          A[p][q] = A[p][q] + c(I, K) * g(I, K);
        } else if (on_diagonal(q)) {
          A[p][q] = A[p][q] + P(std::numbers::sqrt2 / 2.0) * (c(I, K) * g(J, K) + c(J, K) * g(I, K));
        } else {
          A[p][q] = A[p][q] + P(0.5) * (c(I, K) * g(J, L) + c(I, L) * g(J, K) + c(J, K) * g(I, L) + c(J, L) * g(I, K));
        }
      }
  }

  template <bool held>
  static Metric metric(const Matrix& F, const Matrix& inverse, const std::array<std::array<double, D>, N>& derivatives,
                       const Local& inverse_mass) {
    Metric A;
    for (auto& row : A) row.fill(P(0.0));
    Matrix G;
    for (auto& x : G.a) x = P(0.0);
#pragma GCC unroll 16
    for (std::size_t a = 0; a < N; ++a) {
      std::array<P, D> dN;
      if constexpr (held) {
        for (std::size_t J = 0; J < D; ++J) {
          dN[J] = P(0.0);
          for (std::size_t j = 0; j < D; ++j) dN[J] = dN[J] + P(derivatives[a][j]) * inverse.a[j * D + J];
        }
        Matrix C, g;
        for (std::size_t I = 0; I < D; ++I)
          for (std::size_t J = 0; J < D; ++J) {
            g.a[I * D + J] = dN[I] * dN[J];
            C.a[I * D + J] = P(0.0);
            for (std::size_t i = 0; i < D; ++i)
              C.a[I * D + J] = C.a[I * D + J] + inverse_mass[a][i] * F.a[i * D + I] * F.a[i * D + J];
          }
        add_metric(C, g, A);
      } else {
#pragma GCC unroll 4
        for (std::size_t i = 0; i < D; ++i)
#pragma GCC unroll 4
          for (std::size_t j = 0; j < D; ++j) {
            const double product = derivatives[a][i] * derivatives[a][j];
            if (product == 0.0) continue;
            G.a[i * D + j] = G.a[i * D + j] + inverse_mass[a][0] * P(product);
          }
      }
    }
    if constexpr (!held) add_metric(transpose(F) * F, transpose(inverse) * (G * inverse), A);
    return A;
  }

  // y of (1 + r D^{1/2} A D^{1/2}) y = D^{1/2} E', by L D L^T.
  static Strain solve(const Constants& of, P relax, Metric& A, const Strain& rate) {
    std::array<P, S> row;  // A 1
    P sum(0.0);
#pragma GCC unroll 8
    for (std::size_t p = 0; p < S; ++p) {
      row[p] = P(0.0);
#pragma GCC unroll 4
      for (std::size_t q = 0; q < D; ++q) row[p] = row[p] + (q <= p ? A[p][q] : A[q][p]);
      if (on_diagonal(p)) sum = sum + row[p];
    }
    const P aa = relax * of.root * of.root, ab = relax * of.root * of.rest, bb = relax * of.rest * of.rest * sum;
    P trace(0.0);
    for (std::size_t p = 0; p < D; ++p) trace = trace + rate[p];
    Strain y;
#pragma GCC unroll 8
    for (std::size_t p = 0; p < S; ++p) {
#pragma GCC unroll 8
      for (std::size_t q = 0; q <= p; ++q) {
        A[p][q] = aa * A[p][q];
        if (on_diagonal(q)) A[p][q] = A[p][q] + ab * row[p];
        if (on_diagonal(p)) A[p][q] = A[p][q] + ab * row[q];
        if (on_diagonal(p) && on_diagonal(q)) A[p][q] = A[p][q] + bb;
        if (p == q) A[p][q] = A[p][q] + P(1.0);
      }
      y[p] = of.root * rate[p];
      if (on_diagonal(p)) y[p] = y[p] + of.rest * trace;
    }
    std::array<P, S> inverse;
#pragma GCC unroll 8
    for (std::size_t q = 0; q < S; ++q) {
      inverse[q] = P(1.0) / A[q][q];
#pragma GCC unroll 8
      for (std::size_t p = q + 1; p < S; ++p) {
        const P l = A[p][q] * inverse[q];
#pragma GCC unroll 8
        for (std::size_t k = q + 1; k <= p; ++k) A[p][k] = A[p][k] - l * A[k][q];
        y[p] = y[p] - l * y[q];
      }
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < S; ++i) {
      const std::size_t p = S - 1 - i;
#pragma GCC unroll 8
      for (std::size_t k = p + 1; k < S; ++k) y[p] = y[p] - A[k][p] * y[k];
      y[p] = y[p] * inverse[p];
    }
    return y;
  }

  template <std::size_t q, bool held>
  [[gnu::noinline, gnu::flatten]] static void resist_at(const Constants& of, const double* geometry, Pending& cell) {
    const double* at = geometry + (straight ? 0 : q * per_point);
    Matrix inverse;
    for (std::size_t c = 0; c < D * D; ++c) inverse.a[c] = P::load(at + c * W);
    const P volume = P(Element::stiffness_rule[q].weight) * P::load(at + D * D * W);
    const Matrix F = identity<P, Element::dim>() + reference_gradient<Element, q>(cell.e) * inverse;
    Local v;
    for (std::size_t a = 1; a < N; ++a)
      for (std::size_t i = 0; i < D; ++i) v[a][i] = cell.v[a][i] - cell.v[0][i];
    const Matrix L = transpose(F) * (reference_gradient<Element, q>(v) * inverse);
    Strain rate;
    for (std::size_t p = 0; p < S; ++p) {
      const auto [I, J] = pair[p];
      rate[p] = on_diagonal(p) ? L.a[I * D + I] : P(std::numbers::sqrt2 / 2.0) * (L.a[I * D + J] + L.a[J * D + I]);
    }
    Metric A = metric<held>(F, inverse, shape_derivatives<Element>[q], cell.inverse_mass);
    const Strain y = solve(of, of.relax * volume, A, rate);
    P trace(0.0), square(0.0);
    for (std::size_t p = 0; p < S; ++p) {
      if (on_diagonal(p)) trace = trace + y[p];
      square = square + y[p] * y[p];
    }
    cell.work = cell.work - of.step * volume * square;
    Matrix stress;
    for (std::size_t p = 0; p < S; ++p) {
      const auto [I, J] = pair[p];
      if (on_diagonal(p)) {
        stress.a[I * D + I] = of.root * y[p] + of.rest * trace;
      } else {
        stress.a[I * D + J] = stress.a[J * D + I] = P(std::numbers::sqrt2 / 2.0) * of.root * y[p];
      }
    }
    Local impulse;
    for (auto& node : impulse) node.fill(P(0.0));
    add_forces<Element, q>(-(of.step * volume) * ((F * stress) * transpose(inverse)), impulse);
    for (std::size_t i = 0; i < D; ++i) {
      P sum = impulse[1][i];
      for (std::size_t a = 2; a < N; ++a) sum = sum + impulse[a][i];
      impulse[0][i] = -sum;
    }
    if constexpr (Q == 1) {
      cell.impulse = impulse;
      return;
    }
    for (std::size_t a = 0; a < N; ++a)
      for (std::size_t i = 0; i < D; ++i) {
        cell.impulse[a][i] = cell.impulse[a][i] + impulse[a][i];
        cell.v[a][i] = cell.v[a][i] + impulse[a][i] * cell.inverse_mass[a][held ? i : 0];
      }
  }

  template <bool held>
  static void resist_pack(const Constants& of, const std::int32_t* place, const double* geometry, const Viscous& cells,
                          NodeLine* nodes, Pending& cell) {
    for (std::size_t a = 0; a < N; ++a) {
      const std::int32_t* lines = place + a * W;
      gather<D>(nodes, lines, cell.e[a].data());
      P quad[4];
      gather_quads<4>([&](Index lane) -> const double* { return nodes[lines[lane]].velocity; }, quad);
      for (std::size_t i = 0; i < D; ++i) {
        cell.v[a][i] = quad[i];
        if (held || i == 0) cell.inverse_mass[a][i] = quad[3];
        if (Q > 1) cell.impulse[a][i] = P(0.0);
        if (a > 0) cell.e[a][i] = cell.e[a][i] - cell.e[0][i];
      }
      if constexpr (held)
        for (std::size_t lane = 0; lane < W; ++lane)
          for (std::size_t i = 0; i < D; ++i)
            if (cells.held[place[a * W + lane]][i]) cell.inverse_mass[a][i].v[lane] = 0.0;
    }
    cell.work = P(0.0);
    [&]<std::size_t... q>(std::index_sequence<q...>) {
      if (cells.backward) {
        (resist_at<Q - 1 - q, held>(of, geometry, cell), ...);
      } else {
        (resist_at<q, held>(of, geometry, cell), ...);
      }
    }
    (std::make_index_sequence<Q>{});
    if constexpr (!held) {
      for (std::size_t a = 0; a < N; ++a) scatter<D>(nodes, place + a * W, cell.impulse[a].data());
    } else {
      for (std::size_t a = 0; a < N; ++a)
        for (std::size_t lane = 0; lane < W; ++lane)
          for (std::size_t i = 0; i < D; ++i) {
            const double p = cell.impulse[a][i].v[lane], inverse_mass = cell.inverse_mass[a][i].v[lane];
            const std::int32_t line = place[a * W + lane];
            nodes[line].velocity[i] += p * inverse_mass;
            if (inverse_mass == 0.0) cells.withheld[line][i] += p;
          }
    }
  }

  [[gnu::flatten]] static double resist(const PackedTerms& packed, const Viscous& cells, Index first, Index last,
                                        NodeLine* nodes, double* kept) {
    const Constants of(cells);
    P work(0.0);
    Pending cell;
    for (Index i = first; i < last; ++i) {
      const Index pack = cells.backward ? last - 1 - (i - first) : i;
      const Index next = cells.backward ? pack - ahead : pack + ahead;
      const auto places = [&](Index p) { return packed.places + p * static_cast<Index>(N * W); };
      if (next >= first && next < last)
        for (std::size_t k = 0; k < N * W; ++k) __builtin_prefetch(nodes + places(next)[k], 1);
      const double* geometry = packed.geometry + pack * static_cast<Index>(points * per_point);
      if (cells.at_support[pack] != 0) {
        resist_pack<true>(of, places(pack), geometry, cells, nodes, cell);
      } else {
        resist_pack<false>(of, places(pack), geometry, cells, nodes, cell);
      }
      work = work + cell.work;
      if (kept != nullptr)
        for (std::size_t a = 0; a < N; ++a)
          for (std::size_t c = 0; c < D; ++c)
            cell.impulse[a][c].store(kept + ((static_cast<std::size_t>(pack) * N + a) * D + c) * W);
    }
    double sum = 0.0;
    for (std::size_t lane = 0; lane < W; ++lane) sum += work.v[lane];
    return sum;
  }
};

template <int W>
CellResistance cell_resistance_of(CellShape shape) {
  CellResistance kernel = nullptr;
  any_cell_element([&]<class E>(E, CellShape of) {
    if (of == shape) kernel = ResistingCells<Pack<W>, typename E::Element, E::straight>::resist;
    return of == shape;
  });
  return kernel;
}

}  // namespace tempi
