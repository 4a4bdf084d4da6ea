// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/energy_residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tempi {

EnergyResidual::EnergyResidual(const Model& model) : model_(model), kernel_(residual_kernel()) {
  Records::each(records_, [&](auto& values) { values.resize(static_cast<std::size_t>(model.term_count())); });
  std::ranges::fill(records_.pending, std::numeric_limits<double>::quiet_NaN());
  for (Index i = 0; i < model.term_count(); ++i) terms_.push_back(make_id<TermId>(i));
  previous_.assign(static_cast<std::size_t>(model_.force_slot_count()), 0.0);
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

void EnergyResidual::add(std::size_t first, Index count, const ToldOfStrikes& told, double time) {
  Records& r = records_;
  const bool complete = !std::isnan(r.pending[first]);  // neighbouring places strike together, the first time too
  kernel_({&r.pending[first], &r.last[first], &r.accumulated[first], &r.energy[first], &r.peak[first],
           &r.peak_time[first]},
          count, told, time, complete);
}

void EnergyResidual::on_strike(const Strike& strike) {
  const double of_loads = load_work(strike);
  add(ordinal(strike.term), 1,
      {&strike.kinetic_before, &strike.kinetic_change, &strike.damping_work, &strike.potential_energy, &of_loads},
      strike.time);
}

void EnergyResidual::on_strikes(const Strikes& s) {
  const auto first = static_cast<std::size_t>(s.place);
  if (std::isnan(records_.pending[first])) std::ranges::copy(s.terms, terms_.begin() + s.place);  // for good
  const auto told = [](std::span<const double> values) { return values.empty() ? nullptr : values.data(); };
  add(first, std::ssize(s.terms),
      {s.kinetic_before.data(), s.kinetic_change.data(), told(s.damping_work), s.potential_energy.data(),
       told(s.load_work)},
      s.time);
}

std::vector<double> EnergyResidual::by_term(const std::vector<double>& figure) const {
  std::vector<double> result(figure.size());
  for (std::size_t i = 0; i < figure.size(); ++i)
    if (!std::isnan(records_.pending[i])) result[ordinal(terms_[i])] = figure[i];  // it has struck
  return result;
}

std::vector<double> EnergyResidual::last() const { return by_term(records_.last); }
std::vector<double> EnergyResidual::accumulated() const { return by_term(records_.accumulated); }

void EnergyResidual::save(ArchiveWriter& archive) const {
  Records::each(records_, [&](const auto& values) { archive.put("records", values); });
  archive.put("terms", terms_);
  archive.put("previous", previous_);
}

void EnergyResidual::load(ArchiveReader& archive) {
  Records::each(records_, [&](auto& values) { archive.get("records", values); });
  archive.get("terms", terms_);
  archive.get("previous", previous_);
}

EnergyResidual::Worst EnergyResidual::worst() const {
  Worst w{TermId{0}, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const double peak = records_.peak[i], energy = records_.energy[i];
    if (std::abs(peak) > std::abs(w.accumulated))
      w = {terms_[i], records_.peak_time[i], peak, energy, w.largest_energy, w.largest_ratio};
    w.largest_energy = std::max(w.largest_energy, energy);
    if (energy > 0.0) w.largest_ratio = std::max(w.largest_ratio, std::abs(peak) / energy);
  }
  return w;
}

}  // namespace tempi
