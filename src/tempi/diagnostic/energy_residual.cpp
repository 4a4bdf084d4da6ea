// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/energy_residual.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace tempi {

EnergyResidual::EnergyResidual(const Model& model) : model_(model), kernel_(residual_kernel()) {
  Records::each(records_, [&](auto& values) { values.resize(static_cast<std::size_t>(model.term_count())); });
  std::ranges::fill(records_.pending, std::numeric_limits<double>::quiet_NaN());
  given_.resize(records_.pending.size());
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
  constexpr Index lanes = 8;  // the same sums of every instruction set
  std::array<double, lanes> sums{};
  const auto add_up = [&](const double* values, double sign) {
    Index i = 0;
    for (; i + lanes <= count; i += lanes)
      for (Index k = 0; k < lanes; ++k) sums[static_cast<std::size_t>(k)] += sign * values[i + k];
    for (; i < count; ++i) sums[static_cast<std::size_t>(i % lanes)] += sign * values[i];
  };
  add_up(told.kinetic_change, 1.0);
  if (told.damping_work != nullptr) add_up(told.damping_work, -1.0);
  given_[first] += std::accumulate(sums.begin(), sums.end(), 0.0);
}

double EnergyResidual::kinetic_less_booked(const State& state) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  double kinetic = 0.0;
  for (std::size_t i = 0; i < state.velocity.size(); ++i)
    kinetic += 0.5 * model_.mass()[i / d] * state.velocity[i] * state.velocity[i];
  double booked = state.damping.work.value();
  for (const Ledger& ledger : state.supports) booked += ledger.work.value();
  return kinetic - booked;
}

void EnergyResidual::begin(const State& state) { at_start_ = kinetic_less_booked(state); }

double EnergyResidual::unbooked(const State& state) const {
  if (std::isnan(at_start_)) return 0.0;
  return kinetic_less_booked(state) - at_start_ - std::accumulate(given_.begin(), given_.end(), 0.0);
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
  archive.put("given", given_);
  archive.put("at_start", at_start_);
}

void EnergyResidual::load(ArchiveReader& archive) {
  Records::each(records_, [&](auto& values) { archive.get("records", values); });
  archive.get("terms", terms_);
  archive.get("previous", previous_);
  archive.get("given", given_);
  archive.get("at_start", at_start_);
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
