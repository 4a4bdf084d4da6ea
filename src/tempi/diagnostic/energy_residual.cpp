// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/energy_residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tempi {

EnergyResidual::EnergyResidual(const Model& model) : model_(model), kernel_(residual_kernel()) {
  make_room(model.term_count());
  for (Index i = 0; i < model.term_count(); ++i) terms_[static_cast<std::size_t>(i)] = make_id<TermId>(i);
  previous_.assign(static_cast<std::size_t>(model_.force_slot_count()), 0.0);
}

void EnergyResidual::make_room(Index places) {
  if (places <= std::ssize(terms_)) return;
  const auto size = static_cast<std::size_t>(places);
  ResidualRecords none{};
  none.pending.fill(std::numeric_limits<double>::quiet_NaN());
  records_.resize((size + ResidualRecords::terms - 1) / ResidualRecords::terms, none);
  terms_.resize(size);
  together_.resize(size);
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

double EnergyResidual::pending(std::size_t place) const {
  return records_[place / ResidualRecords::terms].pending[place % ResidualRecords::terms];
}

void EnergyResidual::add(std::size_t first, Index count, const ToldOfStrikes& told, double time) {
  Together& together = together_[first];
  __builtin_prefetch(&together, 1);
  const bool complete = !std::isnan(pending(first));  // neighbouring places strike together, the first time too
  const auto [given, accumulated] = kernel_(records_.data(), static_cast<Index>(first), count, told, complete);
  together.given += given;
  if (std::abs(accumulated) > std::abs(together.peak)) {
    together.peak = accumulated;
    together.time = time;
  }
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
  double given = 0.0;
  for (const Together& together : together_) given += together.given;
  return kinetic_less_booked(state) - at_start_ - given;
}

void EnergyResidual::on_strike(const Strike& strike) {
  const double of_loads = load_work(strike);
  add(ordinal(strike.term), 1,
      {&strike.kinetic_before, &strike.kinetic_change, &strike.damping_work, &strike.potential_energy, &of_loads},
      strike.time);
}

void EnergyResidual::on_strikes(const Strikes& s) {
  const auto first = static_cast<std::size_t>(s.place);
  if (std::isnan(pending(first))) std::ranges::copy(s.terms, terms_.begin() + s.place);  // for good
  const auto told = [](std::span<const double> values) { return values.empty() ? nullptr : values.data(); };
  add(first, std::ssize(s.terms),
      {s.kinetic_before.data(), s.kinetic_change.data(), told(s.damping_work), s.potential_energy.data(),
       told(s.load_work)},
      s.time);
}

// visit(place, term's records, its lane of them) of all terms that have struck.
template <class Visit>
void EnergyResidual::each_struck(Visit&& visit) const {
  for (std::size_t i = 0; i < terms_.size(); ++i)
    if (!std::isnan(pending(i))) visit(i, records_[i / ResidualRecords::terms], i % ResidualRecords::terms);
}

std::vector<double> EnergyResidual::by_term(ResidualRecords::Eight ResidualRecords::*figure) const {
  std::vector<double> result(static_cast<std::size_t>(model_.term_count()));
  each_struck([&](std::size_t i, const ResidualRecords& of, std::size_t lane) {
    result[ordinal(terms_[i])] = (of.*figure)[lane];
  });
  return result;
}

std::vector<double> EnergyResidual::last() const { return by_term(&ResidualRecords::last); }
std::vector<double> EnergyResidual::accumulated() const { return by_term(&ResidualRecords::accumulated); }

void EnergyResidual::save(ArchiveWriter& archive) const {
  archive.put("terms", terms_);
  archive.put("records", std::vector(records_.begin(), records_.end()));
  archive.put("together", together_);
  archive.put("previous", previous_);
  archive.put("at_start", at_start_);
}

void EnergyResidual::load(ArchiveReader& archive) {
  std::vector<TermId> terms;
  archive.get_all("terms", terms);
  make_room(std::ssize(terms));
  terms_ = std::move(terms);
  std::vector<ResidualRecords> records(records_.size());
  archive.get("records", records);
  std::ranges::copy(records, records_.begin());
  archive.get("together", together_);
  archive.get("previous", previous_);
  archive.get("at_start", at_start_);
}

EnergyResidual::Worst EnergyResidual::worst() const {
  Worst w{TermId{0}, 0.0, 0.0, 0.0, 0.0, 0.0};
  each_struck([&](std::size_t i, const ResidualRecords& of, std::size_t lane) {
    const double peak = of.peak[lane], energy = of.energy[lane];
    if (std::abs(peak) > std::abs(w.accumulated)) w = {terms_[i], 0.0, peak, energy, w.largest_energy, w.largest_ratio};
    w.largest_energy = std::max(w.largest_energy, energy);
    if (energy > 0.0) w.largest_ratio = std::max(w.largest_ratio, std::abs(peak) / energy);
  });
  double largest = 0.0;
  for (const Together& together : together_)
    if (std::abs(together.peak) > largest) {
      largest = std::abs(together.peak);
      w.time = together.time;
    }
  return w;
}

}  // namespace tempi
