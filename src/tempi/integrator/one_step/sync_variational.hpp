// SPDX-License-Identifier: Apache-2.0
// Synchronous variational integrators: one discrete Lagrangian (discrete_action.hpp), one step for all.
//
//   p_k = -D_1 L_d(q_k, q_{k+1}) - F_d^-,   p_{k+1} = D_2 L_d(q_k, q_{k+1}) + F_d^+
//                                             (Lew, Marsden, Ortiz, West 2004, eq. (10) and the forced form below (28))
//
// Loads and dampers act at the points of the quadrature: F_d of Q_j is h sum_i w_i phi_j(c_i) F(q_i, v_i, t_i), v_i the
// derivative of the polynomial. Of explicit actions dampers alone make the velocity over a step
// implicit, by a linear equation; orders stay.
// Midpoint and trapezoidal actions of alpha > 1/2 lean on old velocities: stable for (2 alpha - 1) c h / m < 2 only.
// Momenta are kept to the rounding of sums (the change of linear momentum is h sum_i w_i F_i whatever the solver
// leaves, that of angular momentum to the solver's residual); energy stays in a band; symplectic for every action.
// Implicit actions are solved by Newton's method with the assembled Hessians, a sparse factorisation whose symbolic
// part is made once, and a line search.
//
// Not for: models that need different steps (avi), or explicit runs at full speed (AviLattice, LatticeOptions::ahead).
#pragma once

#include <memory>
#include <vector>

#include "tempi/integrator/one_step/discrete_action.hpp"
#include "tempi/integrator/one_step/newton.hpp"
#include "tempi/integrator/one_step/one_step.hpp"

namespace tempi {

class VariationalMap final : public OneStepMap {
 public:
  using Vector = StageForces::Vector;

  // step > 0 [s]; `model` must outlive the integrator.
  VariationalMap(const Model& model, DiscreteAction action, double step);
  ~VariationalMap() override;

  std::string_view name() const override { return action_.name; }
  Claims claims() const override {
    return {static_cast<double>(action_.order),
            Conservation::exact,
            Conservation::exact,
            Conservation::bounded,
            true,
            action_.self_adjoint};
  }

  const StageForces& forces() const override { return forces_; }
  std::vector<double> parameters() const override;
  void step(State& state, double t0, double h) const override;

  // For who drives components (StageForces::drive) and wants what the step did to them.
  StageForces& forces() { return forces_; }
  // Of the step last solved, in the order of its points; of explicit actions without velocities nobody asks for.
  const std::vector<Stage>& stages() const { return stages_; }
  // Or solves the equations of a step together with others. Z: velocities over it, of actions with no position between
  // the ends. First those of held components; then the forces of any Z, and what R they leave; in the end the step.
  void place_held(const State& state, double t0, double h, Vector& Z) const;
  Admissibility attempt(const State& state, double t0, double h, const Vector& Z) const {
    return evaluate_stages(state, t0, h, Z);
  }
  Vector residual(const Vector& p0, double h) const;
  void complete(State& state, double t0, double h, const Vector& Z) const;

  // From here on the matrix of Newton's method is made where it is first wanted, and again only where residuals fall by
  // less than a tenth. What is solved is the same, to the solver's tolerance.
  void keep_matrix() { matrix_kept_ = true, matrix_for_ = 0.0; }

  const DiscreteAction& action() const { return action_; }
  // E_d = -D_3 L_d = sum_i w_i (T + V)(c_i h) of the step from t0 to t0 + h (eq. (86)); throws like step.
  double discrete_energy(const State& state, double t0, double h) const;
  Index newton_iterations() const { return newton_iterations_; }  // in all, output's included

 private:
  struct Matrix;

  void solve(const State& state, double t0, double h, Vector& Z) const;
  // Of an explicit action, forces of the stages that are known before the step, as the others have no weight in it; in
  // the end those of the others.
  enum class Wanted { all, known, unknown };
  Admissibility evaluate_stages(const State& state, double t0, double h, const Vector& Z,
                                Wanted wanted = Wanted::all) const;
  void book(State& state, double t0, double h, const Vector& Z) const;
  void set_velocities(const Vector& Z) const;
  bool is_known(std::size_t i) const;
  double equation(std::size_t j, double h, Index i) const;
  void assemble(double t0, double h) const;

  StageForces forces_;
  DiscreteAction action_;
  bool explicit_;
  mutable std::vector<Stage> stages_;  // work space, as is what follows
  mutable Vector Z_, reached_;
  mutable std::unique_ptr<Matrix> matrix_;  // made when first needed
  mutable LastSolution last_solution_;
  bool matrix_kept_ = false;
  mutable double matrix_for_ = 0.0;  // the step it was made for [s]; 0: for none
  mutable Index newton_iterations_ = 0;
};

using SyncVariational = OneStep<VariationalMap>;

}  // namespace tempi
