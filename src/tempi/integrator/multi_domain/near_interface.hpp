// SPDX-License-Identifier: Apache-2.0
// What of an explicit domain decides how it answers its interface within a system step: with s substeps the s - 1 rings
// of terms around driven components, of which s - k still matter at substep k; and the s / 2 rings through which what
// the interface moves can come back to it. Trying an interface velocity runs these only, and matrices are made of these
// only.
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

  // Whether trying is cheaper than running the whole domain.
  bool pays() const { return pays_; }

  // A step begins: nodes as they are just after its first half kicks. Loads are those of now, and stay.
  void begin(std::span<const NodeLine> lines, const LatticeLoads& loads);
  // Adds to `early` what comes between the ends of the step when driven components move at w. False: a term is not
  // admissible.
  bool run(const LatticeStrikes& strikes, SystemStep step, const Vector& w, Vector& early);

  // d early / dw [kg], linearised around the displacements u of the part; what rounding leaves of `early` [N s].
  Eigen::SparseMatrix<double> response(std::span<const double> u, SystemStep step);
  Vector rounding(std::span<const double> u, SystemStep step);

 private:
  struct SubstepPart {  // what still matters at a substep, of a group
    int substep;
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
  std::vector<double> restricted(std::span<const double> u) const;

  const DomainInterface::Part& part_;
  const LatticeGroups& plan_;
  int substeps_;
  bool pays_ = false;
  std::vector<SubstepPart> parts_;   // in the order of substeps
  std::vector<std::int32_t> lines_;  // of their nodes
  AlignedVector<NodeLine> start_;    // of these
  AlignedVector<NodeLine> nodes_;    // by line; work space
  std::vector<Component> driven_, held_;
  std::vector<Load> loads_;

  std::vector<Submodel> answering_;  // the rings that matrices are made of, first; empty: there are none
  std::vector<std::int32_t> ticks_;  // of its terms
  std::unique_ptr<AssembledStiffness> stiffness_;
  std::vector<Index> answering_driven_, answering_held_;
  Vector answering_mass_;
};

}  // namespace tempi
