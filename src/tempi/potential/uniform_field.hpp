// SPDX-License-Identifier: Apache-2.0
// A uniform field of acceleration: V = -sum_k m_k g . x_k over nodes k, each a term of its own.
//
// Terms bring no mass and never degenerate: add_gradient returns 1. They have no stiffness, so no stable step of their
// own. The field holds bodies, so momenta are not kept along it. With g = 0 the terms carry the loads of their nodes.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "tempi/potential/potential.hpp"

namespace tempi {

// `reference` [m]: dim components a node; `masses` [kg]: one a node. Throws InputError: an acceleration [m/s^2] not
// finite, a node that is not there.
std::unique_ptr<Potential> make_uniform_field(std::span<const double> reference, int dim,
                                              std::span<const double> masses, std::vector<NodeId> nodes,
                                              const std::array<double, 3>& acceleration);

}  // namespace tempi
