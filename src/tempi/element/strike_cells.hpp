// SPDX-License-Identifier: Apache-2.0
// Nodal forces of W elastic cells at once, by the formulas of elastic_cells.cpp. Include in cell_kernels_*.cpp only,
// once per instruction set.
#pragma once

#include <array>
#include <type_traits>

#include "tempi/element/cell_kernels.hpp"
#include "tempi/element/strike_terms.hpp"
#include "tempi/mesh/elements.hpp"

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

// sum_j B_ij dN_a/dxi_j at point q.
template <class Element, std::size_t q, class T, std::size_t D>
inline void add_force(const Mat<T, Element::dim>& B, std::size_t a, std::array<T, D>& force) {
#pragma GCC unroll 4
  for (std::size_t j = 0; j < D; ++j) {
    const double d = shape_derivatives<Element>[q][a][j];
    if (d == 0.0) continue;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < D; ++i) force[i] = force[i] + B.a[i * D + j] * T(d);
  }
}

template <class Element, std::size_t q, class T, std::size_t N, std::size_t D>
inline void add_forces(const Mat<T, Element::dim>& B, std::array<std::array<T, D>, N>& force) {
#pragma GCC unroll 16
  for (std::size_t a = 1; a < N; ++a) add_force<Element, q>(B, a, force[a]);
}

// Cells, as TermsAtOnce wants its terms.
template <class P, class Element, bool straight, class Model>
struct PackedCell {
  static constexpr std::size_t D = Element::dim, N = Element::nodes, Q = Element::stiffness_rule.size();
  static constexpr std::size_t W = P::width, per_point = (D * D + 1) * W;
  static constexpr std::size_t per_pack = (straight ? 1 : Q) * per_point;
  static constexpr bool stiffness_varies = !std::is_same_v<Model, LinearElastic>;
  using Local = std::array<std::array<P, D>, N>;

  static Mat<P, Element::dim> inverse_at(const double* at) {
    Mat<P, Element::dim> inverse;
    for (std::size_t c = 0; c < D * D; ++c) inverse.a[c] = P::load(at + c * W);
    return inverse;
  }
  static Mat<P, Element::dim> apart(Mat<P, Element::dim> H) {
    for (P& x : H.a) x = tempi::apart(x);
    return H;
  }

  // What the energy is made of.
  static Stress<P, Element::dim> apart(const Stress<P, Element::dim>& of) {
    return {of.P, of.det_F, tempi::apart(of.beyond_linear), tempi::apart(of.log_J)};
  }

  template <std::size_t q, Energy energy>
  static void add_point(const Model& model, const double* geometry, P factor, const Local& e, bool ask,
                        PackSums<P, N, D>& sums) {
    const double* at = geometry + (straight ? 0 : q * per_point);
    const Mat<P, Element::dim> inverse = inverse_at(at);
    const auto H = reference_gradient<Element, q>(e) * inverse;
    const auto stress = model.template stress<P, Element::dim>(H);
    sums.require(stress.det_F);
    const P volume = P(Element::stiffness_rule[q].weight) * P::load(at + D * D * W);
    add_forces<Element, q>((factor * volume) * (stress.P * transpose(inverse)), sums.force);
    if constexpr (energy == Energy::yes)
      sums.energy = sums.energy + volume * model.template energy<P, Element::dim>(H, stress);
    if constexpr (energy == Energy::asked)
      if (ask) {
        const P v = P(Element::stiffness_rule[q].weight) * P::load(at + D * D * W);
        sums.energy = sums.energy + v * model.template energy<P, Element::dim>(apart(H), apart(stress));
      }
  }

  template <Energy energy>
  static void add(const Lame& lame, const double* geometry, P factor, const Local& e, bool ask,
                  PackSums<P, N, D>& sums) {
    const Model model{lame};
    [&]<std::size_t... q>(std::index_sequence<q...>) {
      (add_point<q, energy>(model, geometry, factor, e, ask, sums), ...);
    }
    (std::make_index_sequence<Q>{});
  }

  template <std::size_t q>
  static void add_change_at(const Model& model, const double* geometry, const Local& e, const Local& w, Local& force) {
    const double* at = geometry + (straight ? 0 : q * per_point);
    const Mat<P, Element::dim> inverse = inverse_at(at);
    Mat<P, Element::dim> H;
    if constexpr (stiffness_varies) H = reference_gradient<Element, q>(e) * inverse;
    const auto change = model.template stress_change<P, Element::dim>(H, reference_gradient<Element, q>(w) * inverse);
    const P volume = P(-Element::stiffness_rule[q].weight) * P::load(at + D * D * W);
    add_forces<Element, q>(volume * (change * transpose(inverse)), force);
  }
  static void add_change(const Lame& lame, const double* geometry, const Local& e, const Local& w, Local& force) {
    const Model model{lame};
    [&]<std::size_t... q>(std::index_sequence<q...>) { (add_change_at<q>(model, geometry, e, w, force), ...); }
    (std::make_index_sequence<Q>{});
  }
};

template <class P, class Element, bool straight>
TermKernel kernel_of(CellMaterial material) {
  switch (material) {
    case CellMaterial::neo_hookean: return TermsAtOnce<P, PackedCell<P, Element, straight, NeoHookean>>::kernel();
    case CellMaterial::saint_venant_kirchhoff:
      return TermsAtOnce<P, PackedCell<P, Element, straight, SaintVenantKirchhoff>>::kernel();
    case CellMaterial::linear_elastic: return TermsAtOnce<P, PackedCell<P, Element, straight, LinearElastic>>::kernel();
  }
  return {};
}

template <int W>
TermKernel cell_kernel_of(CellShape shape, CellMaterial material) {
  TermKernel kernel{};
  any_cell_element([&]<class E>(E, CellShape of) {
    if (of == shape) kernel = kernel_of<Pack<W>, typename E::Element, E::straight>(material);
    return of == shape;
  });
  return kernel;
}

}  // namespace tempi
