// SPDX-License-Identifier: Apache-2.0
// What of an explicit domain decides how it answers its interface within a system step: with s substeps the s - 1 rings
// of terms around driven components. Of these s - k still matter at substep k, and k have felt the interface by then:
// the first velocity tried runs the former, later ones min(k, s - k) only. So what the interface moves comes back to it
// through s / 2 rings, and matrices are made of these.
#pragma once

#include <span>
#include <vector>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/integrator/lattice/lattice_loads.hpp"
#include "tempi/integrator/lattice/lattice_strikes.hpp"
#include "tempi/integrator/multi_domain/domain.hpp"
#include "tempi/model/assembled_stiffness.hpp"

namespace tempi {

class NearInterface {
 public:
  using Vector = Eigen::VectorXd;

  // All must outlive it. `ticks` by term of the part, each a divisor of `substeps`.
  NearInterface(const DomainInterface::Part& part, const LatticeGroups& plan, std::span<const std::int32_t> ticks,
                int substeps);

  // Whether trying is cheaper than running the whole domain; nothing at all where no term at the interface acts within
  // a step.
  bool pays() const { return pays_; }
  bool is_nothing() const { return parts_.empty(); }

  // A step begins: nodes as they are just after its first half kicks. Loads are those of now, and stay.
  void begin(std::span<const NodeLine> lines, const LatticeLoads& loads);
  // Adds to `early` what comes between the ends of the step when driven components move at w. False: a term is not
  // admissible.
  bool run(const LatticeStrikes& strikes, SystemStep step, const Vector& w, Vector& early);

  // d early / dw [kg], linearised around the displacements u of the part; what rounding leaves of `early` [N s].
  Eigen::SparseMatrix<double> response(std::span<const double> u, SystemStep step);
  Vector rounding(std::span<const double> u, SystemStep step);

 private:
  struct RingPart {
    int ring;  // from 1
    std::size_t group;
    LatticePart part;
  };
  struct Component {
    std::size_t line, component;
    double mass;
  };
  struct Load {
    std::size_t line, group;
    std::array<double, 3> force;  // [N]
  };
  // Lines of nodes of the ring `first` to that before `last`; 0: driven.
  std::span<const std::int32_t> lines_of(int first, int last) const {
    const auto from = static_cast<std::size_t>(lines_of_ring_[static_cast<std::size_t>(first)]);
    return std::span(lines_).subspan(from,
                                     static_cast<std::size_t>(lines_of_ring_[static_cast<std::size_t>(last)]) - from);
  }
  // Rings after the first of these, up to the last.
  bool strike(const LatticeStrikes& strikes, SystemStep step, int substep, int after, int last);
  std::vector<double> restricted(std::span<const double> u) const;

  const DomainInterface::Part& part_;
  const LatticeGroups& plan_;
  int substeps_;
  bool pays_ = false;
  std::vector<RingPart> parts_;              // in the order of rings
  std::vector<std::int32_t> lines_;          // of their nodes, in the order of rings
  std::vector<std::int32_t> lines_of_ring_;  // where each begins, and the end
  AlignedVector<NodeLine> start_;            // of these, at the beginning of the step
  AlignedVector<NodeLine> before_;           // of these, just before what the interface does reaches them
  bool first_ = true;                        // velocity tried
  AlignedVector<NodeLine> nodes_;            // by line; work space
  std::vector<Component> driven_, held_;
  std::vector<Load> loads_;

  std::vector<Submodel> answering_;  // the rings that matrices are made of, first; empty: there are none
  std::vector<std::int32_t> ticks_;  // of its terms
  std::unique_ptr<AssembledStiffness> stiffness_;
  std::vector<Index> answering_driven_, answering_held_;
  std::vector<Index> answering_place_;  // of the former, among the part's driven ones
  Vector answering_mass_;
};

}  // namespace tempi
