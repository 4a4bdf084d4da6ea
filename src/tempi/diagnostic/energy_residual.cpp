// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/energy_residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tempi {

EnergyResidual::EnergyResidual(const Model& model) : model_(model) {
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

void EnergyResidual::add(std::size_t first, std::size_t count, const Told& told, double time) {
  // Plain pointers and no branches: so compilers take several terms at once.
  double* __restrict pending = &records_.pending[first];
  double* __restrict last = &records_.last[first];
  double* __restrict accumulated = &records_.accumulated[first];
  double* __restrict energy = &records_.energy[first];
  double* __restrict peak = &records_.peak[first];
  double* __restrict peak_time = &records_.peak_time[first];
  const double* __restrict V = told.energy;
  const double* __restrict kinetic = told.kinetic_before;
  const double* __restrict change = told.kinetic_change;
  const bool complete = !std::isnan(*pending);  // terms of neighbouring places strike together, the first time too
  for (std::size_t i = 0; i < count; ++i) last[i] = complete ? pending[i] + V[i] : 0.0;
  for (std::size_t i = 0; i < count; ++i) pending[i] = change[i] - V[i];
  for (std::size_t i = 0; complete && told.load_work != nullptr && i < count; ++i) last[i] -= told.load_work[i];
  for (std::size_t i = 0; told.damping_work != nullptr && i < count; ++i) pending[i] -= told.damping_work[i];
  for (std::size_t i = 0; i < count; ++i) accumulated[i] += last[i];
  // Few are ever larger than before: what need not be written stays as it is in its cache.
  constexpr std::size_t at_once = 16;
  for (std::size_t begin = 0; begin < count; begin += at_once) {
    const std::size_t end = std::min(begin + at_once, count);
    bool any = false;
    for (std::size_t i = begin; i < end; ++i)
      any |= (kinetic[i] + V[i] > energy[i]) | (std::abs(accumulated[i]) > std::abs(peak[i]));
    if (!any) continue;
    for (std::size_t i = begin; i < end; ++i) {
      energy[i] = std::max(energy[i], kinetic[i] + V[i]);
      if (!(std::abs(accumulated[i]) > std::abs(peak[i]))) continue;
      peak[i] = accumulated[i];
      peak_time[i] = time;
    }
  }
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
  add(first, s.terms.size(),
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
