// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/energy.hpp"

#include <algorithm>
#include <cmath>

#include "tempi/core/cross.hpp"

namespace tempi {
namespace {

using Vector = std::array<double, 3>;

Vector node_vector(const Model& model, std::span<const double> values, Index a) {
  Vector r{};
  for (std::size_t c = 0; c < static_cast<std::size_t>(model.dim()); ++c)
    r[c] = values[static_cast<std::size_t>(a * model.dim()) + c];
  return r;
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

Momenta momenta(const Model& model, const State& state) {
  Momenta result{{}, {}, 0.0, 0.0};
  Vector centre{};
  double total = 0.0;
  std::vector<Vector> places(static_cast<std::size_t>(model.node_count()));
  for (Index a = 0; a < model.node_count(); ++a) {
    const double m = model.mass(make_id<NodeId>(a));
    const Vector& x = places[static_cast<std::size_t>(a)] = position(model, state, a);
    total += m;
    for (std::size_t c = 0; c < 3; ++c) centre[c] += m * x[c];
  }
  for (double& c : centre) c /= total;
  for (Index a = 0; a < model.node_count(); ++a) {
    const double m = model.mass(make_id<NodeId>(a));
    const Vector &x = places[static_cast<std::size_t>(a)], v = node_vector(model, state.velocity, a);
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

void Balance::add(const Sample& s) {
  const double total = s.energy.kinetic + s.energy.potential;
  if (time_.empty()) {
    linear_start_ = s.momentum.linear;
    angular_start_ = s.momentum.angular;
    total_first_ = total_min_ = total_max_ = total;
    potential_first_ = s.energy.potential;
  }
  time_.push_back(s.time);
  balance_.push_back(total - s.external_work - s.damping_work);
  total_last_ = total;
  total_min_ = std::min(total_min_, total);
  total_max_ = std::max(total_max_, total);
  kinetic_max_ = std::max(kinetic_max_, s.energy.kinetic);
  potential_change_ = std::max(potential_change_, std::abs(s.energy.potential - potential_first_));
  linear_end_ = s.momentum.linear;
  angular_end_ = s.momentum.angular;
  const Vector linear = difference(difference(s.momentum.linear, linear_start_), s.booked_impulse);
  const Vector angular = difference(difference(s.momentum.angular, angular_start_), s.booked_moment);
  linear_error_ = std::max(linear_error_, norm(linear));
  angular_error_ = std::max(angular_error_, norm(angular));
  linear_scale_ = std::max(linear_scale_, s.momentum.linear_scale);
  angular_scale_ = std::max(angular_scale_, s.momentum.angular_scale);
}

Balance::Energy Balance::energy() const {
  Energy e{total_first_, total_last_, total_min_, total_max_, 0.0, 0.0, reference()};
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

Balance::Momentum Balance::linear_momentum() const {
  return {linear_start_, linear_end_, linear_scale_ > 0.0 ? linear_error_ / linear_scale_ : 0.0};
}

Balance::Momentum Balance::angular_momentum() const {
  return {angular_start_, angular_end_, angular_scale_ > 0.0 ? angular_error_ / angular_scale_ : 0.0};
}

}  // namespace tempi
