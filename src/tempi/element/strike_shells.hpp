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

// What a term makes of displacements u of all nodes but the first, over any scalar.
template <class Model>
struct MembraneTerm {
  static constexpr std::size_t nodes = 3;
  template <class T>
  using Geometry = MembraneGeometry<T>;

  template <class T>
  static T forces(const Lame& lame, const Geometry<T>& g, const Vector3<T> (&u)[2], const T& factor,
                  Vector3<T> (&force)[2]) {
    return membrane_forces(Model{lame}, g, u[0], u[1], factor, force[0], force[1]);
  }
  template <class T>
  static T energy(const Lame& lame, const Geometry<T>& g, const Vector3<T> (&u)[2]) {
    return membrane_energy(Model{lame}, g, u[0], u[1]);
  }
};

struct HingeTerm {
  static constexpr std::size_t nodes = 4;
  template <class T>
  using Geometry = HingeGeometry<T>;

  template <class T>
  static T forces(const Lame&, const Geometry<T>& g, const Vector3<T> (&u)[3], const T& factor,
                  Vector3<T> (&force)[3]) {
    return hinge_forces(g, u, factor, force);
  }
  template <class T>
  static T energy(const Lame&, const Geometry<T>& g, const Vector3<T> (&u)[3]) {
    return hinge_energy(g, u);
  }
};

template <class P, class Term>
struct PackedShell {
  static constexpr std::size_t D = 3, N = Term::nodes, W = P::width;
  static constexpr std::size_t per_pack = Term::template Geometry<P>::size * W;
  static constexpr bool stiffness_varies = true;
  using Local = std::array<std::array<P, D>, N>;
  using Changing = Dual<P>;

  // Constants: of packs, or of what changes.
  template <class T>
  static auto geometry_of(const double* at) {
    return Term::template Geometry<T>::read([&](std::size_t k) {
      const P value = P::load(at + k * W);
      if constexpr (std::is_same_v<T, P>)
        return value;
      else
        return T(value, P(0.0));
    });
  }

  template <Energy energy>
  static void add(const Lame& lame, const double* geometry, P factor, const Local& e, bool ask,
                  PackSums<P, N, D>& sums) {
    const auto g = geometry_of<P>(geometry);
    Vector3<P> u[N - 1], force[N - 1];
    for (std::size_t a = 1; a < N; ++a) u[a - 1] = e[a];
    sums.require(Term::forces(lame, g, u, factor, force));
    for (std::size_t a = 1; a < N; ++a) sums.force[a] = force[a - 1];
    if constexpr (energy == Energy::yes) sums.energy = sums.energy + Term::energy(lame, g, u);
    if constexpr (energy == Energy::asked)
      if (ask) {
        for (auto& x : u)
          for (P& value : x) value = apart(value);
        sums.energy = sums.energy + Term::energy(lame, g, u);
      }
  }

  static void add_change(const Lame& lame, const double* geometry, const Local& e, const Local& w, Local& force) {
    Vector3<Changing> u[N - 1], change[N - 1];
    for (std::size_t a = 1; a < N; ++a)
      for (std::size_t i = 0; i < D; ++i) u[a - 1][i] = Changing(e[a][i], w[a][i]);
    Term::forces(lame, geometry_of<Changing>(geometry), u, Changing(-1.0), change);
    for (std::size_t a = 1; a < N; ++a)
      for (std::size_t i = 0; i < D; ++i) force[a][i] = change[a - 1][i].slope;
  }
};

template <int W>
TermKernel membrane_kernel_of(CellMaterial material) {
  if (material == CellMaterial::neo_hookean)
    return TermsAtOnce<Pack<W>, PackedShell<Pack<W>, MembraneTerm<NeoHookeanMembrane>>>::kernel();
  return TermsAtOnce<Pack<W>, PackedShell<Pack<W>, MembraneTerm<SaintVenantMembrane>>>::kernel();
}

template <int W>
TermKernel hinge_kernel_of() {
  return TermsAtOnce<Pack<W>, PackedShell<Pack<W>, HingeTerm>>::kernel();
}

}  // namespace tempi
