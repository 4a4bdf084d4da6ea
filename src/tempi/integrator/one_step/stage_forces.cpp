// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/stage_forces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tempi/core/error.hpp"

namespace tempi {

bool Admissibility::holds() const { return value > 0.0 && std::isfinite(value); }

StageForces::StageForces(const Model& model, double step, ConstraintsKept kept)
    : model_(model),
      step_(step),
      delta_(0.1 * step),
      kick_drift_(model, delta_, kept),
      mass_(model.node_count() * model.dim()) {
  if (!(step > 0.0) || !std::isfinite(step)) throw InputError(fmt::format("step = {} s (must be > 0).", step));
  for (Index i = 0; i < mass_.size(); ++i) {
    mass_(i) = model.mass(node(i));
    if (model.supports().support_of(node(i), component(i)) != Supports::none) held_.push_back(i);
  }
}

Admissibility StageForces::evaluate(Stage& stage, double t) const {
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
        const auto global = static_cast<Index>(ordinal(nodes[a]) * d + c);
        stage.force(global) += local_p[a * d + c];
        if (model_.has_forces()) stage.load(global) += local_q[a * d + c];
      }
    add_damping(term, stage, t);
  }
  return worst;
}

void StageForces::add_damping(TermId term, Stage& stage, double t) const {
  if (!model_.is_damped(term)) return;
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto nodes = model_.term(term).stencil();
  std::vector<double> q(nodes.size() * d);
  kick_drift_.damping_impulses(term, span_of(stage.u), span_of(stage.v), t, 1.0, q);
  for (std::size_t i = 0; i < q.size(); ++i) {
    const auto global = static_cast<Index>(ordinal(nodes[i / d]) * d + i % d);
    stage.force(global) += q[i];
    stage.damping(global) += q[i];
  }
}

void StageForces::require(const Admissibility& admissibility) {
  if (!admissibility.holds()) throw SolveError(admissibility.fault);
}

void StageForces::prescribe(double t, Vector& u, Vector& v) const {
  for (const Index i : held_) {
    if (const auto value = model_.supports().displacement(node(i), component(i), t)) u(i) = *value;
    v(i) = model_.supports().velocity(node(i), component(i), t, delta_);
  }
}

double StageForces::held_acceleration(Index i, double t) const {
  return model_.supports().acceleration(node(i), component(i), t, delta_);
}

void StageForces::book_forces(State& state, const Stage& stage, double dt) const {
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

void StageForces::book_reaction(State& state, Index i, const Vector& u, double impulse, double work) const {
  std::array<double, 3> p{};
  p[static_cast<std::size_t>(component(i))] = impulse;
  const std::int32_t s = model_.supports().support_of(node(i), component(i));
  state.supports[static_cast<std::size_t>(s)].add(position(node(i), u), p, work);
}

std::array<double, 3> StageForces::position(NodeId a, const Vector& u) const {
  std::array<double, 3> x{};
  for (Index c = 0; c < model_.dim(); ++c) {
    const Index i = index(a) * model_.dim() + c;
    x[static_cast<std::size_t>(c)] = model_.reference()[static_cast<std::size_t>(i)] + u(i);
  }
  return x;
}

}  // namespace tempi
