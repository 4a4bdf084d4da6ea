// SPDX-License-Identifier: Apache-2.0
// The kernel: nodal forces of W elastic cells at once, by the formulas of elastic_cells.cpp. Include in
// cell_kernels_*.cpp only, once per instruction set.
//
// Everything is inlined into the kernels (gnu::flatten): left to itself GCC passes matrices of packs through memory, at
// twice the time.
#pragma once

#include <array>
#include <limits>

#include "tempi/element/cell_kernels.hpp"
#include "tempi/mesh/elements.hpp"
#include "tempi/simd/pack.hpp"

namespace tempi {

template <class Element>
inline constexpr auto shape_derivatives = [] {
  std::array<std::array<std::array<double, Element::dim>, Element::nodes>, Element::stiffness_rule.size()> all{};
  for (std::size_t q = 0; q < all.size(); ++q) all[q] = Element::derivative(Element::stiffness_rule[q].xi);
  return all;
}();

// sum_a e_a (x) dN_a/dxi at point q: displacement gradient on the reference cell. Zeros of dN are left out.
template <class Element, std::size_t q, class T, std::size_t N, std::size_t D>
inline Mat<T, Element::dim> reference_gradient(const std::array<std::array<T, D>, N>& e) {
  Mat<T, Element::dim> G;
  for (auto& x : G.a) x = T(0.0);
#pragma GCC unroll 16
  for (std::size_t a = 1; a < N; ++a)
#pragma GCC unroll 4
    for (std::size_t j = 0; j < D; ++j) {
      const double d = shape_derivatives<Element>[q][a][j];
      if (d == 0.0) continue;
#pragma GCC unroll 4
      for (std::size_t i = 0; i < D; ++i) G.a[i * D + j] = G.a[i * D + j] + e[a][i] * T(d);
    }
  return G;
}

template <class Element, std::size_t q, class T, std::size_t N, std::size_t D>
inline void add_forces(const Mat<T, Element::dim>& B, std::array<std::array<T, D>, N>& force) {
#pragma GCC unroll 16
  for (std::size_t a = 1; a < N; ++a)
#pragma GCC unroll 4
    for (std::size_t j = 0; j < D; ++j) {
      const double d = shape_derivatives<Element>[q][a][j];
      if (d == 0.0) continue;
#pragma GCC unroll 4
      for (std::size_t i = 0; i < D; ++i) force[a][i] = force[a][i] + B.a[i * D + j] * T(d);
    }
}

template <class P, class Element, bool straight, class Model>
struct CellsAtOnce {
  static constexpr std::size_t D = Element::dim, N = Element::nodes, Q = Element::stiffness_rule.size();
  static constexpr std::size_t W = P::width, points = straight ? 1 : Q, per_point = (D * D + 1) * W;
  using Local = std::array<std::array<P, D>, N>;
  using Bits = typename P::Bits;

  // What one pack has come to.
  struct Sums {
    Local force;  // `factor` times dV/dx
    P energy;     // only where it is asked for
    Bits admissible;
  };

  enum class Energy { no, yes, asked };  // asked: where `ask` says so, without a change to the bits of the forces

  // Values that the compiler knows nothing of: what is made of them cannot change how the rest is rounded.
  static Mat<P, Element::dim> apart(Mat<P, Element::dim> H) {
    for (P& x : H.a) asm("" : "+v"(x.v));
    return H;
  }

  // Displacements of a pack's nodes, relative to the first of each cell: a common translation leaves no rounding
  // behind.
  template <class Lines>
  static void gather_relative(const Lines* lines, const std::int32_t* place, Local& e) {
    gather<D>(lines, place, e[0].data());
    for (std::size_t a = 1; a < N; ++a) {
      gather<D>(lines, place + a * W, e[a].data());
      for (std::size_t i = 0; i < D; ++i) e[a][i] = e[a][i] - e[0][i];
    }
  }
  static void clear(Local& force) {
    for (std::size_t a = 1; a < N; ++a)
      for (std::size_t i = 0; i < D; ++i) force[a][i] = P(0.0);
  }
  // The first node's force is minus the sum of the others'.
  static void balance(Local& force) {
    for (std::size_t i = 0; i < D; ++i) {
      P sum = force[1][i];
      for (std::size_t a = 2; a < N; ++a) sum = sum + force[a][i];
      force[0][i] = -sum;
    }
  }

  template <std::size_t q, Energy energy>
  static void add_point(const Model& model, const double* geometry, P factor, const Local& e, bool ask, Sums& sums) {
    const double* at = geometry + (straight ? 0 : q * per_point);
    Mat<P, Element::dim> inverse;
    for (std::size_t c = 0; c < D * D; ++c) inverse.a[c] = P::load(at + c * W);
    const auto H = reference_gradient<Element, q>(e) * inverse;
    const auto stress = model.template stress<P, Element::dim>(H);
    const typename P::Values J = stress.det_F.v;
    sums.admissible &= (J > 0.0) & (J < std::numeric_limits<double>::infinity());
    const P volume = P(Element::stiffness_rule[q].weight) * P::load(at + D * D * W);
    add_forces<Element, q>((factor * volume) * (stress.P * transpose(inverse)), sums.force);
    if constexpr (energy == Energy::yes) sums.energy = sums.energy + volume * model.template energy<P, Element::dim>(H);
    if constexpr (energy == Energy::asked)
      if (ask) {
        const P v = P(Element::stiffness_rule[q].weight) * P::load(at + D * D * W);
        sums.energy = sums.energy + v * model.template energy<P, Element::dim>(apart(H));
      }
  }

  template <Energy energy>
  static void add_pack(const PackedCells& cells, Index pack, P factor, const NodeLine* nodes, Sums& sums,
                       bool ask = false) {
    const Model model{cells.lame};
    const std::int32_t* place = cells.places + pack * static_cast<Index>(N * W);
    const double* geometry = cells.geometry + pack * static_cast<Index>(points * per_point);
    Local e;
    gather_relative(nodes, place, e);
    clear(sums.force);
    [&]<std::size_t... q>(std::index_sequence<q...>) {
      (add_point<q, energy>(model, geometry, factor, e, ask, sums), ...);
    }
    (std::make_index_sequence<Q>{});
    balance(sums.force);
  }

  // The node lines of a pack to come: those of large models are not in a near cache.
  static constexpr Index ahead = 2;
  static void prefetch(const std::int32_t* place, const NodeLine* nodes) {
    for (std::size_t i = 0; i < N * W; ++i) __builtin_prefetch(nodes + place[i], 1);
  }

  static bool all(const Bits& admissible) {
    for (std::size_t lane = 0; lane < W; ++lane)
      if (admissible[lane] == 0) return false;
    return true;
  }

  static void strike_pack(const PackedCells& cells, Index pack, NodeLine* nodes, const Local& force) {
    const std::int32_t* place = cells.places + pack * static_cast<Index>(N * W);
    for (std::size_t a = 1; a < N; ++a) scatter<D>(nodes, place + a * W, force[a].data());
    scatter<D>(nodes, place, force[0].data());  // last: it is the sum of the others
  }

  [[gnu::flatten]] static bool strike(const PackedCells& cells, Index first, Index last, double step, NodeLine* nodes,
                                      double* energies, double* kept) {
    Sums sums = {{}, P(0.0), ~Bits{}};
    for (Index pack = first; pack < last; ++pack) {
      if (pack + ahead < last) prefetch(cells.places + (pack + ahead) * static_cast<Index>(N * W), nodes);
      add_pack<Energy::asked>(cells, pack, P(-step), nodes, sums, energies != nullptr);
      if (energies != nullptr) {
        sums.energy.store(energies);
        sums.energy = P(0.0);
        energies += W;
        for (std::size_t a = 1; a < N; ++a)
          for (std::size_t i = 0; i < D; ++i, kept += W) sums.force[a][i].store(kept);
      }
      strike_pack(cells, pack, nodes, sums.force);
    }
    return all(sums.admissible);
  }

  [[gnu::flatten]] static bool look(const PackedCells& cells, Index first, Index last, NodeLine* nodes,
                                    double& energy) {
    P sum(0.0);
    Sums sums = {{}, P(0.0), ~Bits{}};
    for (Index pack = first; pack < last; ++pack) {
      if (pack + ahead < last) prefetch(cells.places + (pack + ahead) * static_cast<Index>(N * W), nodes);
      sums.energy = P(0.0);
      add_pack<Energy::yes>(cells, pack, P(-1.0), nodes, sums);
      strike_pack(cells, pack, nodes, sums.force);
      sum = sum + sums.energy;
    }
    energy = 0.0;
    for (std::size_t lane = 0; lane < W; ++lane) energy += sum.v[lane];
    return all(sums.admissible);
  }

  // p . w = sum over all nodes but the first of p_a . (w_a - w_0): the first one's force is minus the sum of theirs.
  [[gnu::flatten]] static void works(const PackedCells& cells, Index first, Index last, const NodeMean* means,
                                     const double* kept, double* kinetic, double* work) {
    for (Index pack = first; pack < last; ++pack) {
      const std::int32_t* place = cells.places + pack * static_cast<Index>(N * W);
      P w0[D], w[D], energy, sum(0.0);
      gather_means<D>(means, place, w0, energy);
      P energies = energy;
      for (std::size_t a = 1; a < N; ++a) {
        gather_means<D>(means, place + a * W, w, energy);
        energies = energies + energy;
        for (std::size_t i = 0; i < D; ++i, kept += W) sum = sum + P::load(kept) * (w[i] - w0[i]);
      }
      energies.store(kinetic);
      sum.store(work);
      kinetic += W;
      work += W;
    }
  }

  [[gnu::flatten]] static void measure(const PackedCells& cells, Index first, Index last, const NodeLine* nodes,
                                       double* energies, double* gradients) {
    for (Index pack = first; pack < last; ++pack) {
      Sums sums = {{}, P(0.0), ~Bits{}};
      add_pack<Energy::yes>(cells, pack, P(1.0), nodes, sums);
      for (std::size_t lane = 0; lane < W; ++lane) {
        *energies++ = sums.energy.v[lane];
        for (std::size_t a = 0; a < N; ++a)
          for (std::size_t i = 0; i < D; ++i) *gradients++ = sums.force[a][i].v[lane];
      }
    }
  }

  template <std::size_t q>
  static void add_change(const Model& model, const double* geometry, const Local& e, const Local& w, Local& force) {
    const double* at = geometry + (straight ? 0 : q * per_point);
    Mat<P, Element::dim> inverse;
    for (std::size_t c = 0; c < D * D; ++c) inverse.a[c] = P::load(at + c * W);
    const auto change = model.template stress_change<P, Element::dim>(reference_gradient<Element, q>(e) * inverse,
                                                                      reference_gradient<Element, q>(w) * inverse);
    const P volume = P(-Element::stiffness_rule[q].weight) * P::load(at + D * D * W);
    add_forces<Element, q>(volume * (change * transpose(inverse)), force);
  }

  [[gnu::flatten]] static void change(const PackedCells& cells, Index first, Index last, NodeLine* nodes,
                                      const NodeShift* shifts, double* impulses) {
    const Model model{cells.lame};
    for (Index pack = first; pack < last; ++pack) {
      if (pack + 2 * ahead < last) {
        const std::int32_t* next = cells.places + (pack + 2 * ahead) * static_cast<Index>(N * W);
        prefetch(next, nodes);
        for (std::size_t i = 0; i < N * W; ++i) __builtin_prefetch(shifts + next[i]);
      }
      const std::int32_t* place = cells.places + pack * static_cast<Index>(N * W);
      const double* geometry = cells.geometry + pack * static_cast<Index>(points * per_point);
      Local e, w, force;
      gather_relative(nodes, place, e);
      gather_relative(shifts, place, w);
      clear(force);
      [&]<std::size_t... q>(std::index_sequence<q...>) { (add_change<q>(model, geometry, e, w, force), ...); }
      (std::make_index_sequence<Q>{});
      balance(force);
      strike_pack(cells, pack, nodes, force);
      if (impulses == nullptr) continue;
      for (std::size_t lane = 0; lane < W; ++lane)
        for (std::size_t a = 0; a < N; ++a)
          for (std::size_t i = 0; i < D; ++i) *impulses++ = force[a][i].v[lane];
    }
  }

  static constexpr CellKernel kernel() { return {strike, measure, works, look, change}; }
};

template <class P, class Element, bool straight>
CellKernel kernel_of(CellMaterial material) {
  switch (material) {
    case CellMaterial::neo_hookean: return CellsAtOnce<P, Element, straight, NeoHookean>::kernel();
    case CellMaterial::saint_venant_kirchhoff: return CellsAtOnce<P, Element, straight, SaintVenantKirchhoff>::kernel();
    case CellMaterial::linear_elastic: return CellsAtOnce<P, Element, straight, LinearElastic>::kernel();
  }
  return {};
}

template <int W>
CellKernel cell_kernel_of(CellShape shape, CellMaterial material) {
  CellKernel kernel{};
  any_cell_element([&]<class E>(E, CellShape of) {
    if (of == shape) kernel = kernel_of<Pack<W>, typename E::Element, E::straight>(material);
    return of == shape;
  });
  return kernel;
}

}  // namespace tempi
