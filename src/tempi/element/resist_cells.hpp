// SPDX-License-Identifier: Apache-2.0
// The kernel: W viscous cells (Kelvin-Voigt, force/damping.hpp) at once, each quadrature point a damper by itself. With
// d(v) the rate of deformation, T = lambda tr d(w) 1 + 2 mu d(w) the viscous stress on reference volume and w the mean
// velocity,
//
//   w = v - r V M^{-1} B^T T,   B v = d(v),   dN_a/dx = dN_a/dxi (dx/dxi)^{-1}
//
// is solved for T (viscous_stress.hpp). Geometry as packs of cells have it, but for dX/dxi instead of its inverse.
// Include in cell_kernels_*.cpp only, once per instruction set.
#pragma once

#include <bit>
#include <cstdint>

#include "tempi/element/strike_cells.hpp"
#include "tempi/element/viscous_stress.hpp"

namespace tempi {

template <class P, class Element, bool straight>
struct ResistingCells {
  static constexpr std::size_t D = Element::dim, N = Element::nodes, Q = Element::stiffness_rule.size();
  static constexpr std::size_t W = P::width, points = straight ? 1 : Q, per_point = (D * D + 1) * W;
  static constexpr Index ahead = 2;  // packs until one is struck whose nodes and geometry are fetched
  using Matrix = Mat<P, Element::dim>;
  using Local = std::array<std::array<P, D>, N>;
  using Law = ViscousLaw<P, Element::dim>;

  struct Pending {
    Local e, v, inverse_mass, impulse;   // relative displacements; of every node
    std::array<P, N> beside_velocity;    // where nodes are held: what lies there, masses being held back
    std::array<std::uint32_t, N> still;  // of those, a bit for each held lane
    P work;
  };
  enum class Held { nothing, nodes, components };

  // sum_a dN_a/dx (x) dN_a/dx / m_a times `factor`.
  template <std::size_t q>
  static Matrix metric(const Matrix& inverse, const Local& inverse_mass, P factor) {
    Matrix G;
    for (auto& x : G.a) x = P(0.0);
#pragma GCC unroll 16
    for (std::size_t a = 0; a < N; ++a)
#pragma GCC unroll 4
      for (std::size_t i = 0; i < D; ++i)
#pragma GCC unroll 4
        for (std::size_t j = 0; j <= i; ++j) {
          const double product = shape_derivatives<Element>[q][a][i] * shape_derivatives<Element>[q][a][j];
          if (product == 0.0) continue;
          G.a[i * D + j] = G.a[i * D + j] + inverse_mass[a][0] * P(product);
        }
    for (std::size_t i = 0; i < D; ++i)
      for (std::size_t j = 0; j <= i; ++j) G.a[i * D + j] = G.a[j * D + i] = factor * G.a[i * D + j];
    return symmetric([&, half = G * inverse](std::size_t i, std::size_t j) {
      P sum = inverse.a[i] * half.a[j];
      for (std::size_t k = 1; k < D; ++k) sum = sum + inverse.a[k * D + i] * half.a[k * D + j];
      return sum;
    });
  }
  template <std::size_t q>
  static ViscousMetric<P, Element::dim> metric_at_support(const Matrix& inverse, const Local& inverse_mass, P factor) {
    ViscousMetric<P, Element::dim> metric;
    for (std::size_t a = 0; a < N; ++a) {
      std::array<P, D> g;
      g.fill(P(0.0));
      for (std::size_t i = 0; i < D; ++i)
        for (std::size_t j = 0; j < D; ++j) g[j] = g[j] + P(shape_derivatives<Element>[q][a][i]) * inverse.a[i * D + j];
      for (std::size_t i = 0; i < D; ++i) metric.add(i, g, factor * inverse_mass[a][i]);
    }
    return metric;
  }
  template <class Component>
  static Matrix symmetric(Component&& component) {
    Matrix m;
    for (std::size_t i = 0; i < D; ++i)
      for (std::size_t j = 0; j <= i; ++j) m.a[i * D + j] = m.a[j * D + i] = component(i, j);
    return m;
  }

  template <std::size_t q, Held held, bool summing>
  [[gnu::noinline, gnu::flatten]] static void resist_at(const Law& law, P relax, P step, const double* geometry,
                                                        Pending& cell) {
    const double* at = geometry + (straight ? 0 : q * per_point);
    Matrix jacobian = reference_gradient<Element, q>(cell.e);
    for (std::size_t c = 0; c < D * D; ++c) jacobian.a[c] = P::load(at + c * W) + jacobian.a[c];
    const P det_X = P::load(at + D * D * W), volume = P(Element::stiffness_rule[q].weight) * det_X;
    const Matrix inverse = transpose(cofactor(jacobian));  // of dx/dxi, times its determinant
    const P det = determinant(jacobian), least = P(flattest) * det_X;
    const P over_det = P(1.0) / P(magnitude(det).v < least.v ? least.v : det.v);
    const P over(det_X.v > 0.0 ? over_det.v : P(0.0).v);  // what fills up packs has no volume
    Local v;
    for (std::size_t a = 1; a < N; ++a)
      for (std::size_t i = 0; i < D; ++i) v[a][i] = cell.v[a][i] - cell.v[0][i];
    const Matrix L = reference_gradient<Element, q>(v) * inverse;
    const Matrix d = symmetric([&, half = P(0.5) * over](std::size_t i, std::size_t j) {
      return i == j ? over * L.a[i * D + i] : half * (L.a[i * D + j] + L.a[j * D + i]);
    });
    const P factor = relax * volume * over * over;
    ViscousStress<P, Element::dim> viscous;
    if constexpr (held == Held::components) {
      viscous = viscous_stress(law, metric_at_support<q>(inverse, cell.inverse_mass, factor), d);
    } else {
      viscous = viscous_stress(law, metric<q>(inverse, cell.inverse_mass, factor), d);
    }
    cell.work = cell.work - step * volume * viscous.power;
    const Matrix B = symmetric([&, scale = -(step * volume) * over](std::size_t i, std::size_t j) {
                       return scale * viscous.stress.a[i * D + j];
                     }) *
                     transpose(inverse);
    std::array<P, D> others;
    others.fill(P(0.0));
    // Node by node: all impulses at once do not fit into registers.
#pragma GCC unroll 16
    for (std::size_t a = 1; a < N; ++a) {
      std::array<P, D> p;
      p.fill(P(0.0));
      add_force<Element, q>(B, a, p);
      for (std::size_t i = 0; i < D; ++i) others[i] = others[i] + p[i];
      give<held, summing>(cell, a, p);
    }
    for (P& p : others) p = -p;
    give<held, summing>(cell, 0, others);
  }
  template <Held held, bool summing>
  static void give(Pending& cell, std::size_t a, const std::array<P, D>& p) {
    for (std::size_t i = 0; i < D; ++i) {
      if (summing) cell.impulse[a][i] = cell.impulse[a][i] + p[i];
      cell.v[a][i] = cell.v[a][i] + p[i] * cell.inverse_mass[a][held == Held::components ? i : 0];
    }
  }

  // What a kick of the impulse would leave, without reading the node again.
  static void write_velocity(const Pending& cell, std::size_t a, P inverse_mass, const std::int32_t* place,
                             NodeLine* nodes) {
    P v[3] = {P(0.0), P(0.0), P(0.0)};
    for (std::size_t i = 0; i < D; ++i) v[i] = cell.v[a][i];
    const auto write = [&](Index lane, const Quad& quad) {
      *reinterpret_cast<QuadOfLine*>(nodes[place[static_cast<Index>(a * W) + lane]].velocity) = quad;
    };
    scatter_quads(v, write, inverse_mass);
  }

  // Held nodes cannot be given velocity: they have no inverse mass.
  static void hold_nodes(const std::int32_t* lines, const Viscous& cells, std::size_t a, Pending& cell) {
    std::uint32_t& still = cell.still[a] = 0;
    for (std::size_t lane = 0; lane < W; ++lane)
      still |= static_cast<std::uint32_t>(cells.held[lines[lane]][0]) << lane;
    cell.beside_velocity[a] = cell.inverse_mass[a][0];
    if (still == 0) return;
    alignas(P) double free[W];
    for (std::size_t lane = 0; lane < W; ++lane) free[lane] = (still >> lane & 1) != 0 ? 0.0 : 1.0;
    cell.inverse_mass[a][0] = cell.inverse_mass[a][0] * P::load(free);
  }

  template <Held held, bool summing>
  static void resist_pack(const Law& law, const std::int32_t* place, const double* geometry, const Viscous& cells,
                          bool filled_up, NodeLine* nodes, Pending& cell) {
    for (std::size_t a = 0; a < N; ++a) {
      const std::int32_t* lines = place + a * W;
      gather<D>(nodes, lines, cell.e[a].data());
      P quad[4];
      gather_quads<4>([&](Index lane) -> const double* { return nodes[lines[lane]].velocity; }, quad);
      for (std::size_t i = 0; i < D; ++i) {
        cell.v[a][i] = quad[i];
        if (held == Held::components || i == 0) cell.inverse_mass[a][i] = quad[3];
        if (summing) cell.impulse[a][i] = P(0.0);
        if (a > 0) cell.e[a][i] = cell.e[a][i] - cell.e[0][i];
      }
      if constexpr (held == Held::nodes) hold_nodes(lines, cells, a, cell);
      if constexpr (held == Held::components)
        for (std::size_t lane = 0; lane < W; ++lane)
          for (std::size_t i = 0; i < D; ++i)
            if (cells.held[place[a * W + lane]][i]) cell.inverse_mass[a][i].v[lane] = 0.0;
    }
    cell.work = P(0.0);
    [&]<std::size_t... q>(std::index_sequence<q...>) {
      if (cells.backward) {
        (resist_at<Q - 1 - q, held, summing>(law, P(cells.relax), P(cells.step), geometry, cell), ...);
      } else {
        (resist_at<q, held, summing>(law, P(cells.relax), P(cells.step), geometry, cell), ...);
      }
    }
    (std::make_index_sequence<Q>{});
    const auto withhold = [&](std::size_t a, std::size_t lane, std::size_t i) {
      cells.withheld[place[a * W + lane]][i] += cell.impulse[a][i].v[lane];
    };
    if constexpr (held == Held::nothing) {
      for (std::size_t a = 0; a < N; ++a)
        filled_up ? scatter<D>(nodes, place + a * W, cell.impulse[a].data())
                  : write_velocity(cell, a, cell.inverse_mass[a][0], place, nodes);
    } else if constexpr (held == Held::nodes) {
      for (std::size_t a = 0; a < N; ++a) {
        write_velocity(cell, a, cell.beside_velocity[a], place, nodes);
        for (std::uint32_t still = cell.still[a]; still != 0; still &= still - 1)
          for (std::size_t i = 0; i < D; ++i) withhold(a, static_cast<std::size_t>(std::countr_zero(still)), i);
      }
    } else {
      for (std::size_t a = 0; a < N; ++a)
        for (std::size_t lane = 0; lane < W; ++lane)
          for (std::size_t i = 0; i < D; ++i) {
            const double inverse_mass = cell.inverse_mass[a][i].v[lane];
            nodes[place[a * W + lane]].velocity[i] += cell.impulse[a][i].v[lane] * inverse_mass;
            if (inverse_mass == 0.0) withhold(a, lane, i);
          }
    }
  }

  [[gnu::flatten]] static double resist(const PackedTerms& packed, const Viscous& cells, Index first, Index last,
                                        NodeLine* nodes, double* kept) {
    const Law law(cells.lambda, cells.mu);
    P work(0.0);
    Pending cell;
    for (Index i = first; i < last; ++i) {
      const Index pack = cells.backward ? last - 1 - (i - first) : i;
      const Index next = cells.backward ? pack - ahead : pack + ahead;
      const auto places = [&](Index p) { return packed.places + p * static_cast<Index>(N * W); };
      const auto geometry = [&](Index p) { return packed.geometry + p * static_cast<Index>(points * per_point); };
      if (next >= first && next < last) {
        for (std::size_t k = 0; k < N * W; ++k) __builtin_prefetch(nodes + places(next)[k], 1);
        for (std::size_t k = 0; k < points * per_point; k += 8) __builtin_prefetch(geometry(next) + k);
      }
      const ViscousPack kind = cells.packs[pack];
      const auto one = [&]<Held held, bool summing>() {
        resist_pack<held, summing>(law, places(pack), geometry(pack), cells, kind == ViscousPack::filled_up, nodes,
                                   cell);
      };
      if (kind == ViscousPack::at_support) {
        one.template operator()<Held::components, true>();
      } else if (kind == ViscousPack::at_held_nodes) {
        one.template operator()<Held::nodes, true>();
      } else if (kind == ViscousPack::filled_up || kept != nullptr) {
        one.template operator()<Held::nothing, true>();
      } else {
        one.template operator()<Held::nothing, false>();
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
