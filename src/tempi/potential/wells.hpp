// SPDX-License-Identifier: Apache-2.0
// Harmonic wells: V = sum_k 1/2 sum_c s_c (x_c - p_c)^2 over nodes k, each a term of its own.
//
// Terms bring no mass and never degenerate: add_gradient returns 1. Wells hold bodies, so momenta are not kept.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "tempi/potential/potential.hpp"

namespace tempi {

struct Well {
  std::array<double, 3> stiffness{};  // s [N/m], per axis, >= 0
  std::array<double, 3> centre{};     // p [m]
  bool at_reference = false;          // p is each node's reference place instead
};

class WellPotential : public LocalPotential {
 public:
  virtual const Well& well() const = 0;
};

// `reference` [m]: dim components a node. Throws InputError: a stiffness that is negative, a node that is not there.
std::unique_ptr<Potential> make_wells(std::span<const double> reference, int dim, std::vector<NodeId> nodes,
                                      const Well& well);

}  // namespace tempi
