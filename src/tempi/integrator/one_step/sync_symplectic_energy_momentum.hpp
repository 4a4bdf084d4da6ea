// SPDX-License-Identifier: Apache-2.0
// Symplectic-energy-momentum integrators: the step is an unknown, and its equation is that of energy (Kane, Marsden,
// Ortiz 1999; Lew, Marsden, Ortiz, West 2004, eqs (84)-(86); 2003, eqs (58)-(63)).
//
//   p_k = -D_1 L_d(q_k, q_{k+1}, h),   p_{k+1} = D_2 L_d(q_k, q_{k+1}, h),   -D_3 L_d(q_k, q_{k+1}, h) = E
//   E_d = -D_3 L_d = sum_i w_i (T + V)(c_i h) of the action's quadrature, E that of a first step of the nominal length
//
// What is kept exactly is E_d, not T + V at the ends of steps, which stays in a band of O(h^2). Where the equation has
// no root within the bounds on h, the step of least |E_d - E| is made and counted, and E is returned to as soon as it
// can be: energy is exact only while the equation is solvable. Momenta always are. The method is symplectic in
// space-time only (dp dq - dE dt): at given times its map is not.
//
// Which actions? For smoothly varying steps E_d - E = 0 fixes the step by h^n b(z) = const, and where b changes its
// sign no step solves it. By how b reads, with g the gradient and K the Hessian of V:
//   midpoint rule        h^2 (v K v + g M^-1 g): of one sign wherever V is convex, constant for linear systems, whose
//                        steps stay equal; steps lengthen where the motion is slow
//   right endpoint       h^2 g v (the papers' oscillator, Fig. 17; trapezoidal_action(1) here): changes its sign four
//                        times a period, at the turning points and at the equilibrium
//   velocity Verlet      h^3 (v K v / 12 - g M^-1 g / 24) for the oscillator: likewise
// The papers' example loses its solution where |p - h k q| > sqrt(2 m H), on the way to the *equilibrium*, where
// velocities are largest, not at a turning point. Explicit actions spend most steps without a solution, whatever
// bounds are set; they are here to show that.
//
// Potentials must not depend on time. Not for: loads and moving supports (refused), models whose steps vary by orders
// of magnitude from place to place (avi). Cost: 7 to 9 times the Newton iterations of fixed steps.
#pragma once

#include "tempi/integrator/one_step/step_search.hpp"
#include "tempi/integrator/one_step/sync_variational.hpp"

namespace tempi {

class SymplecticEnergyMomentumMap final : public OneStepMap {
 public:
  // `step`: the nominal one, of the first step [s]. Throws InputError: bounds out of range, a model with loads or
  // moving supports.
  SymplecticEnergyMomentumMap(const Model& model, double step, DiscreteAction action = midpoint_action(0.5),
                              StepBounds bounds = {});

  std::string_view name() const override { return "symplectic-energy-momentum"; }
  Claims claims() const override {
    return {static_cast<double>(map_.action().order),
            Conservation::exact,
            Conservation::exact,
            Conservation::bounded,
            false,
            false};
  }
  const StageForces& forces() const override { return map_.forces(); }
  std::vector<double> parameters() const override { return map_.parameters(); }
  void step(State& state, double t0, double h) const override { map_.step(state, t0, h); }
  double end_of_step(const State& state, double t0, double nominal_end) override;
  void take_step(State& state, double t0, double t1) override;
  Integrator::Measures measures() const override;
  void save(ArchiveWriter& archive) const override;
  void load(ArchiveReader& archive) override;

  struct Adaption {
    Index steps = 0;
    double energy = 0.0;                         // E [J]
    double last = 0.0;                           // step [s]
    double smallest = 0.0, largest = 0.0;        // steps so far [s]
    Index without_solution = 0;                  // steps
    double largest_residual = 0.0;               // |E_d - E| [J], of steps without solution
    double largest_residual_while_solved = 0.0;  // |E_d - E| [J], of the others
  };
  const Adaption& adaption() const { return adaption_; }

 private:
  VariationalMap map_;
  StepBounds bounds_;
  FoundStep found_{0.0, 0.0, true};  // the step that is to be taken next
  Adaption adaption_;
};

using SyncSymplecticEnergyMomentum = OneStep<SymplecticEnergyMomentumMap>;

}  // namespace tempi
