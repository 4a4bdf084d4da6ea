// SPDX-License-Identifier: Apache-2.0
// The kernel: configurational forces (configurational_force.hpp) of W cells at once. Include in cell_kernels_*.cpp
// only, once per instruction set.
#pragma once

#include "tempi/element/strike_cells.hpp"

namespace tempi {

template <class P, class Element, bool straight, class Model>
struct ConfigurationalCells {
  using Cell = PackedCell<P, Element, straight, Model>;
  using Terms = TermsAtOnce<P, Cell>;
  static constexpr std::size_t D = Cell::D, N = Cell::N, W = Cell::W;
  using Local = typename Cell::Local;
  using Matrix = Mat<P, Element::dim>;

  // Adds volume (W - T) 1 - A^T P, A = F or F - 1, with the gradients of point q.
  template <std::size_t q>
  static void add_point(const Model& model, const double* geometry, const Local& e, P kinetic, bool places,
                        Local& force) {
    const double* at = geometry + (straight ? 0 : q * Cell::per_point);
    const Matrix inverse = Cell::inverse_at(at);
    const Matrix H = reference_gradient<Element, q>(e) * inverse;
    const Matrix stress = model.template stress<P, Element::dim>(H).P;
    const Matrix A = places ? H + identity<P, Element::dim>() : H;
    Matrix C = P(-1.0) * (transpose(A) * stress);
    const P energy = model.template energy<P, Element::dim>(H) - kinetic;
    for (int i = 0; i < Element::dim; ++i) C(i, i) = C(i, i) + energy;
    const P volume = P(Element::stiffness_rule[q].weight) * P::load(at + D * D * W);
    add_forces<Element, q>(volume * (C * transpose(inverse)), force);
  }

  [[gnu::flatten]] static void forces(const PackedTerms& cells, Index packs, const NodeLine* nodes,
                                      const double* kinetic, bool places, double* out) {
    const Model model{cells.lame};
    for (Index pack = 0; pack < packs; ++pack) {
      Local e, force;
      Terms::gather_relative(nodes, cells.places + pack * static_cast<Index>(N * W), e);
      Terms::clear(force);
      const double* geometry = cells.geometry + pack * static_cast<Index>(Cell::per_pack);
      const P T = P::read(kinetic + pack * static_cast<Index>(W));
      [&]<std::size_t... q>(std::index_sequence<q...>) { (add_point<q>(model, geometry, e, T, places, force), ...); }
      (std::make_index_sequence<Cell::Q>{});
      Terms::balance(force);
      for (std::size_t lane = 0; lane < W; ++lane)
        for (std::size_t a = 0; a < N; ++a)
          for (std::size_t i = 0; i < D; ++i) *out++ = force[a][i].v[lane];
    }
  }
};

template <class P, class Element, bool straight>
ConfigurationalKernel configurational_kernel_of_cell(CellMaterial material) {
  switch (material) {
    case CellMaterial::neo_hookean: return ConfigurationalCells<P, Element, straight, NeoHookean>::forces;
    case CellMaterial::saint_venant_kirchhoff:
      return ConfigurationalCells<P, Element, straight, SaintVenantKirchhoff>::forces;
    case CellMaterial::linear_elastic: return ConfigurationalCells<P, Element, straight, LinearElastic>::forces;
  }
  return nullptr;
}

template <int W>
ConfigurationalKernel configurational_kernel_of(CellShape shape, CellMaterial material) {
  ConfigurationalKernel kernel = nullptr;
  any_cell_element([&]<class E>(E, CellShape of) {
    if (of == shape) kernel = configurational_kernel_of_cell<Pack<W>, typename E::Element, E::straight>(material);
    return of == shape;
  });
  return kernel;
}

}  // namespace tempi
