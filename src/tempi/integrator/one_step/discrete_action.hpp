// SPDX-License-Identifier: Apache-2.0
// Discrete Lagrangians: the action over one step h, of polynomials of degree s in time, by a quadrature rule.
//
//   L_d(q_0, q_1, h) = ext over Q_1 ... Q_{s-1} of h sum_i w_i L(q(c_i h), q'(c_i h)),
//   q(t) = sum_j phi_j(t/h) Q_j,  Q_0 = q_0,  Q_s = q_1        (Lew, Marsden, Ortiz, West 2004, section 2.4, eqs
//                                                                (20)-(23); the factor h is missing in (21), (22))
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tempi {

struct DiscreteAction {
  std::string name;
  int order = 0;
  bool self_adjoint = false;                    // L_d(q_0, q_1, h) = -L_d(q_1, q_0, -h): reversible, of even order
  std::vector<double> control;                  // t/h of Q_0 ... Q_s, ascending from 0 to 1
  std::vector<double> points, weights;          // c_i, w_i
  std::vector<std::vector<double>> phi, slope;  // phi_j(c_i), phi_j'(c_i): [i][j]

  std::size_t degree() const { return control.size() - 1; }
  // Whether no position is both unknown and acted upon by a force it moves: then no equation needs solving.
  bool is_explicit() const;
  // Of one that is, between its two ends: the part of a step by which forces at its start act, the rest being of those
  // at its end. Empty of all others.
  std::optional<double> ahead() const;
};

// One force a step, at (1 - alpha) q_0 + alpha q_1 (eqs (13)-(15)): symplectic Euler for alpha = 0 (kick, then drift:
// "a") and 1 (drift, then kick: "b"), both explicit; the midpoint rule for 1/2. Order 2 for alpha = 1/2, otherwise 1.
DiscreteAction midpoint_action(double alpha);
// Weights 1 - alpha and alpha at the ends (eqs (16)-(18)): explicit; the positions do not depend on alpha but for the
// start. Explicit Newmark (velocity Verlet), order 2, for alpha = 1/2, otherwise order 1.
DiscreteAction trapezoidal_action(double alpha);
// Half of the midpoint rule of alpha and of 1 - alpha (Gates, Matous, Heath 2008, eqs (13)-(17)): order 2 for every
// alpha; velocity Verlet for 0 and 1, the midpoint rule for 1/2.
DiscreteAction symmetric_midpoint_action(double alpha);
// Order 2, 4 or 6: Gauss-Legendre collocation; Lobatto IIIA-IIIB (order 2 is the trapezoidal rule of 1/2).
DiscreteAction gauss_action(int order);
DiscreteAction lobatto_action(int order);

}  // namespace tempi
