// SPDX-License-Identifier: Apache-2.0
// The classical Runge-Kutta method of order 4 on (u, v): what variational methods are compared with, no more.
//
// Four force evaluations a step. Linear momentum is exact; angular momentum and energy are not kept: a stable
// oscillation loses the part (omega h)^6 / 72 of its energy every step. Stable for omega h < 2 sqrt(2),
// with dampers alone for c h / m < 2.785: they are explicit here.
// Not for: long runs.
#pragma once

#include <array>

#include "tempi/integrator/one_step/one_step.hpp"

namespace tempi {

class Rk4Map final : public OneStepMap {
 public:
  Rk4Map(const Model& model, double step) : forces_(model, step) {}

  std::string_view name() const override { return "rk4"; }
  Claims claims() const override {
    return {4, Conservation::exact, Conservation::none, Conservation::none, false, false};
  }
  const StageForces& forces() const override { return forces_; }
  void step(State& state, double t0, double h) const override;

 private:
  using Vector = StageForces::Vector;

  StageForces forces_;
  mutable std::array<Stage, 4> stages_;  // work space
  mutable Stage end_;
  mutable Vector rest_;  // what supports have yet to give, of the components they hold
};

using SyncRk4 = OneStep<Rk4Map>;

}  // namespace tempi
