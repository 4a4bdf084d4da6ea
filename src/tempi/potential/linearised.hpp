// SPDX-License-Identifier: Apache-2.0
// The quadratic potential that agrees with another one to second order about the displacements u, less its value and
// its gradient there: what small perturbations d of a motion through u feel.
//
//   V_k(d) = 1/2 d^T K_k d,   K_k = d2V_k/dx2 at u and t = 0
#pragma once

#include <memory>
#include <span>

#include "tempi/potential/potential.hpp"

namespace tempi {

// Displacements of the result count from u: zero is the configuration u. Stencils, mass shares and descriptions are
// those of `potential`, which must outlive it. Holds (dim * stencil size)^2 doubles a term; add_gradient returns 1.
std::unique_ptr<Potential> linearise(const Potential& potential, std::span<const double> u);

}  // namespace tempi
