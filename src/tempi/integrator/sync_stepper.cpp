// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/sync_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tempi/core/error.hpp"

namespace tempi {

bool SyncStepper::Admissibility::holds() const { return value > 0.0 && std::isfinite(value); }

SyncStepper::SyncStepper(const Model& model, double step, std::vector<double> parameters, ConstraintsKept kept)
    : model_(model),
      step_(step),
      parameters_(std::move(parameters)),
      delta_(0.1 * step),
      kick_drift_(model, delta_, kept),
      mass_(model.node_count() * model.dim()) {
  if (!(step > 0.0) || !std::isfinite(step)) throw InputError(fmt::format("step = {} s (must be > 0).", step));
  parameters_.insert(parameters_.begin(), step);
  for (Index i = 0; i < mass_.size(); ++i) {
    mass_(i) = model.mass(node(i));
    if (model.supports().support_of(node(i), component(i)) != Supports::none) held_.push_back(i);
  }
}

void SyncStepper::advance(State& state, double t_end, Observer*) {
  if (!started_) {
    start(state);
    started_ = true;
  }
  const Index before = evaluations_;
  for (double t = step_before(state, time_, t_end); t > time_; t = step_before(state, time_, t_end)) {
    std::ranges::fill(state.clock, t);
    ++steps_done_;
    time_ = t;
  }
  evaluations_in_run_ += evaluations_ - before;
}

double SyncStepper::step_before(State& state, double t0, double t_end) {
  const double t1 = static_cast<double>(steps_done_ + 1) * step_;
  if (!(t1 < t_end)) return t0;
  make_step(state, t0, t1 - t0);
  return t1;
}

Snapshot SyncStepper::synchronized(const State& state, double t) const {
  Snapshot snapshot{t, state, {}, 0.0};
  if (!started_) start(snapshot.state);
  if (t > time_) make_step(snapshot.state, time_, t - time_);
  std::ranges::fill(snapshot.state.clock, t);
  Stage stage{map_of(snapshot.state.displacement), map_of(snapshot.state.velocity), {}, {}};
  evaluate(stage, t);
  add_constraint_forces(stage, t);
  snapshot.force.assign(stage.force.begin(), stage.force.end());
  snapshot.potential_energy = model_.potential_energy(snapshot.state.displacement, t);
  return snapshot;
}

SyncStepper::Admissibility SyncStepper::evaluate(Stage& stage, double t) const {
  ++evaluations_;
  const auto d = static_cast<std::size_t>(model_.dim());
  stage.force = Vector::Zero(mass_.size());
  stage.load = stage.damping = Vector::Zero(mass_.size());
  Admissibility worst;
  std::vector<double> p(model_.largest_stencil() * d), q(p.size());
  for (Index k = 0; k < model_.term_count(); ++k) {
    const auto term = make_id<TermId>(k);
    const auto nodes = model_.term(term).stencil();
    const auto local_p = std::span(p).first(nodes.size() * d), local_q = std::span(q).first(nodes.size() * d);
    const double J = kick_drift_.impulses(term, span_of(stage.u), span_of(stage.v), t, 1.0, local_p, local_q);
    if (worst.holds()) worst = {term, J};
    if (!worst.holds() && worst.fault.empty()) {
      const auto [potential, i] = model_.term(term);
      worst.fault = potential->fault(i, span_of(stage.u), t, J);
    }
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t c = 0; c < d; ++c) {
        const auto global = static_cast<Index>(static_cast<std::size_t>(index(nodes[a])) * d + c);
        stage.force(global) += local_p[a * d + c];
        if (model_.has_forces()) stage.load(global) += local_q[a * d + c];
      }
    add_damping(term, stage, t);
  }
  return worst;
}

void SyncStepper::add_damping(TermId term, Stage& stage, double t) const {
  if (!model_.is_damped(term)) return;
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto nodes = model_.term(term).stencil();
  std::vector<double> q(nodes.size() * d);
  kick_drift_.damping_impulses(term, span_of(stage.u), span_of(stage.v), t, 1.0, q);
  for (std::size_t i = 0; i < q.size(); ++i) {
    const auto global = static_cast<Index>(static_cast<std::size_t>(index(nodes[i / d])) * d + i % d);
    stage.force(global) += q[i];
    stage.damping(global) += q[i];
  }
}

void SyncStepper::require(const Admissibility& admissibility) const {
  if (!admissibility.holds()) throw SolveError(admissibility.fault);
}

void SyncStepper::prescribe(double t, Vector& u, Vector& v) const {
  for (const Index i : held_) {
    if (const auto value = model_.supports().displacement(node(i), component(i), t)) u(i) = *value;
    v(i) = model_.supports().velocity(node(i), component(i), t, delta_);
  }
}

double SyncStepper::held_acceleration(Index i, double t) const {
  return model_.supports().acceleration(node(i), component(i), t, delta_);
}

void SyncStepper::book_forces(State& state, const Stage& stage, double dt) const {
  if (!model_.has_forces()) return;
  const auto d = static_cast<std::size_t>(model_.dim());
  map_of(state.displacement) = stage.u;  // where they act
  for (const auto& [ledger, force] :
       {std::pair(&state.loads, &stage.load), std::pair(&state.damping, &stage.damping)}) {
    const Vector q = dt * *force;
    for (Index a = 0; a < model_.node_count(); ++a)
      kick_drift_.book(*ledger, state, make_id<NodeId>(a), span_of(q).subspan(static_cast<std::size_t>(a) * d, d));
    ledger->work += q.dot(stage.v);
  }
}

void SyncStepper::book_reaction(State& state, Index i, const Vector& u, double impulse, double work) const {
  std::array<double, 3> p{};
  p[static_cast<std::size_t>(component(i))] = impulse;
  const std::int32_t s = model_.supports().support_of(node(i), component(i));
  state.supports[static_cast<std::size_t>(s)].add(position(node(i), u), p, work);
}

std::array<double, 3> SyncStepper::position(NodeId a, const Vector& u) const {
  std::array<double, 3> x{};
  for (Index c = 0; c < model_.dim(); ++c) {
    const Index i = index(a) * model_.dim() + c;
    x[static_cast<std::size_t>(c)] = model_.reference()[static_cast<std::size_t>(i)] + u(i);
  }
  return x;
}

void SyncStepper::save(ArchiveWriter& archive) const {
  archive.put("model", model_.fingerprint());
  archive.put(name(), parameters_);
  archive.put("started", started_);
  archive.put("steps_done", steps_done_);
  archive.put("time", time_);
}

void SyncStepper::load(ArchiveReader& archive) {
  std::uint64_t model = 0;
  std::vector<double> parameters(parameters_.size());
  bool started = false;
  Index steps_done = 0;
  double time = 0.0;
  archive.get("model", model);
  if (model != model_.fingerprint())
    throw InputError("the checkpoint was written by another model. Use the same case.");
  archive.get(name(), parameters);
  if (parameters != parameters_)
    throw InputError(
        fmt::format("the checkpoint was written with another time step or other parameters of {}. Use the same case.",
                    name()));
  archive.get("started", started);
  archive.get("steps_done", steps_done);
  archive.get("time", time);
  started_ = started;
  steps_done_ = steps_done;
  time_ = time;
}

}  // namespace tempi
