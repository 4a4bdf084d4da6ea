// SPDX-License-Identifier: Apache-2.0
// The classical Runge-Kutta method of order 4 on (u, v): what variational methods are compared with, no more.
//
// Four force evaluations a step. Linear momentum is exact; angular momentum and energy are not kept: a stable
// oscillation loses the part (omega h)^6 / 72 of its energy every step. Stable for omega h < 2 sqrt(2),
// with dampers alone for c h / m < 2.785: they are explicit here.
// Not for: long runs.
#pragma once

#include "tempi/integrator/sync_stepper.hpp"

namespace tempi {

class SyncRk4 final : public SyncStepper {
 public:
  SyncRk4(const Model& model, double step) : SyncStepper(model, step) {}

  std::string_view name() const override { return "rk4"; }
  Claims claims() const override {
    return {4, Conservation::exact, Conservation::none, Conservation::none, false, false};
  }

 private:
  void make_step(State& state, double t0, double h) const override;
};

}  // namespace tempi
