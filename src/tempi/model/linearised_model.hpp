// SPDX-License-Identifier: Apache-2.0
// The linear model of small perturbations d about the displacements u: M d'' + K d = 0, K the sum of the terms'
// Hessians at u, d = 0 on every component a support holds.
#pragma once

#include <span>

#include "tempi/model/model.hpp"

namespace tempi {

// Every potential linearised at u; the same terms, stencils and masses; supports of the same names that hold the same
// components, all at rest; no loads, not even those whose force follows the motion. Its reference positions are those
// at u, where d counts from. `model` must outlive it.
// Throws InputError when the model has constraints.
// Away from equilibrium, and where the model buckles, K has motions of its own that grow.
Model linearised(const Model& model, std::span<const double> u);

}  // namespace tempi
