// SPDX-License-Identifier: Apache-2.0
// Drags on single nodes of a lattice engine: dampers.hpp, solved exactly node by node. All groups of an instant
// together, C_a = sum_K step_K c_Ka:
//
//   w = (v- + v_P) / 2 / (1 + C_a / (2 m_a)),   m_a (v+ - v_P) = -C_a w
//
// A held component has w = v: what that gives goes to its support.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/lattice/acting_groups.hpp"
#include "tempi/integrator/lattice/lattice_groups.hpp"
#include "tempi/integrator/lattice/lattice_supports.hpp"
#include "tempi/model/state.hpp"

namespace tempi {

// visit(node, c [kg/s]) for each drag within these terms.
template <class Visit>
void each_drag(const Model& model, std::span<const TermId> terms, Visit&& visit) {
  for (const TermId term : terms)
    for (const HostedForce& h : model.forces_within(term)) {
      if (!h.force->is_damper()) continue;
      const auto stencil = h.force->stencil(h.element);
      h.force->each_drag(h.element, [&](std::size_t a, double c) { visit(stencil[a], c); });
    }
}

class LatticeDrag {
 public:
  using Vector = std::array<double, 3>;

  // All must outlive it.
  LatticeDrag(const Model& model, const LatticeGroups& plan, const LatticeSupports& supports, ThreadTeam& team);

  // Kicks, after everything else of the instant of these groups; `before`: v-, by line, or empty where the lines'
  // velocities are (v- + v_P) / 2. Supports have to settle once more.
  // By line, if not empty: `felt` takes the w of every node; to `withheld` is added what acts on held components, which
  // keep their velocities then: others of the instant still look at them [N s].
  void act(const ActingGroups& acting, std::span<NodeLine> nodes, std::span<const Vector> before,
           std::span<Vector> felt, std::span<Vector> withheld, Ledger& ledger);

  // For reports (Dampers::report), of the node on a line: sum over the groups of c_Ka times `duration`, times its
  // magnitude, and alone.
  struct Resistance {
    double signed_sum, sum, coefficient;
  };
  std::vector<Resistance> resistance(std::span<const double> duration_of_group) const;

 private:
  struct Entry {
    std::int32_t line;
    double c;  // [kg/s]; of an instant C_a [kg]
  };
  std::vector<Entry> sum_of(const ActingGroups& acting) const;

  const LatticeSupports& supports_;
  ThreadTeam& team_;
  std::vector<std::vector<Entry>> of_group_;
  MadeOfActing<std::vector<Entry>> of_instant_;
  std::vector<Vector> X_;          // by line
  mutable std::vector<double> C_;  // by line, 0 but while sums are made
  std::vector<Given> of_block_;
};

}  // namespace tempi
