// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/sync_symplectic_energy_momentum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tempi/core/error.hpp"

namespace tempi {

SymplecticEnergyMomentumMap::SymplecticEnergyMomentumMap(const Model& model, double step, DiscreteAction action,
                                                         StepBounds bounds)
    : map_(model, std::move(action), step), bounds_(bounds) {
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

double SymplecticEnergyMomentumMap::end_of_step(const State& state, double t0, double) {
  const double nominal = forces().step();
  found_ = {nominal, 0.0, true};
  if (adaption_.steps > 0) {
    const auto v = map_of(state.velocity);
    const double scale = 0.5 * v.dot(forces().mass().cwiseProduct(v)) + std::abs(adaption_.energy);
    const auto residual = [&](double h) {
      try {
        return map_.discrete_energy(state, t0, h) - adaption_.energy;
      } catch (const SolveError&) {  // too long a step for the equations of motion
        return std::numeric_limits<double>::quiet_NaN();
      }
    };
    StepSearch search(residual, bounds_.least * nominal, bounds_.largest * nominal, 1e-14 * scale);
    found_ = search.from(adaption_.last);
  }
  return t0 + found_.step;
}

void SymplecticEnergyMomentumMap::take_step(State& state, double t0, double) {
  const bool first = adaption_.steps == 0;
  const double energy = first ? map_.discrete_energy(state, t0, found_.step) : adaption_.energy;
  map_.step(state, t0, found_.step);

  Adaption& a = adaption_;
  ++a.steps;
  a.energy = energy;
  a.last = found_.step;
  a.smallest = first ? found_.step : std::min(a.smallest, found_.step);
  a.largest = std::max(a.largest, found_.step);
  if (!found_.solved) ++a.without_solution;
  double& residual = found_.solved ? a.largest_residual_while_solved : a.largest_residual;
  residual = std::max(residual, std::abs(found_.residual));
}

void SymplecticEnergyMomentumMap::save(ArchiveWriter& archive) const {
  archive.put("bounds", bounds_);
  archive.put("adaption", adaption_);
}

void SymplecticEnergyMomentumMap::load(ArchiveReader& archive) {
  StepBounds bounds;
  Adaption adaption;
  archive.get("bounds", bounds);
  if (bounds.least != bounds_.least || bounds.largest != bounds_.largest)
    throw InputError("the checkpoint was written with other bounds on the step. Use the same case.");
  archive.get("adaption", adaption);
  adaption_ = adaption;
}

Integrator::Measures SymplecticEnergyMomentumMap::measures() const {
  return {{"steps", static_cast<double>(adaption_.steps)},
          {"steps_without_solution", static_cast<double>(adaption_.without_solution)},
          {"smallest_step", adaption_.smallest},
          {"largest_step", adaption_.largest},
          {"discrete_energy", adaption_.energy},
          {"largest_residual_while_solved", adaption_.largest_residual_while_solved},
          {"largest_residual_without_solution", adaption_.largest_residual}};
}

}  // namespace tempi
