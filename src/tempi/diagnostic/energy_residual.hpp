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

#include "tempi/core/aligned_vector.hpp"
#include "tempi/diagnostic/residual_kernel.hpp"
#include "tempi/integrator/integrator.hpp"

namespace tempi {

class EnergyResidual final : public Observer {
 public:
  explicit EnergyResidual(const Model& model);  // `model` must outlive it

  void on_strike(const Strike& strike) override;
  bool takes_strikes_together() const override { return true; }
  void make_room(Index places) override;
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
  // Of terms shown together, at the place of the first of them.
  struct Together {
    double given = 0.0;              // by strikes but for dampers [J]
    double peak = 0.0, time = -1.0;  // accumulated residual where its magnitude was largest of any [J], [s]
  };
  void add(std::size_t first, Index count, const ToldOfStrikes& told, double time);
  double pending(std::size_t place) const;
  double kinetic_less_booked(const State& state) const;
  double load_work(const Strike& strike);
  std::vector<double> by_term(ResidualRecords::Eight ResidualRecords::*figure) const;
  template <class Visit>
  void each_struck(Visit&& visit) const;

  const Model& model_;
  ResidualKernel kernel_;
  // By place in the order of the engine that shows them, or else by term.
  AlignedVector<ResidualRecords> records_;
  std::vector<TermId> terms_;
  std::vector<Together> together_;
  double at_start_ = std::numeric_limits<double>::quiet_NaN();  // kinetic energy less what had been booked [J]
  std::vector<double> previous_;  // displacements at the last strike of terms with forces, per Model::force_slot
};

}  // namespace tempi
