// SPDX-License-Identifier: Apache-2.0
// Membranes and hinges, as TermsAtOnce wants its terms: the formulas of shell_terms.hpp on packs. Include in
// cell_kernels_*.cpp only, once per instruction set.
#pragma once

#include <array>
#include <type_traits>

#include "tempi/element/shell_kernels.hpp"
#include "tempi/element/shell_terms.hpp"
#include "tempi/element/strike_terms.hpp"
#include "tempi/simd/pack_functions.hpp"

namespace tempi {
namespace shell_detail {

template <class P>
Vector3<Dual<P>> moving(const Vector3<P>& e, const Vector3<P>& w) {
  return {Dual<P>(e[0], w[0]), Dual<P>(e[1], w[1]), Dual<P>(e[2], w[2])};
}
// A constant of a template's formulas.
template <class T, class P>
T constant(P x) {
  if constexpr (std::is_same_v<T, P>)
    return x;
  else
    return T(x, P(0.0));
}
template <class T, class P>
Vector3<T> constants(const double* from) {
  return {constant<T>(P::load(from)), constant<T>(P::load(from + P::width)), constant<T>(P::load(from + 2 * P::width))};
}

}  // namespace shell_detail

template <class P, class Model>
struct PackedMembrane {
  static constexpr std::size_t D = 3, N = 3, W = P::width, per_pack = MembraneGeometry<P>::size * W;
  using Local = std::array<std::array<P, D>, N>;

  template <class T>
  static MembraneGeometry<T> geometry_of(const double* at) {
    using namespace shell_detail;
    const auto number = [&](std::size_t k) { return constant<T>(P::load(at + k * W)); };
    return {{constants<T, P>(at), constants<T, P>(at + 3 * W)}, number(6), number(7), number(8), number(9)};
  }

  template <Energy energy>
  static void add(const Lame& lame, const double* geometry, P factor, const Local& e, bool ask,
                  PackSums<P, N, D>& sums) {
    const Model model{lame};
    const auto g = geometry_of<P>(geometry);
    sums.require(membrane_forces(model, g, e[1], e[2], factor, sums.force[1], sums.force[2]));
    if constexpr (energy == Energy::yes) sums.energy = sums.energy + membrane_energy(model, g, e[1], e[2]);
    if constexpr (energy == Energy::asked)
      if (ask) {
        Vector3<P> e1 = e[1], e2 = e[2];
        for (auto* x : {&e1, &e2})
          for (P& value : *x) value = apart(value);
        sums.energy = sums.energy + membrane_energy(model, g, e1, e2);
      }
  }

  static void add_change(const Lame& lame, const double* geometry, const Local& e, const Local& w, Local& force) {
    using namespace shell_detail;
    Vector3<Dual<P>> force1, force2;
    membrane_forces(Model{lame}, geometry_of<Dual<P>>(geometry), moving(e[1], w[1]), moving(e[2], w[2]), Dual<P>(-1.0),
                    force1, force2);
    for (std::size_t i = 0; i < 3; ++i) {
      force[1][i] = force1[i].slope;
      force[2][i] = force2[i].slope;
    }
  }
};

template <class P>
struct PackedHinge {
  static constexpr std::size_t D = 3, N = 4, W = P::width, per_pack = HingeGeometry<P>::size * W;
  using Local = std::array<std::array<P, D>, N>;

  template <class T>
  static HingeGeometry<T> geometry_of(const double* at) {
    using namespace shell_detail;
    return {{constants<T, P>(at), constants<T, P>(at + 3 * W), constants<T, P>(at + 6 * W)},
            constant<T>(P::load(at + 9 * W)),
            constant<T>(P::load(at + 10 * W))};
  }

  template <Energy energy>
  static void add(const Lame&, const double* geometry, P factor, const Local& e, bool ask, PackSums<P, N, D>& sums) {
    const auto g = geometry_of<P>(geometry);
    Vector3<P> u[3] = {e[1], e[2], e[3]}, force[3];
    sums.require(hinge_forces(g, u, factor, force));
    for (std::size_t a = 0; a < 3; ++a) sums.force[a + 1] = force[a];
    if constexpr (energy == Energy::yes) sums.energy = sums.energy + hinge_energy(g, u);
    if constexpr (energy == Energy::asked)
      if (ask) {
        for (auto& x : u)
          for (P& value : x) value = apart(value);
        sums.energy = sums.energy + hinge_energy(g, u);
      }
  }

  static void add_change(const Lame&, const double* geometry, const Local& e, const Local& w, Local& force) {
    using namespace shell_detail;
    const Vector3<Dual<P>> u[3] = {moving(e[1], w[1]), moving(e[2], w[2]), moving(e[3], w[3])};
    Vector3<Dual<P>> change[3];
    hinge_forces(geometry_of<Dual<P>>(geometry), u, Dual<P>(-1.0), change);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t i = 0; i < 3; ++i) force[a + 1][i] = change[a][i].slope;
  }
};

template <int W>
TermKernel membrane_kernel_of(CellMaterial material) {
  if (material == CellMaterial::neo_hookean)
    return TermsAtOnce<Pack<W>, PackedMembrane<Pack<W>, NeoHookeanMembrane>>::kernel();
  return TermsAtOnce<Pack<W>, PackedMembrane<Pack<W>, SaintVenantMembrane>>::kernel();
}

template <int W>
TermKernel hinge_kernel_of() {
  return TermsAtOnce<Pack<W>, PackedHinge<Pack<W>>>::kernel();
}

}  // namespace tempi
