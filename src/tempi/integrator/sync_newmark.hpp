// SPDX-License-Identifier: Apache-2.0
// Explicit Newmark (beta = 0, gamma = 1/2), in its leapfrog form with assembled forces: Lew, Marsden, Ortiz, West
// (2004), eq. (19). What asynchronous methods are compared with.
//
//   at t = j h:  x += v h,   v -= h M^{-1} dV/dx,   v starting at v(0) - h/2 M^{-1} dV/dx
//
// Dampers act after the kick, implicitly in v (dampers.hpp). Momenta are exact, energy stays in a band; the step must
// stay below 2 / omega_max of the assembled model, for which the smallest stable step of a term is a safe bound.
// Symplectic, reversible, order 2.
#pragma once

#include <vector>

#include "tempi/integrator/avi/strike_record.hpp"
#include "tempi/integrator/dampers.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/kick_drift.hpp"

namespace tempi {

class SyncNewmark final : public Integrator {
 public:
  SyncNewmark(const Model& model, double step);  // step > 0 [s]; `model` must outlive the integrator

  std::string_view name() const override { return "newmark"; }
  Claims claims() const override {
    return {2, Conservation::exact, Conservation::exact, Conservation::bounded, true, true};
  }
  Snapshot synchronized(const State& state, double t) const override;
  double step(TermId) const override { return step_; }
  Index updates(TermId) const override { return steps_done_; }
  void save(ArchiveWriter& archive) const override;
  void load(ArchiveReader& archive) override;

 private:
  void advance(State& state, double t_end, Observer* observer) override;
  void assemble(State& state, double t, Observer* observer);

  const Model& model_;
  double step_;
  Index steps_done_ = 0;
  bool started_ = false;
  KickDrift kick_drift_;
  Dampers dampers_;
  std::vector<double> impulse_, load_impulse_;  // nodal sums of one step
  std::vector<double> p_, q_;                   // impulses of the term in hand, those of its loads
  StrikeRecord record_;
};

}  // namespace tempi
