// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/sync_symplectic_energy_momentum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tempi/core/error.hpp"

namespace tempi {

SyncSymplecticEnergyMomentum::SyncSymplecticEnergyMomentum(const Model& model, double step, DiscreteAction action,
                                                           StepBounds bounds)
    : SyncVariational(model, std::move(action), step), bounds_(bounds) {
  check(bounds);
  if (model.has_forces())
    throw InputError(
        "symplectic-energy-momentum takes no loads and no dampers (its equation of energy has none). Use midpoint or "
        "avi.");
  for (const NodeId a : model.supports().held_nodes())
    if (model.supports().moves(a))
      throw InputError(
          "symplectic-energy-momentum takes no moving supports (their work is not in its equation of energy). "
          "Use midpoint or avi.");
}

double SyncSymplecticEnergyMomentum::step_before(State& state, double t0, double t_end) {
  const double nominal = nominal_step();
  const bool first = steps_done() == 0;
  FoundStep found{nominal, 0.0, true};
  if (!first) {
    const auto v = map_of(state.velocity);
    const double scale = 0.5 * v.dot(mass().cwiseProduct(v)) + std::abs(adaption_.energy);
    const auto residual = [&](double h) {
      try {
        return discrete_energy(state, t0, h) - adaption_.energy;
      } catch (const SolveError&) {  // too long a step for the equations of motion
        return std::numeric_limits<double>::quiet_NaN();
      }
    };
    StepSearch search(residual, bounds_.least * nominal, bounds_.largest * nominal, 1e-14 * scale);
    found = search.from(adaption_.last);
  }
  const double t1 = t0 + found.step;
  if (!(t1 < t_end)) return t0;
  const double energy = first ? discrete_energy(state, t0, found.step) : adaption_.energy;
  make_step(state, t0, found.step);

  Adaption& a = adaption_;
  a.energy = energy;
  a.last = found.step;
  a.smallest = first ? found.step : std::min(a.smallest, found.step);
  a.largest = std::max(a.largest, found.step);
  if (!found.solved) ++a.without_solution;
  double& residual = found.solved ? a.largest_residual_while_solved : a.largest_residual;
  residual = std::max(residual, std::abs(found.residual));
  return t1;
}

void SyncSymplecticEnergyMomentum::save(ArchiveWriter& archive) const {
  archive.put("bounds", bounds_);
  archive.put("adaption", adaption_);
  SyncVariational::save(archive);
}

void SyncSymplecticEnergyMomentum::load(ArchiveReader& archive) {
  StepBounds bounds;
  Adaption adaption;
  archive.get("bounds", bounds);
  if (bounds.least != bounds_.least || bounds.largest != bounds_.largest)
    throw InputError("the checkpoint was written with other bounds on the step. Use the same case.");
  archive.get("adaption", adaption);
  SyncVariational::load(archive);
  adaption_ = adaption;
}

Integrator::Measures SyncSymplecticEnergyMomentum::measures() const {
  Measures all = SyncVariational::measures();
  all.insert(all.end(), {{"steps", static_cast<double>(steps_done())},
                         {"steps_without_solution", static_cast<double>(adaption_.without_solution)},
                         {"smallest_step", adaption_.smallest},
                         {"largest_step", adaption_.largest},
                         {"discrete_energy", adaption_.energy},
                         {"largest_residual_while_solved", adaption_.largest_residual_while_solved},
                         {"largest_residual_without_solution", adaption_.largest_residual}});
  return all;
}

}  // namespace tempi
