// SPDX-License-Identifier: Apache-2.0
// The two terms of a thin shell of flat triangles, as templates over the scalar: double, a dual number, a pack.
//
// Membrane, a triangle of constant strain in plane stress; with F = dx/dX of the mid-surface, 3 x 2, C = F^T F,
// E = (C - I)/2, thickness h, reference area A:
//   saint-venant-kirchhoff  V = A h (lambda'/2 (tr E)^2 + mu E:E),  lambda' = 2 lambda mu / (lambda + 2 mu)
//   neo-hookean             V = A h min over c of W(C, c), c the square of the thickness over its first value, W that
//                           of material.hpp: the stress across the shell vanishes
//
// Bending, a hinge between two triangles (Grinspun, Hirani, Desbrun, Schroeder 2003):
//   V = k 3 |e0|^2 / A0 (theta - theta0)^2,  k = D/6, D = E h^3 / (12 (1 - nu^2))
// e0 the edge, A0 the area of both, theta the angle between their normals, positive where they point apart. On
// equilateral triangles a smooth surface bent to a radius R then has the energy D / (2 R^2) of a plate per area, on
// others not quite: docs/shells.md.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "tempi/core/cross.hpp"
#include "tempi/core/dual.hpp"
#include "tempi/material/material.hpp"

namespace tempi {

template <class T>
using Vector3 = std::array<T, 3>;

namespace shell_detail {

template <class T>
T dot(const Vector3<T>& a, const Vector3<T>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class T>
Vector3<T> combine(const T& x, const Vector3<T>& a, const T& y, const Vector3<T>& b) {
  return {x * a[0] + y * b[0], x * a[1] + y * b[1], x * a[2] + y * b[2]};
}

}  // namespace shell_detail

// Components of a symmetric 2 x 2 matrix.
template <class T>
struct InPlane {
  T xx, yy, xy;
};

// Second Piola-Kirchhoff stress [Pa] and energy density [J/m^3] of C - I.
struct SaintVenantMembrane {
  Lame lame;
  double plane_lambda() const { return 2.0 * lame.lambda * lame.mu / (lame.lambda + 2.0 * lame.mu); }

  template <class T>
  InPlane<T> stress(const InPlane<T>& c) const {
    const T mu(lame.mu), p = T(0.5 * plane_lambda()) * (c.xx + c.yy);
    return {mu * c.xx + p, mu * c.yy + p, mu * c.xy};
  }
  template <class T>
  T energy(const InPlane<T>& c) const {
    const T trace = c.xx + c.yy;
    return T(0.125 * plane_lambda()) * trace * trace +
           T(0.25 * lame.mu) * (c.xx * c.xx + c.yy * c.yy + T(2.0) * c.xy * c.xy);
  }
  // The square of the thickness over its first value, less one. To first order what leaves no stress across, -lambda /
  // (lambda + 2 mu) tr (C - I), which beyond a strain of one would be less than nothing.
  template <class T>
  T thickening(const InPlane<T>& c) const {
    using std::expm1;
    return expm1(T(-lame.lambda / (lame.lambda + 2.0 * lame.mu)) * (c.xx + c.yy));
  }
};

struct NeoHookeanMembrane {
  Lame lame;

  // ln c for ln det C: (lambda/2) (ln det C + ln c) + mu (c - 1) = 0, by Newton's method, which nears the root of this
  // convex function from above, whatever the start. As many steps for everybody, so that no lane of a pack depends on
  // its neighbours: enough for areas from a twentieth to twenty times the first.
  template <class T>
  T log_thickening(const T& log_det) const {
    using std::expm1;
    const T half(0.5 * lame.lambda), mu(lame.mu);
    T y(0.0);
    for (int k = 0; k < 7; ++k) {
      const T z = expm1(y);
      y = y - (half * (log_det + y) + mu * z) / (half + mu + mu * z);
    }
    return y;
  }
  template <class T>
  Dual<T> log_thickening(const Dual<T>& log_det) const {
    using std::expm1;
    const T half(0.5 * lame.lambda), mu(lame.mu), y = log_thickening(log_det.value);
    return {y, -(half * log_det.slope) / (half + mu + mu * expm1(y))};
  }
  template <class T>
  static T det_beyond_trace(const InPlane<T>& c) {  // det C - 1 - tr (C - I)
    return c.xx * c.yy - c.xy * c.xy;
  }
  template <class T>
  T thickening(const InPlane<T>& c) const {
    using std::expm1, std::log1p;
    return expm1(log_thickening(log1p(c.xx + c.yy + det_beyond_trace(c))));
  }

  // mu (I - c C^-1), in which nothing of first order cancels.
  template <class T>
  InPlane<T> stress(const InPlane<T>& c) const {
    const T one(1.0), beyond = det_beyond_trace(c), det = one + (c.xx + c.yy + beyond), z = thickening(c);
    const T factor = T(lame.mu) / det;
    return {factor * (c.xx + beyond - z * (one + c.yy)), factor * (c.yy + beyond - z * (one + c.xx)),
            factor * (one + z) * c.xy};
  }
  template <class T>
  T energy(const InPlane<T>& c) const {
    using material_detail::excess_over_log;
    using std::expm1, std::log1p;
    const T beyond = det_beyond_trace(c), x = c.xx + c.yy + beyond, log_det = log1p(x), y = log_thickening(log_det);
    const T log_J = T(0.5) * (log_det + y);
    return T(0.5 * lame.lambda) * log_J * log_J +
           T(0.5 * lame.mu) * (excess_over_log(x) - beyond + excess_over_log(expm1(y)));
  }
};

// A triangle's place in its plane: X_1 - X_0 along the first axis.
template <class T>
struct MembraneGeometry {
  static constexpr std::size_t size = 10;
  Vector3<T> axis[2];  // unit vectors of the plane
  T d10, d11, d21;     // dN_1/dX along both axes, dN_2/dX along the second [1/m]; along the first it is zero
  T volume;            // A h [m^3]

  // Of numbers in this order, number(0) and so on.
  template <class Number>
  static MembraneGeometry read(Number&& number) {
    return {{{number(0), number(1), number(2)}, {number(3), number(4), number(5)}},
            number(6),
            number(7),
            number(8),
            number(9)};
  }
};

template <class T>
struct MembraneStrain {
  Vector3<T> tangent[2];  // columns of F
  InPlane<T> c;           // C - I
};

// Of the displacements of nodes 1 and 2 relative to node 0.
template <class T>
MembraneStrain<T> membrane_strain(const MembraneGeometry<T>& g, const Vector3<T>& e1, const Vector3<T>& e2) {
  using shell_detail::combine, shell_detail::dot;
  const T one(1.0), two(2.0);
  const Vector3<T> h0 = {g.d10 * e1[0], g.d10 * e1[1], g.d10 * e1[2]}, h1 = combine(g.d11, e1, g.d21, e2);
  return {{combine(one, g.axis[0], one, h0), combine(one, g.axis[1], one, h1)},
          {two * dot(g.axis[0], h0) + dot(h0, h0), two * dot(g.axis[1], h1) + dot(h1, h1),
           dot(g.axis[0], h1) + dot(g.axis[1], h0) + dot(h0, h1)}};
}

// `factor` dV/dx of nodes 1 and 2; that of node 0 is minus their sum. Returns det C.
template <class T, class Model>
T membrane_forces(const Model& model, const MembraneGeometry<T>& g, const Vector3<T>& e1, const Vector3<T>& e2,
                  const T& factor, Vector3<T>& force1, Vector3<T>& force2) {
  using shell_detail::combine;
  const MembraneStrain<T> at = membrane_strain(g, e1, e2);
  const InPlane<T> S = model.stress(at.c);
  const T w = factor * g.volume;
  const Vector3<T> P0 = combine(w * S.xx, at.tangent[0], w * S.xy, at.tangent[1]);
  const Vector3<T> P1 = combine(w * S.xy, at.tangent[0], w * S.yy, at.tangent[1]);
  force1 = combine(g.d10, P0, g.d11, P1);
  force2 = {g.d21 * P1[0], g.d21 * P1[1], g.d21 * P1[2]};
  return T(1.0) + (at.c.xx + at.c.yy + NeoHookeanMembrane::det_beyond_trace(at.c));
}

template <class T, class Model>
T membrane_energy(const Model& model, const MembraneGeometry<T>& g, const Vector3<T>& e1, const Vector3<T>& e2) {
  return g.volume * model.energy(membrane_strain(g, e1, e2).c);
}

// Nodes 0 and 1 are the edge's, 2 and 3 the other ones of its triangles (0, 1, 2) and (1, 0, 3).
template <class T>
struct HingeGeometry {
  static constexpr std::size_t size = 11;
  Vector3<T> edge[3];  // X_a - X_0 of nodes 1, 2, 3 [m]
  T rest;              // theta0
  T stiffness;         // 3 k |e0|^2 / A0 [J]

  template <class Number>
  static HingeGeometry read(Number&& number) {
    return {{{number(0), number(1), number(2)}, {number(3), number(4), number(5)}, {number(6), number(7), number(8)}},
            number(9),
            number(10)};
  }
};

template <class T>
struct HingeAngle {
  T theta;
  Vector3<T> slope[3];  // dtheta/dx of nodes 1, 2, 3 [1/m]; that of node 0 is minus their sum
  T flatness;           // squared areas of both triangles, one times the other: zero where the angle means nothing
};

// Of x_a - x_0.
template <class T>
HingeAngle<T> hinge_angle(const Vector3<T>& e, const Vector3<T>& p, const Vector3<T>& q) {
  using shell_detail::combine, shell_detail::dot;
  using std::atan2, std::sqrt;
  const Vector3<T> n1 = cross(e, p), n2 = cross(q, e);
  const T e2 = dot(e, e), length = sqrt(e2), a1 = dot(n1, n1), a2 = dot(n2, n2);
  const T by1 = -length / a1, by2 = -length / a2;
  const T s1 = -(dot(p, e) / e2) * by1, s2 = -(dot(q, e) / e2) * by2;
  return {atan2(-length * dot(n1, q), dot(n1, n2)),
          {combine(s1, n1, s2, n2), {by1 * n1[0], by1 * n1[1], by1 * n1[2]}, {by2 * n2[0], by2 * n2[1], by2 * n2[2]}},
          a1 * a2};
}

// From the rest angle, by the shorter way around.
template <class T>
T turn_of(const HingeGeometry<T>& g, const T& theta) {
  using std::round;
  const T turn = theta - g.rest;
  return turn - T(2.0 * std::numbers::pi) * round(turn * T(0.5 / std::numbers::pi));
}

template <class T>
HingeAngle<T> hinge_angle(const HingeGeometry<T>& g, const Vector3<T> (&u)[3]) {
  using shell_detail::combine;
  const T one(1.0);
  return hinge_angle(combine(one, g.edge[0], one, u[0]), combine(one, g.edge[1], one, u[1]),
                     combine(one, g.edge[2], one, u[2]));
}

// `factor` dV/dx of nodes 1, 2 and 3.
template <class T>
T hinge_forces(const HingeGeometry<T>& g, const Vector3<T> (&u)[3], const T& factor, Vector3<T> (&force)[3]) {
  const HingeAngle<T> at = hinge_angle(g, u);
  const T moment = factor * T(2.0) * g.stiffness * turn_of(g, at.theta);
  for (int a = 0; a < 3; ++a)
    for (std::size_t i = 0; i < 3; ++i) force[a][i] = moment * at.slope[a][i];
  return at.flatness;
}

template <class T>
T hinge_energy(const HingeGeometry<T>& g, const Vector3<T> (&u)[3]) {
  const T turn = turn_of(g, hinge_angle(g, u).theta);
  return g.stiffness * turn * turn;
}

}  // namespace tempi
