// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/energy.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "tempi/core/cross.hpp"

namespace tempi {
namespace {

using Vector = std::array<double, 3>;

Vector node_vector(const Model& model, std::span<const double> values, Index a) {
  const auto d = static_cast<std::size_t>(model.dim());
  const double* of_node = &values[static_cast<std::size_t>(a) * d];
  return {of_node[0], d > 1 ? of_node[1] : 0.0, d > 2 ? of_node[2] : 0.0};
}

Vector position(const Model& model, const State& state, Index a) {
  Vector x = node_vector(model, model.reference(), a);
  const Vector u = node_vector(model, state.displacement, a);
  for (std::size_t c = 0; c < 3; ++c) x[c] += u[c];
  return x;
}

double norm(const Vector& x) { return std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

Vector difference(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

}  // namespace

Energies energies(const Model& model, const Snapshot& snapshot) {
  Energies e{0.0, snapshot.potential_energy};
  for (Index a = 0; a < model.node_count(); ++a) {
    const Vector v = node_vector(model, snapshot.state.velocity, a);
    e.kinetic += 0.5 * model.mass(make_id<NodeId>(a)) * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  return e;
}

namespace {

// `nodes`: their numbers.
template <class Numbers>
Momenta momenta_of(const Model& model, const State& state, Numbers&& nodes) {
  Momenta result{{}, {}, 0.0, 0.0};
  Vector centre{};
  double total = 0.0;
  for (const Index a : nodes) {
    const double m = model.mass(make_id<NodeId>(a));
    const Vector x = position(model, state, a);
    total += m;
    for (std::size_t c = 0; c < 3; ++c) centre[c] += m * x[c];
  }
  for (double& c : centre) c /= total;
  for (const Index a : nodes) {
    const double m = model.mass(make_id<NodeId>(a));
    const Vector x = position(model, state, a), v = node_vector(model, state.velocity, a);
    const Vector moment = cross(x, v);
    for (std::size_t c = 0; c < 3; ++c) {
      result.linear[c] += m * v[c];
      result.angular[c] += m * moment[c];
    }
    const double speed = norm(v);
    result.linear_scale += m * speed;
    result.angular_scale += m * norm(difference(x, centre)) * speed;
  }
  return result;
}

}  // namespace

Momenta momenta(const Model& model, const State& state) {
  return momenta_of(model, state, std::views::iota(Index{0}, model.node_count()));
}

PartLedger ledger_of(const Model& model, const Snapshot& snapshot, std::span<const NodeId> nodes,
                     const TermEnergies& terms) {
  const State& state = snapshot.state;
  PartLedger result{momenta_of(model, state, nodes | std::views::transform(index<NodeId>)), 0.0, 0.0, 0.0};
  double mass = 0.0;
  for (const NodeId a : nodes) mass += model.mass(a);
  for (const NodeId a : nodes) {
    const Vector v = node_vector(model, state.velocity, index(a));
    for (std::size_t c = 0; c < 3; ++c) {
      const double relative = v[c] - result.momentum.linear[c] / mass;
      result.kinetic += 0.5 * model.mass(a) * v[c] * v[c];
      result.vibrational += 0.5 * model.mass(a) * relative * relative;
    }
  }
  result.potential = terms(state.displacement, snapshot.time);
  return result;
}

std::vector<std::array<double, 3>> reactions(const Model& model, const Snapshot& snapshot, double delta) {
  const Supports& supports = model.supports();
  std::vector<Vector> result(static_cast<std::size_t>(supports.size()), Vector{});
  for (const NodeId a : supports.held_nodes())
    for (int c = 0; c < model.dim(); ++c) {
      const std::int32_t s = supports.support_of(a, c);
      if (s == Supports::none) continue;
      const double inertia = model.mass(a) * supports.acceleration(a, c, snapshot.time, delta);
      const double force = snapshot.force[static_cast<std::size_t>(index(a) * model.dim() + c)];
      result[static_cast<std::size_t>(s)][static_cast<std::size_t>(c)] += inertia - force;
    }
  return result;
}

std::vector<double> accelerations(const Model& model, const Snapshot& snapshot, double delta) {
  const auto d = static_cast<std::size_t>(model.dim());
  std::vector<double> a(snapshot.force.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto node = make_id<NodeId>(static_cast<Index>(i / d));
    const auto c = static_cast<int>(i % d);
    a[i] = model.supports().support_of(node, c) == Supports::none
               ? snapshot.force[i] / model.mass(node)
               : model.supports().acceleration(node, c, snapshot.time, delta);
  }
  return a;
}

Sample sample(const Model& model, const Snapshot& snapshot) {
  Sample s{snapshot.time, energies(model, snapshot), momenta(model, snapshot.state), 0.0, {}, {}};
  const auto add = [&](const Ledger& ledger, double& work) {
    work += ledger.work.value();
    for (std::size_t c = 0; c < 3; ++c) {
      s.booked_impulse[c] += ledger.impulse[c].value();
      s.booked_moment[c] += ledger.moment[c].value();
    }
  };
  add(snapshot.state.loads, s.external_work);
  add(snapshot.state.constraints, s.external_work);
  for (const Ledger& ledger : snapshot.state.supports) add(ledger, s.external_work);
  add(snapshot.state.damping, s.damping_work);
  return s;
}

namespace {

double balance_of(const Sample& s) { return s.energy.kinetic + s.energy.potential - s.external_work - s.damping_work; }

}  // namespace

Balance::Gain Balance::gained(const Sample& s) const {
  const double gain = std::max(balance_of(s) - balance_.front(), 0.0);
  return {gain, std::max(s.energy.kinetic, std::abs(s.energy.potential - now_.potential_first)) - gain};
}

double Balance::gain(const Sample& next, double resolution) const {
  if (balance_.empty()) return 0.0;
  const Gain g = gained(next);
  return g.absolute > resolution ? g.absolute / std::max(now_.true_reference, g.reference) : 0.0;
}

void Balance::add(const Sample& s) {
  const double total = s.energy.kinetic + s.energy.potential;
  if (time_.empty()) {
    now_.linear_start = s.momentum.linear;
    now_.angular_start = s.momentum.angular;
    now_.total_first = now_.total_min = now_.total_max = total;
    now_.potential_first = s.energy.potential;
  }
  time_.push_back(s.time);
  balance_.push_back(balance_of(s));
  now_.total_last = total;
  now_.total_min = std::min(now_.total_min, total);
  now_.total_max = std::max(now_.total_max, total);
  const double change = std::abs(s.energy.potential - now_.potential_first);
  now_.true_reference = std::max(now_.true_reference, gained(s).reference);
  now_.kinetic_max = std::max(now_.kinetic_max, s.energy.kinetic);
  now_.potential_change = std::max(now_.potential_change, change);
  now_.linear_end = s.momentum.linear;
  now_.angular_end = s.momentum.angular;
  const Vector linear = difference(difference(s.momentum.linear, now_.linear_start), s.booked_impulse);
  const Vector angular = difference(difference(s.momentum.angular, now_.angular_start), s.booked_moment);
  now_.linear_error = std::max(now_.linear_error, norm(linear));
  now_.angular_error = std::max(now_.angular_error, norm(angular));
  now_.linear_scale = std::max(now_.linear_scale, s.momentum.linear_scale);
  now_.angular_scale = std::max(now_.angular_scale, s.momentum.angular_scale);
}

Balance::Energy Balance::energy() const {
  Energy e{now_.total_first, now_.total_last, now_.total_min, now_.total_max, 0.0, 0.0, reference()};
  if (time_.size() < 2 || e.reference == 0.0) return e;
  const auto n = static_cast<double>(time_.size());
  double mean_t = 0.0, mean_e = 0.0, tt = 0.0, te = 0.0;
  for (std::size_t i = 0; i < time_.size(); ++i) {
    mean_t += time_[i] / n;
    mean_e += balance_[i] / n;
  }
  for (std::size_t i = 0; i < time_.size(); ++i) {
    tt += (time_[i] - mean_t) * (time_[i] - mean_t);
    te += (time_[i] - mean_t) * (balance_[i] - mean_e);
  }
  const auto [low, high] = std::ranges::minmax(balance_);
  e.drift = te / tt * (time_.back() - time_.front()) / e.reference;
  e.band = (high - low) / e.reference;
  return e;
}

double Balance::last_change() const {
  return reference() > 0.0 ? (balance_.back() - balance_.front()) / reference() : 0.0;
}

void Balance::save(ArchiveWriter& archive) const {
  archive.put("time", time_);
  archive.put("balance", balance_);
  archive.put("now", now_);
}

void Balance::load(ArchiveReader& archive) {
  archive.get_all("time", time_);
  balance_.resize(time_.size());
  archive.get("balance", balance_);
  archive.get("now", now_);
}

Balance::Momentum Balance::linear_momentum() const {
  return {now_.linear_start, now_.linear_end, now_.linear_scale > 0.0 ? now_.linear_error / now_.linear_scale : 0.0};
}

Balance::Momentum Balance::angular_momentum() const {
  return {now_.angular_start, now_.angular_end,
          now_.angular_scale > 0.0 ? now_.angular_error / now_.angular_scale : 0.0};
}

}  // namespace tempi
