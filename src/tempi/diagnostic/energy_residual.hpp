// SPDX-License-Identifier: Apache-2.0
// The local energy residual of every term: Lew, Marsden, Ortiz, West (2004), eqs. (97)-(99).
//
//   R_K^j = T_K^{j+} + V_K(x_K^{j+1}) - T_K^{j-} - V_K(x_K^j)
//
// T^-+ are the kinetic energies of the term's nodes, with total nodal masses, before and after its strike (strikes at
// the same time are one event: see Strike). V_K(x^{j+1})
// is known only when the term acts again: R^j is complete at strike j + 1. Loads within a term belong to its V
// (2003, eqs. (9), (43)): they enter by the work of their force at t^{j+1} on x^{j+1} - x^j, which is exact for
// constant dead loads and differs from (43) by O(step^2) of the load's second time derivative for others; follower
// pressures, which have no potential, enter the same way. What dampers take of T^+ is not counted. The method does not
// enforce R = 0: its smallness is a measure of quality.
//
// What is exact is the ledger of kinetic energy: velocities change by kicks only, so that between two moments
//
//   T(t) - T(0) = sum over strikes (T_K^+ - T_K^-) + what supports have given,
//
// dampers within the strikes, to rounding. Whatever is left was booked wrongly or not shown.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "tempi/diagnostic/residual_kernel.hpp"
#include "tempi/integrator/integrator.hpp"

namespace tempi {

class EnergyResidual final : public Observer {
 public:
  explicit EnergyResidual(const Model& model);  // `model` must outlive it

  void on_strike(const Strike& strike) override;
  bool takes_strikes_together() const override { return true; }
  void on_strikes(const Strikes& strikes) override;

  std::vector<double> last() const;         // R_K^j of the last complete update [J], per term
  std::vector<double> accumulated() const;  // sum over j [J], per term

  // The ledger of kinetic energy, of the velocities a run has between strikes; dampers and supports as booked in the
  // state. `begin`: after the starting half kicks, before any strike.
  void begin(const State& state);
  // Kinetic energy that nobody has given since [J]; 0 before. Of models with layers of contact, whose pushes are not
  // shown, theirs is in it.
  double unbooked(const State& state) const;

  // The worst term over the run so far, by the largest |accumulated residual| in time.
  struct Worst {
    TermId term;
    double time;            // [s] when it was largest
    double accumulated;     // [J], with its sign
    double term_energy;     // largest T_K + V_K of the same term over the run [J]
    double largest_energy;  // largest T_K + V_K of any term [J]
    double largest_ratio;   // largest over terms of max_t |accumulated| / max_t (T_K + V_K)
  };
  Worst worst() const;

  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);  // of the same model, watched on the same engine

 private:
  // Of terms, at their places in the order of the engine that shows them; side by side, so that many are added at once.
  struct Records {
    std::vector<double> pending;  // T^+ - T^- - V(x^j) of the last strike; not a number before the first
    std::vector<double> last, accumulated;
    std::vector<double> energy;           // largest T_K + V_K so far
    std::vector<double> peak, peak_time;  // accumulated residual where its magnitude was largest
    static void each(auto& of, auto&& visit) {
      for (auto* values : {&of.pending, &of.last, &of.accumulated, &of.energy, &of.peak, &of.peak_time}) visit(*values);
    }
  };
  void add(std::size_t first, Index count, const ToldOfStrikes& told, double time);
  double kinetic_less_booked(const State& state) const;
  double load_work(const Strike& strike);
  std::vector<double> by_term(const std::vector<double>& figure) const;

  const Model& model_;
  ResidualKernel kernel_;
  Records records_;
  std::vector<double> given_;  // by strikes but for dampers, at the place of the first of those shown together [J]
  double at_start_ = std::numeric_limits<double>::quiet_NaN();  // kinetic energy less what had been booked [J]
  std::vector<TermId> terms_;                                   // of each place
  std::vector<double> previous_;  // displacements at the last strike of terms with forces, per Model::force_slot
};

}  // namespace tempi
