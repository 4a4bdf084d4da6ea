// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/energy_residual.hpp"

#include <algorithm>
#include <cmath>

namespace tempi {

EnergyResidual::EnergyResidual(const Model& model) : model_(model) {
  const auto n = static_cast<std::size_t>(model.term_count());
  for (auto* values : {&last_, &accumulated_, &pending_, &energy_, &peak_, &peak_time_}) values->assign(n, 0.0);
  struck_.assign(n, false);
  previous_.assign(static_cast<std::size_t>(model.force_slot_count()), 0.0);
}

// Work of the term's loads on the way from its last strike to this one; remembers where it is now.
double EnergyResidual::load_work(const Strike& strike) {
  const Index slot = model_.force_slot(strike.term);
  if (slot < 0) return 0.0;
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto nodes = model_.term(strike.term).stencil();
  double work = 0.0;
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (std::size_t c = 0; c < d; ++c) {
      const double u = strike.state.displacement[ordinal(nodes[a]) * d + c];
      double& before = previous_[static_cast<std::size_t>(slot) + a * d + c];
      work += strike.load_impulses[a * d + c] / strike.step * (u - before);
      before = u;
    }
  return work;
}

void EnergyResidual::on_strike(const Strike& strike) {
  const auto i = ordinal(strike.term);
  const double V = strike.potential_energy;
  const double work = load_work(strike);
  if (struck_[i]) {
    last_[i] = pending_[i] + V - work;
    accumulated_[i] += last_[i];
    if (std::abs(accumulated_[i]) > std::abs(peak_[i])) {
      peak_[i] = accumulated_[i];
      peak_time_[i] = strike.time;
    }
  }
  struck_[i] = true;
  pending_[i] = strike.kinetic_change - strike.damping_work - V;
  energy_[i] = std::max(energy_[i], strike.kinetic_before + V);
}

EnergyResidual::Worst EnergyResidual::worst() const {
  Worst w{TermId{0}, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (std::size_t i = 0; i < peak_.size(); ++i) {
    if (std::abs(peak_[i]) > std::abs(w.accumulated))
      w = {make_id<TermId>(static_cast<Index>(i)),
           peak_time_[i],
           peak_[i],
           energy_[i],
           w.largest_energy,
           w.largest_ratio};
    w.largest_energy = std::max(w.largest_energy, energy_[i]);
    if (energy_[i] > 0.0) w.largest_ratio = std::max(w.largest_ratio, std::abs(peak_[i]) / energy_[i]);
  }
  return w;
}

}  // namespace tempi
