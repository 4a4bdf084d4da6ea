// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/energy_residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tempi {

EnergyResidual::EnergyResidual(const Model& model)
    : model_(model), records_(static_cast<std::size_t>(model.term_count())) {
  for (Record& record : records_) record.pending = std::numeric_limits<double>::quiet_NaN();
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

void EnergyResidual::add(Record& record, double kinetic_before, double kinetic_change, double damping_work, double V,
                         double load_work, double time) {
  if (!std::isnan(record.pending)) {
    record.last = record.pending + V - load_work;
    record.accumulated += record.last;
    if (std::abs(record.accumulated) > std::abs(record.peak)) {
      record.peak = record.accumulated;
      record.peak_time = time;
    }
  }
  record.pending = kinetic_change - damping_work - V;
  record.energy = std::max(record.energy, kinetic_before + V);
}

void EnergyResidual::on_strike(const Strike& strike) {
  add(records_[ordinal(strike.term)], strike.kinetic_before, strike.kinetic_change, strike.damping_work,
      strike.potential_energy, load_work(strike), strike.time);
}

void EnergyResidual::on_strikes(const Strikes& s) {
  const auto first = static_cast<std::size_t>(s.place);
  for (std::size_t i = 0; i < s.terms.size(); ++i) {
    terms_[first + i] = s.terms[i];
    add(records_[first + i], s.kinetic_before[i], s.kinetic_change[i], s.damping_work.empty() ? 0.0 : s.damping_work[i],
        s.potential_energy[i], s.load_work.empty() ? 0.0 : s.load_work[i], s.time);
  }
}

std::vector<double> EnergyResidual::by_term(double Record::*figure) const {
  std::vector<double> result(records_.size());
  for (std::size_t i = 0; i < records_.size(); ++i)
    if (!std::isnan(records_[i].pending)) result[ordinal(terms_[i])] = records_[i].*figure;  // it has struck
  return result;
}

std::vector<double> EnergyResidual::last() const { return by_term(&Record::last); }
std::vector<double> EnergyResidual::accumulated() const { return by_term(&Record::accumulated); }

void EnergyResidual::save(ArchiveWriter& archive) const {
  archive.put("records", records_);
  archive.put("terms", terms_);
  archive.put("previous", previous_);
}

void EnergyResidual::load(ArchiveReader& archive) {
  archive.get("records", records_);
  archive.get("terms", terms_);
  archive.get("previous", previous_);
}

EnergyResidual::Worst EnergyResidual::worst() const {
  Worst w{TermId{0}, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const Record& r = records_[i];
    if (std::abs(r.peak) > std::abs(w.accumulated))
      w = {terms_[i], r.peak_time, r.peak, r.energy, w.largest_energy, w.largest_ratio};
    w.largest_energy = std::max(w.largest_energy, r.energy);
    if (r.energy > 0.0) w.largest_ratio = std::max(w.largest_ratio, std::abs(r.peak) / r.energy);
  }
  return w;
}

}  // namespace tempi
