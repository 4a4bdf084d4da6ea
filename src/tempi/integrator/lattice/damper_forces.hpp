// SPDX-License-Identifier: Apache-2.0
// The forces of dampers that depend on places and velocities alone, -C(u) v [N], all at once by packs on all threads:
// for reports, and for methods that solve for velocities themselves. Dampers with a memory (impacts) are left out.
// Packs look at velocities one after the other (damping_batch.hpp); here all nodes are held, so that none changes what
// the next one sees.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tempi/integrator/lattice/damper_packs.hpp"

namespace tempi {

class DamperForces {
 public:
  using Vector = std::array<double, 3>;

  // All must outlive it.
  DamperForces(const Model& model, const LatticeGroups& plan, ThreadTeam& team);

  double drag(std::size_t line) const { return drag_[line]; }  // on a node, whatever its place [kg/s]

  // By line, of nodes where they are at t; until the next call. Their velocities are left as they are.
  std::span<const Vector> operator()(double t, std::span<NodeLine> nodes);

 private:
  ThreadTeam& team_;
  std::vector<double> drag_;  // by line [kg/s]
  std::vector<std::array<bool, 3>> held_;
  std::vector<DamperPart> parts_;
  std::vector<Vector> force_;
  std::vector<double> of_block_;
};

}  // namespace tempi
