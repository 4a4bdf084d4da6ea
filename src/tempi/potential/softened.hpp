// SPDX-License-Identifier: Apache-2.0
// A potential whose terms give way: the Moreau envelope of every term, in the metric of its share of the masses. What
// an implicit asynchronous update sees of a stiff term (decision 0007).
//
//   V^tau_k(x) = min_y V_k(y) + |y - x|^2 / (2 tau_k^2),   |d|^2 = sum_a m_ka |d_a|^2
//   dV^tau_k/dx (x) = dV_k/dx (y),   y = x - tau_k^2 M_k^-1 dV_k/dx (y)
//
// A mode of frequency w between the shares has the frequency w / sqrt(1 + w^2 tau^2) < 1 / tau instead. Translations
// and rotations of x carry y along: forces stay in balance, and so do their moments to the residual of the solution.
// Where the minimum is not unique (a term that buckles within tau), the one found counts: the search begins at x or at
// the reference shape fitted to x, whichever is lower.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tempi/potential/potential.hpp"

namespace tempi {

struct Softening {
  std::vector<double> times;   // tau of each term [s]; 0: the term as it is, to the bit
  std::vector<double> shares;  // m_ka [kg] of all terms one behind the other, positive where tau > 0
  std::vector<char> held;      // per component, not 0: does not give way
};

// `potential` must outlive the result, which has its stencils and descriptions and brings the masses `shares`.
// `reference`: positions [m], dim components a node.
// y is found by Newton's method with the term's Hessian, a few evaluations of gradient and Hessian and as many dense
// factorisations: every call costs that. Throws SolveError (term, time, residuals) where no y is found.
std::unique_ptr<Potential> soften(const LocalPotential& potential, std::span<const double> reference,
                                  Softening softening);

}  // namespace tempi
