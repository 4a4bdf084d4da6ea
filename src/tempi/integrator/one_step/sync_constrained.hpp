// SPDX-License-Identifier: Apache-2.0
// SHAKE and RATTLE: Verlet's method on the set where holonomic constraints g(x) = 0 hold. The trapezoidal discrete
// Lagrangian with multipliers (Lew, Marsden, Ortiz, West 2004, eqs. (24), (25); Gates, Matous, Heath 2008, eqs. (27),
// (28), without the hat on L_d in (21a), which would count J^T lambda twice):
//
//   v_1/2 = v_0 + M^{-1} (h/2 f_0 + J_0^T lambda),   q_1 = q_0 + h v_1/2,   g(q_1) = 0
//   v_1   = v_1/2 + M^{-1} (h/2 f_1 + J_1^T mu),     rattle: J_1 v_1 = 0;   shake: v_1 = (q_2 - q_0) / (2h)
//
// q_1 does not depend on what v_0 has along M^{-1} J_0^T, so both give the same positions. With constraints between
// nodes both keep linear and angular momentum to rounding; both are reversible, and symplectic on the constraint set,
// where either mu is a change of p = M v that dq wedge dp does not see. The velocities of shake are those of Verlet's
// method: they satisfy J v = 0 only to O(h^2), and cost a second solution a step, for q_2: supports are asked where
// they are one step beyond the end. Choose rattle unless these velocities are wanted.
//
// Stable as Verlet's method is, for omega h < 2 of the constrained motion. Two force evaluations a step.
// Not for: constraints that are redundant, or become so in the motion.
#pragma once

#include "tempi/integrator/one_step/constraint_equations.hpp"
#include "tempi/integrator/one_step/one_step.hpp"

namespace tempi {

enum class ConstrainedVelocity { central, projected };  // shake, rattle

class ConstrainedMap final : public OneStepMap {
 public:
  // step > 0 [s]; `model` must outlive the integrator. The start is checked when the integrator first sees it, by
  // advance_to or synchronized: ConstraintEquations::make_consistent says what is refused.
  ConstrainedMap(const Model& model, ConstrainedVelocity velocity, double step);

  std::string_view name() const override { return velocity_ == ConstrainedVelocity::central ? "shake" : "rattle"; }
  Claims claims() const override {
    return {2, Conservation::exact, Conservation::exact, Conservation::bounded, true, true};
  }

  const StageForces& forces() const override { return forces_; }
  void start(State& state) const override;
  void step(State& state, double t0, double h) const override;
  void add_constraint_forces(Stage& stage, double t) const override;

  Index newton_iterations() const { return newton_iterations_; }  // in all, output's included

 private:
  using Vector = StageForces::Vector;
  using Impulse = ConstraintEquations::Impulse;

  void leap(const Stage& from, const Eigen::Ref<const Vector>& v, double t0, double h,
            ConstraintEquations::Leap& way) const;
  const Impulse& find_velocity(Stage& end, double t1, double h) const;
  // While the state is still at the start of the step.
  void book(State& state, const Stage& stage, const Eigen::Ref<const Vector>& v, const Impulse& impulse,
            double h) const;

  StageForces forces_;
  ConstrainedVelocity velocity_;
  ConstraintEquations constraints_;
  mutable Stage start_, end_;  // work space, as all below
  mutable ConstraintEquations::Leap way_, beyond_;
  mutable Index newton_iterations_ = 0;
};

using SyncConstrained = OneStep<ConstrainedMap>;

}  // namespace tempi
