// SPDX-License-Identifier: Apache-2.0
// Hyperelastic materials: energy density W [J/m^3], first Piola-Kirchhoff stress P = dW/dF [Pa], its change dP/dF : dH
// with the gradient, and tangent dP/dF.
//
// Arguments are the displacement gradient H = F - I, not F: nothing of first order has to cancel, so small strains
// keep all their digits. Every function is a template over the scalar and over the dimension D; D = 2 is plane strain,
// D = 1 uniaxial strain. W is measured from W(I), so an undeformed body has energy zero.
#pragma once

#include <cmath>
#include <string_view>
#include <type_traits>
#include <variant>

#include "tempi/core/tensor.hpp"
#include "tempi/material/log_of_one_plus.hpp"

namespace tempi {

// Lame constants [Pa]. Stability of the reference state needs mu > 0 and 3 lambda + 2 mu > 0.
struct Lame {
  double lambda;
  double mu;
};

Lame lame_from_young(double young, double poisson);     // young > 0 [Pa], -1 < poisson < 0.5; throws InputError
Lame checked_lame(double lambda, double mu);            // throws InputError unless the reference state is stable
double dilatational_wave_speed(Lame lame, double rho);  // sqrt((lambda + 2 mu) / rho) [m/s], rho > 0 [kg/m^3]

// dP_iJ/dF_kL as a D^2 x D^2 matrix, rows iJ and columns kL with the second index fastest.
template <class T, int D>
using Tangent = Mat<T, D * D>;

// P, and det F for the caller to check: a stress where det F <= 0 means nothing.
template <class T, int D>
struct Stress {
  Mat<T, D> P;
  T det_F;
  // Of laws that need them: det F - 1 beyond the trace of H; ln det F.
  T beyond_linear{};
  decltype(log_of_one_plus(T())) log_J{};
};

// Compressible neo-Hookean solid, Lew, Marsden, Ortiz, West (2003), eqs. (7) and (8):
//   W = lambda/2 (ln J)^2 - mu ln J + mu/2 (tr F^T F - D),   P = lambda ln J F^{-T} + mu (F - F^{-T}).
// Evaluated as P = F^{-T} (lambda ln J + mu (C - I)) with C - I and J - 1 from H.
struct NeoHookean {
  Lame lame;
  static constexpr std::string_view name = "neo-hookean";
  template <class T, int D>
  T energy(const Mat<T, D>& H) const;
  template <class T, int D>
  T energy(const Mat<T, D>& H, const Stress<T, D>& stress) const;  // the same, where the stress is known
  template <class T, int D>
  Stress<T, D> stress(const Mat<T, D>& H) const;
  template <class T, int D>
  Mat<T, D> stress_change(const Mat<T, D>& H, const Mat<T, D>& dH) const;
  template <class T, int D>
  Tangent<T, D> tangent(const Mat<T, D>& H) const;
};

// Saint Venant-Kirchhoff: W = lambda/2 (tr E)^2 + mu E:E, P = F (lambda tr E + 2 mu E), E = (C - I)/2.
// Softens and loses stability in compression (at a uniaxial stretch of about 0.58): moderate strains only.
struct SaintVenantKirchhoff {
  Lame lame;
  static constexpr std::string_view name = "saint-venant-kirchhoff";
  template <class T, int D>
  T energy(const Mat<T, D>& H) const;
  template <class T, int D>
  T energy(const Mat<T, D>& H, const Stress<T, D>& stress) const;  // the same, where the stress is known
  template <class T, int D>
  Stress<T, D> stress(const Mat<T, D>& H) const;
  template <class T, int D>
  Mat<T, D> stress_change(const Mat<T, D>& H, const Mat<T, D>& dH) const;
  template <class T, int D>
  Tangent<T, D> tangent(const Mat<T, D>& H) const;
};

// Linear elasticity: W = lambda/2 (tr e)^2 + mu e:e, P = lambda tr e + 2 mu e, e = sym H.
// Not frame-indifferent: rotations strain it and angular momentum is not kept. Small rotations only.
struct LinearElastic {
  Lame lame;
  static constexpr std::string_view name = "linear-elastic";
  template <class T, int D>
  T energy(const Mat<T, D>& H) const;
  template <class T, int D>
  T energy(const Mat<T, D>& H, const Stress<T, D>& stress) const;  // the same, where the stress is known
  template <class T, int D>
  Stress<T, D> stress(const Mat<T, D>& H) const;
  template <class T, int D>
  Mat<T, D> stress_change(const Mat<T, D>& H, const Mat<T, D>& dH) const;
  template <class T, int D>
  Tangent<T, D> tangent(const Mat<T, D>& H) const;
};

// Cauchy stress, P F^T / det F; of linear elasticity, which knows one configuration and one stress, P.
template <class Model, class T, int D>
Mat<T, D> cauchy_stress(const Model&, const Mat<T, D>& H, const Stress<T, D>& stress) {
  if constexpr (std::is_same_v<Model, LinearElastic>)
    return stress.P;
  else
    return (T(1.0) / stress.det_F) * (stress.P * transpose(identity<T, D>() + H));
}

using Material = std::variant<NeoHookean, SaintVenantKirchhoff, LinearElastic>;

inline Lame lame_of(const Material& material) {
  return std::visit([](const auto& m) { return m.lame; }, material);
}

}  // namespace tempi

// The bodies of the templates; formulas and sources stand above.
namespace tempi {
namespace material_detail {

// C - I = H + H^T + H^T H.
template <class T, int D>
Mat<T, D> strain_twice(const Mat<T, D>& H) {
  return H + transpose(H) + transpose(H) * H;
}

template <class T, int D>
T det_minus_one(const Mat<T, D>& H) {
  return trace(H) + determinant_beyond_linear(H);
}

// lambda tr E + 2 mu E of twice a strain E.
template <class T, int D>
Mat<T, D> isotropic_stress(const Lame& lame, const Mat<T, D>& two_E) {
  Mat<T, D> S = T(lame.mu) * two_E;
  const T p = T(0.5 * lame.lambda) * trace(two_E);
  for (int i = 0; i < D; ++i) S(i, i) = S(i, i) + p;
  return S;
}

// Adds c * a_iJ b_kL to the tangent.
template <class T, int D>
void add_dyad(Tangent<T, D>& A, const T& c, const Mat<T, D>& a, const Mat<T, D>& b) {
  for (int p = 0; p < D * D; ++p)
    for (int q = 0; q < D * D; ++q)
      A(p, q) = A(p, q) + c * a.a[static_cast<std::size_t>(p)] * b.a[static_cast<std::size_t>(q)];
}

}  // namespace material_detail

template <class T, int D>
T NeoHookean::energy(const Mat<T, D>& H) const {
  const T beyond = determinant_beyond_linear(H);
  return energy(H, {{}, T(0.0), beyond, log_of_one_plus(trace(H) + beyond)});
}

template <class T, int D>
T NeoHookean::energy(const Mat<T, D>& H, const Stress<T, D>& stress) const {
  const auto& log_J = stress.log_J;
  // tr(C - I)/2 - ln J, with the linear terms taken out by hand: what is left is of second order.
  const T second_order = T(0.5) * inner(H, H) - stress.beyond_linear + log_J.excess();
  return T(0.5 * lame.lambda) * log_J.log * log_J.log + T(lame.mu) * second_order;
}

template <class T, int D>
Stress<T, D> NeoHookean::stress(const Mat<T, D>& H) const {
  const Mat<T, D> F = identity<T, D>() + H;
  const T beyond = determinant_beyond_linear(H), j = trace(H) + beyond, J = T(1.0) + j;
  Mat<T, D> S = T(lame.mu) * material_detail::strain_twice(H);
  const auto log_J = log_of_one_plus(j);
  const T p = T(lame.lambda) * log_J.log;
  for (int i = 0; i < D; ++i) S(i, i) = S(i, i) + p;
  return {(T(1.0) / J) * (cofactor(F) * S), J, beyond, log_J};
}

// With G = F^{-T} and c = mu - lambda ln J:  lambda (G : dH) G + c G dH^T G + mu dH.
template <class T, int D>
Mat<T, D> NeoHookean::stress_change(const Mat<T, D>& H, const Mat<T, D>& dH) const {
  using std::log1p;
  const T j = material_detail::det_minus_one(H);
  const Mat<T, D> G = (T(1.0) / (T(1.0) + j)) * cofactor(identity<T, D>() + H);
  const T c = T(lame.mu) - T(lame.lambda) * log1p(j);
  return (T(lame.lambda) * inner(G, dH)) * G + c * (G * transpose(dH) * G) + T(lame.mu) * dH;
}

template <class T, int D>
Tangent<T, D> NeoHookean::tangent(const Mat<T, D>& H) const {
  using std::log1p;
  const Mat<T, D> F = identity<T, D>() + H;
  const T j = material_detail::det_minus_one(H);
  const Mat<T, D> G = (T(1.0) / (T(1.0) + j)) * cofactor(F);  // F^{-T}
  const T c = T(lame.mu) - T(lame.lambda) * log1p(j);
  Tangent<T, D> A;
  material_detail::add_dyad<T, D>(A, T(lame.lambda), G, G);
  for (int i = 0; i < D; ++i)
    for (int J = 0; J < D; ++J)
      for (int k = 0; k < D; ++k)
        for (int L = 0; L < D; ++L) A(i * D + J, k * D + L) = A(i * D + J, k * D + L) + c * G(i, L) * G(k, J);
  for (int p = 0; p < D * D; ++p) A(p, p) = A(p, p) + T(lame.mu);
  return A;
}

template <class T, int D>
T SaintVenantKirchhoff::energy(const Mat<T, D>& H) const {
  const Mat<T, D> E = T(0.5) * material_detail::strain_twice(H);
  const T tr = trace(E);
  return T(0.5 * lame.lambda) * tr * tr + T(lame.mu) * inner(E, E);
}

template <class T, int D>
T SaintVenantKirchhoff::energy(const Mat<T, D>& H, const Stress<T, D>&) const {
  return energy(H);
}

template <class T, int D>
Stress<T, D> SaintVenantKirchhoff::stress(const Mat<T, D>& H) const {
  const Mat<T, D> two_E = material_detail::strain_twice(H);
  const Mat<T, D> S = material_detail::isotropic_stress(lame, two_E);
  return {(identity<T, D>() + H) * S, T(1.0) + material_detail::det_minus_one(H)};
}

// dH S + F dS.
template <class T, int D>
Mat<T, D> SaintVenantKirchhoff::stress_change(const Mat<T, D>& H, const Mat<T, D>& dH) const {
  const Mat<T, D> F = identity<T, D>() + H, two_E = material_detail::strain_twice(H), half = transpose(F) * dH;
  return dH * material_detail::isotropic_stress(lame, two_E) +
         F * material_detail::isotropic_stress(lame, half + transpose(half));
}

template <class T, int D>
Tangent<T, D> SaintVenantKirchhoff::tangent(const Mat<T, D>& H) const {
  const Mat<T, D> F = identity<T, D>() + H;
  const Mat<T, D> two_E = material_detail::strain_twice(H);
  const Mat<T, D> S = material_detail::isotropic_stress(lame, two_E);
  const Mat<T, D> B = F * transpose(F);
  Tangent<T, D> A;
  material_detail::add_dyad<T, D>(A, T(lame.lambda), F, F);
  for (int i = 0; i < D; ++i)
    for (int J = 0; J < D; ++J)
      for (int k = 0; k < D; ++k)
        for (int L = 0; L < D; ++L) {
          T v = T(lame.mu) * F(i, L) * F(k, J);
          if (i == k) v = v + S(J, L);
          if (J == L) v = v + T(lame.mu) * B(i, k);
          A(i * D + J, k * D + L) = A(i * D + J, k * D + L) + v;
        }
  return A;
}

template <class T, int D>
T LinearElastic::energy(const Mat<T, D>& H) const {
  const Mat<T, D> e = T(0.5) * (H + transpose(H));
  const T tr = trace(e);
  return T(0.5 * lame.lambda) * tr * tr + T(lame.mu) * inner(e, e);
}

template <class T, int D>
T LinearElastic::energy(const Mat<T, D>& H, const Stress<T, D>&) const {
  return energy(H);
}

template <class T, int D>
Stress<T, D> LinearElastic::stress(const Mat<T, D>& H) const {
  return {stress_change(H, H), T(1.0) + material_detail::det_minus_one(H)};
}

template <class T, int D>
Mat<T, D> LinearElastic::stress_change(const Mat<T, D>&, const Mat<T, D>& dH) const {
  Mat<T, D> P = T(lame.mu) * (dH + transpose(dH));
  const T p = T(lame.lambda) * trace(dH);
  for (int i = 0; i < D; ++i) P(i, i) = P(i, i) + p;
  return P;
}

template <class T, int D>
Tangent<T, D> LinearElastic::tangent(const Mat<T, D>&) const {
  Tangent<T, D> A;
  material_detail::add_dyad<T, D>(A, T(lame.lambda), identity<T, D>(), identity<T, D>());
  for (int i = 0; i < D; ++i)
    for (int J = 0; J < D; ++J) {
      A(i * D + J, i * D + J) = A(i * D + J, i * D + J) + T(lame.mu);
      A(i * D + J, J * D + i) = A(i * D + J, J * D + i) + T(lame.mu);
    }
  return A;
}

}  // namespace tempi
