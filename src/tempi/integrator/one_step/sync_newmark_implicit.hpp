// SPDX-License-Identifier: Apache-2.0
// Newmark's family (Lew, Marsden, Ortiz, West 2004, eq. (19)), a = M^{-1} (-dV/dx + loads - C v):
//
//   q1 = q0 + h v0 + h^2/2 [(1 - 2 beta) a0 + 2 beta a1],   v1 = v0 + h [(1 - gamma) a0 + gamma a1]
//
// For gamma = 1/2 the positions x = q - beta h^2 a and the velocities v are those of velocity Verlet in the potential
// V + beta h^2/2 dV.M^{-1} dV at q(x), which has the symmetries of V: sum m x cross v is exact, x and m v are
// canonical, and the energy of (q, v) stays in a band. In q itself angular momentum stays in a band and the form is
// not the canonical one unless beta = 0, where x = q.
// Other gamma: order 1; more than 1/2 damps, less excites. Linear oscillations are stable at every step for
// 2 beta >= gamma >= 1/2.
//
// Two force evaluations a step at least; for beta = 0 and gamma = 1/2 SyncNewmark takes one.
#pragma once

#include <memory>

#include "tempi/integrator/one_step/newton.hpp"
#include "tempi/integrator/one_step/one_step.hpp"

namespace tempi {

class NewmarkMap final : public OneStepMap {
 public:
  // 0 <= beta <= 1/2, 0 <= gamma <= 1.
  NewmarkMap(const Model& model, double step, double beta, double gamma);

  std::string_view name() const override { return "newmark-implicit"; }
  Claims claims() const override;
  const StageForces& forces() const override { return forces_; }
  std::vector<double> parameters() const override { return {beta_, gamma_}; }
  void step(State& state, double t0, double h) const override;

 private:
  using Vector = StageForces::Vector;

  void find_end(const Stage& start, Stage& end, double t1, double h) const;
  void find_end_velocity(const Stage& start, Stage& end, double t1, double h) const;

  StageForces forces_;
  double beta_, gamma_;
  mutable std::unique_ptr<StepMatrix> matrix_;  // made when first needed
  mutable LastSolution last_solution_;
};

using SyncNewmarkImplicit = OneStep<NewmarkMap>;

}  // namespace tempi
