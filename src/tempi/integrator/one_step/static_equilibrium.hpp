// SPDX-License-Identifier: Apache-2.0
// Static equilibrium: at the end of each load step the displacements at which all forces vanish,
//
//   f(u, t1) = -dV/du + loads(u, t1) = 0     on components without a support, those with one where it has them at t1
//
// by Newton's method with a line search and the assembled stiffness (newton.hpp). t counts the loads, nothing moves:
// velocities are zero, dampers do nothing. Work and impulses of loads and supports are booked along the straight line
// of a step by the trapezoidal rule: exact for linear elasticity under dead loads, of second order in the steps
// otherwise. Follower loads have no part in the matrix: they converge linearly.
//
// When not to use it: bodies that are not held (the matrix is singular, and says so), beyond limit points and
// bifurcations (load steps do not follow the path back), where inertia matters.
#pragma once

#include <memory>
#include <optional>

#include "tempi/integrator/one_step/newton.hpp"
#include "tempi/integrator/one_step/one_step.hpp"

namespace tempi {

class StaticMap final : public OneStepMap {
 public:
  // `step` [s]: from one load step to the next.
  StaticMap(const Model& model, double step) : forces_(model, step) {}

  std::string_view name() const override { return "static"; }
  Claims claims() const override {
    return {0.0, Conservation::none, Conservation::none, Conservation::none, false, false};
  }
  const StageForces& forces() const override { return forces_; }
  // Throws SolveError: no equilibrium found (which load step, residuals), a body that may move without force.
  void step(State& state, double t0, double h) const override;
  void take_step(State& state, double t0, double t1) override;
  Integrator::Measures measures() const override;
  void save(ArchiveWriter& archive) const override;
  void load(ArchiveReader& archive) override;

 private:
  using Vector = StageForces::Vector;
  struct Found {
    Vector from, u;
    double t0, h;
    Index iterations;
  };

  Found find(const Vector& from, double t0, double h) const;
  std::string not_held(const Vector& correction) const;

  StageForces forces_;
  mutable std::unique_ptr<StepMatrix> matrix_;  // made when first needed
  mutable std::optional<Found> found_;  // the last one: a row of the history looks at it before the step is taken
  Index iterations_ = 0, most_iterations_ = 0, steps_ = 0;
};

using StaticEquilibrium = OneStep<StaticMap>;

}  // namespace tempi
