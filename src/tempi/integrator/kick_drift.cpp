// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/kick_drift.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tempi/core/cross.hpp"
#include "tempi/core/error.hpp"
#include "tempi/integrator/dampers.hpp"

namespace tempi {
namespace {

using Vector = std::array<double, 3>;

void book(Ledger& ledger, const Vector& x, const Vector& p, double work) {
  const Vector moment = cross(x, p);
  for (std::size_t i = 0; i < 3; ++i) {
    ledger.impulse[i] += p[i];
    ledger.moment[i] += moment[i];
  }
  ledger.work += work;
}

}  // namespace

KickDrift::KickDrift(const Model& model, double delta, ConstraintsKept kept, SumsStruck sums, LayersStruck layers)
    : model_(model), delta_(delta), sums_(sums) {
  if (kept == ConstraintsKept::none) require_unconstrained(model);
  if (layers == LayersStruck::none) require_no_layers(model);
  for (const double m : model.mass()) inverse_mass_.push_back(1.0 / m);
}

std::array<double, 3> KickDrift::position(const State& state, NodeId a) const {
  Vector x{};
  const auto d = static_cast<std::size_t>(model_.dim());
  for (std::size_t c = 0; c < d; ++c) {
    const std::size_t i = ordinal(a) * d + c;
    x[c] = model_.reference()[i] + state.displacement[i];
  }
  return x;
}

void KickDrift::follow_support(State& state, NodeId a, double t) const {
  const Supports& supports = model_.supports();
  const auto u = at(state.displacement, a), v = at(state.velocity, a);
  const double elapsed = t - state.clock[ordinal(a)];
  const Vector x_old = position(state, a);
  Vector v_old{}, v_new{};
  std::int32_t mover = Supports::none;
  for (std::size_t c = 0; c < u.size(); ++c) {
    const int component = static_cast<int>(c);
    v_old[c] = v[c];
    if (supports.support_of(a, component) == Supports::none) {
      u[c] += v[c] * elapsed;
    } else if (const auto prescribed = supports.displacement(a, component, t)) {
      u[c] = *prescribed;
      v[c] = supports.velocity(a, component, t, delta_);
      if (mover == Supports::none) mover = supports.support_of(a, component);
    }
    v_new[c] = v[c];
  }
  if (mover == Supports::none) return;
  // What moving the node's own mass took. The moment goes to the first moving support of the node.
  const double m = model_.mass(a);
  const Vector before = cross(x_old, v_old), after = cross(position(state, a), v_new);
  for (std::size_t c = 0; c < u.size(); ++c) {
    const std::int32_t s = supports.support_of(a, static_cast<int>(c));
    if (s == Supports::none) continue;
    Ledger& ledger = state.supports[static_cast<std::size_t>(s)];
    ledger.impulse[c] += m * (v_new[c] - v_old[c]);
    ledger.work += 0.5 * m * (v_new[c] * v_new[c] - v_old[c] * v_old[c]);
  }
  Ledger& ledger = state.supports[static_cast<std::size_t>(mover)];
  for (std::size_t i = 0; i < 3; ++i) ledger.moment[i] += m * (after[i] - before[i]);
}

double KickDrift::impulses(TermId term, std::span<const double> u, std::span<const double> v, double t, double dt,
                           std::span<double> p, std::span<double> q) const {
  std::ranges::fill(p, 0.0);
  const auto [potential, k] = model_.term(term);
  const double admissibility = potential->add_gradient(k, u, t, p);
  for (double& value : p) value *= -dt;
  if (!model_.has_forces()) return admissibility;
  load_impulses(term, u, v, t, dt, q);
  if (!model_.forces_within(term).empty())
    for (std::size_t i = 0; i < p.size(); ++i) p[i] += q[i];
  return admissibility;
}

void KickDrift::load_impulses(TermId term, std::span<const double> u, std::span<const double> v, double t, double dt,
                              std::span<double> q) const {
  force_impulses(Kind::load, term, u, v, {}, t, dt, q);
}

void KickDrift::damping_impulses(TermId term, std::span<const double> u, std::span<const double> v,
                                 const Memory& memory, double t, double dt, std::span<double> q) const {
  force_impulses(Kind::damper, term, u, v, memory, t, dt, q);
}

bool KickDrift::remember(const State& state, TermId term, std::span<const double> v, Memory& memory) const {
  bool any = false;
  for (const HostedForce& h : model_.forces_within(term)) {
    if (!h.force->is_damper()) continue;
    if (h.memory < 0) {
      any = true;
      continue;
    }
    std::vector<Touch>& of_force = memory[static_cast<std::size_t>(h.memory)];
    h.force->remember(h.element, state.displacement, v, of_force);
    any = any || !h.force->touching(h.element, of_force).empty();
  }
  return any;
}

void KickDrift::force_impulses(Kind kind, TermId term, std::span<const double> u, std::span<const double> v,
                               const Memory& memory, double t, double dt, std::span<double> q) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  std::ranges::fill(q, 0.0);
  for (const HostedForce& h : model_.forces_within(term)) {
    if (h.force->is_damper() != (kind == Kind::damper)) continue;
    if (h.memory >= 0) {
      add_resistance(h, v, memory[static_cast<std::size_t>(h.memory)], dt, q);
      continue;
    }
    std::array<double, 30> part{};
    h.force->add_impulse(h.element, u, v, t, dt, std::span(part).first(h.local.size() * d));
    for (std::size_t a = 0; a < h.local.size(); ++a)
      for (std::size_t c = 0; c < d; ++c) q[static_cast<std::size_t>(h.local[a]) * d + c] += part[a * d + c];
  }
}

void KickDrift::add_resistance(const HostedForce& h, std::span<const double> v, std::span<const Touch> memory,
                               double dt, std::span<double> q) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto stencil = h.force->stencil(h.element);
  for (const Touch& touch : h.force->touching(h.element, memory)) {
    double approach = 0.0;
    touch.each_place([&](std::size_t a, double side) {
      for (std::size_t c = 0; c < d; ++c) approach += side * touch.along[c] * v[ordinal(stencil[a]) * d + c];
    });
    touch.each_place([&](std::size_t a, double side) {
      const std::size_t in_host = h.local.empty() ? a : static_cast<std::size_t>(h.local[a]);
      for (std::size_t c = 0; c < d; ++c) q[in_host * d + c] -= dt * approach * side * touch.along[c];
    });
  }
}

void KickDrift::kick_and_book(State& state, NodeId a, std::span<const double> p, std::span<const double> q) const {
  const Supports& supports = model_.supports();
  const bool held = supports.holds(a);
  const auto v = at(state.velocity, a);
  const double inverse_mass = inverse_mass_[ordinal(a)];
  for (std::size_t c = 0; c < v.size(); ++c) {
    const std::int32_t s = held ? supports.support_of(a, static_cast<int>(c)) : Supports::none;
    if (s == Supports::none) {
      v[c] += p[c] * inverse_mass;
    } else {
      Vector reaction{};
      reaction[c] = -p[c];
      tempi::book(state.supports[static_cast<std::size_t>(s)], position(state, a), reaction, -p[c] * v[c]);
    }
  }
  book(state.loads, state, a, q);
}

void KickDrift::book(Ledger& ledger, const State& state, NodeId a, std::span<const double> q) const {
  if (std::ranges::all_of(q, [](double value) { return value == 0.0; })) return;
  Vector impulse{};
  std::ranges::copy(q, impulse.begin());
  tempi::book(ledger, position(state, a), impulse, 0.0);
}

void KickDrift::book_load_work(State& state, TermId term, std::span<const double> q, double dt) const {
  const Index slot = model_.force_slot(term);
  if (slot < 0) return;
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto nodes = model_.term(term).stencil();
  double work = 0.0;
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (std::size_t c = 0; c < d; ++c) {
      const std::size_t i = static_cast<std::size_t>(slot) + a * d + c;
      const double u = state.displacement[ordinal(nodes[a]) * d + c];
      const double force = q[a * d + c] / dt;
      work += 0.5 * (state.load_force[i] + force) * (u - state.load_displacement[i]);
      state.load_force[i] = force;
      state.load_displacement[i] = u;
    }
  state.loads.work += work;
}

std::vector<double> KickDrift::kick_all(State& state, double t, const std::function<double(TermId)>& duration,
                                        Purpose purpose, bool* admissible) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  std::vector<double> force(state.velocity.size(), 0.0), total(force), loads(force), ahead(force);
  Dampers dampers(model_, *this);
  std::vector<double> p(model_.largest_stencil() * d), q(p);
  SumImpulses of_terms;
  const auto look_at = [&](TermId term, double admissibility) {
    if (purpose == Purpose::run) require_admissible(term, state.displacement, admissibility, t);
    if (admissible != nullptr && !(admissibility > 0.0 && std::isfinite(admissibility))) *admissible = false;
  };
  for (Index i = 0; i < model_.term_count(); ++i) {
    const auto term = make_id<TermId>(i);
    const double dt = duration(term);
    const auto add = [&](std::span<const NodeId> nodes, std::span<const double> local) {
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t c = 0; c < d; ++c) {
          const std::size_t global = ordinal(nodes[a]) * d + c;
          force[global] += local[a * d + c];
          total[global] += dt * local[a * d + c];
          ahead[global] += std::abs(dt) * local[a * d + c];
        }
    };
    if (const ManyBodySum* sum = struck_by_terms(term)) {
      look_at(term, of_terms.evaluate(*sum, state.displacement, t, 1.0));
      of_terms.each(add);
      continue;
    }
    const auto nodes = model_.term(term).stencil();
    const auto local_p = std::span(p).first(nodes.size() * d), local_q = std::span(q).first(nodes.size() * d);
    look_at(term, impulses(term, state.displacement, state.velocity, t, 1.0, local_p, local_q));
    book_load_work(state, term, local_q, 1.0);
    dampers.announce(state, term, dt);
    add(nodes, local_p);
    for (std::size_t i_local = 0; i_local < local_q.size(); ++i_local)
      loads[ordinal(nodes[i_local / d]) * d + i_local % d] += dt * local_q[i_local];
  }
  for (Index a = 0; a < model_.node_count(); ++a) {
    const auto at_node = static_cast<std::size_t>(a) * d;
    kick(state, make_id<NodeId>(a), std::span(total).subspan(at_node, d), std::span(loads).subspan(at_node, d));
  }
  if (purpose == Purpose::run)
    dampers.act(state, t);
  else
    dampers.report(state, t, ahead);
  return force;
}

Snapshot KickDrift::synchronized(const State& state, double t, bool started,
                                 const std::function<double(TermId)>& duration) const {
  Snapshot snapshot{t, state, {}, 0.0};
  if (!started) start(snapshot.state);
  for (Index a = 0; a < model_.node_count(); ++a) drift(snapshot.state, make_id<NodeId>(a), t);
  const auto taken = [&](TermId term) { return started ? duration(term) : 0.0; };
  snapshot.force = kick_all(snapshot.state, t, taken, Purpose::report, &snapshot.admissible);
  if (model_.has_dampers()) add_damping_forces(snapshot);
  snapshot.potential_energy = model_.potential_energy(snapshot.state.displacement, t);
  return snapshot;
}

// What dampers give at the velocities of the snapshot.
void KickDrift::add_damping_forces(Snapshot& snapshot) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  const State& state = snapshot.state;
  std::vector<double> room(model_.largest_stencil() * d);
  for (Index k = 0; k < model_.term_count(); ++k) {
    const auto term = make_id<TermId>(k);
    if (!model_.is_damped(term)) continue;
    const auto nodes = model_.term(term).stencil();
    const auto q = std::span(room).first(nodes.size() * d);
    damping_impulses(term, state.displacement, state.velocity, state.memory, snapshot.time, 1.0, q);
    for (std::size_t i = 0; i < q.size(); ++i) snapshot.force[ordinal(nodes[i / d]) * d + i % d] += q[i];
  }
}

void KickDrift::start(State& state) const {
  const Supports& supports = model_.supports();
  for (const NodeId a : supports.held_nodes()) {
    const auto u = at(state.displacement, a), v = at(state.velocity, a);
    for (std::size_t c = 0; c < u.size(); ++c) {
      const int component = static_cast<int>(c);
      if (supports.support_of(a, component) == Supports::none) continue;
      if (const auto prescribed = supports.displacement(a, component, 0.0)) u[c] = *prescribed;
      v[c] = supports.velocity(a, component, 0.0, delta_);
    }
  }
  const auto d = static_cast<std::size_t>(model_.dim());
  for (Index i = 0; i < model_.term_count() && model_.has_forces(); ++i) {
    const Index slot = model_.force_slot(make_id<TermId>(i));
    if (slot < 0) continue;
    const auto nodes = model_.term(make_id<TermId>(i)).stencil();
    for (std::size_t a = 0; a < nodes.size(); ++a)
      std::copy_n(&state.displacement[ordinal(nodes[a]) * d], d,
                  &state.load_displacement[static_cast<std::size_t>(slot) + a * d]);
  }
}

void KickDrift::require_admissible(TermId term, std::span<const double> u, double admissibility, double t) const {
  if (admissibility > 0.0 && std::isfinite(admissibility)) return;
  const auto [potential, k] = model_.term(term);
  throw StepError(potential->fault(k, u, t, admissibility), t);
}

void KickDrift::require_stable(TermId term, const State& state, double step, double t) const {
  if (model_.step_is_stable(term, state.displacement, step)) return;
  const auto [potential, k] = model_.term(term);
  std::vector<double> room(potential->stencil(k).size());
  const double limit = potential->stable_step(k, state.displacement, model_.masses_held_against(term, room));
  throw StepError(
      fmt::format(
          "the step {:.6g} s of {} has become unsafe at t = {:.9g} s: deformation has brought its stable step down to "
          "{:.6g} s. Choose a smaller safety, courant or step.",
          step, potential->describe(k), t, limit),
      t);
}

}  // namespace tempi
