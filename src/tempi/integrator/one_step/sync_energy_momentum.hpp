// SPDX-License-Identifier: Apache-2.0
// An energy-momentum method: the midpoint rule with discrete gradients (discrete_gradient.hpp) in place of gradients,
//
//   q1 - q0 = h (v0 + v1) / 2,   M (v1 - v0) = -h sum_K DG_K(q0, q1) + h loads
//
// Linear momentum is exact. Energy is as exact as rounding lets the equations be solved: some 1e-12 over a thousand
// steps, more where displacements are large beside the strains, as of bodies that fly far or turn, or where omega h is.
// Angular momentum is exact where all terms are pairs; elements let it drift, by order 2. Loads act at the midpoint,
// dampers there with the mean velocity, so that they can only take energy; what they and supports do is booked so that
// the energy balances to rounding, too.
//
// Implicit: Newton's method with the exact, unsymmetric derivative M + h^2/2 dDG/dq1. Reversible, not symplectic.
// Not for finding periods at large steps: energy is kept, phases are not.
#pragma once

#include <memory>

#include "tempi/integrator/one_step/newton.hpp"
#include "tempi/integrator/one_step/one_step.hpp"

namespace tempi {

class DiscreteGradient;

class EnergyMomentumMap final : public OneStepMap {
 public:
  EnergyMomentumMap(const Model& model, double step);

  std::string_view name() const override { return "energy-momentum"; }
  Claims claims() const override {
    return {2, Conservation::exact, angular_momentum_, Conservation::exact, false, true};
  }

  const StageForces& forces() const override { return forces_; }
  void step(State& state, double t0, double h) const override;

  Index iterations() const { return iterations_; }  // of all steps, those of synchronized() included

 private:
  using Vector = StageForces::Vector;

  Admissibility evaluate_middle(DiscreteGradient& gradient, Stage& middle, double t) const;

  StageForces forces_;
  Conservation angular_momentum_;
  mutable std::unique_ptr<StepMatrix> matrix_;  // made when first needed
  mutable LastSolution last_solution_;
  mutable Index iterations_ = 0;
};

using SyncEnergyMomentum = OneStep<EnergyMomentumMap>;

}  // namespace tempi
