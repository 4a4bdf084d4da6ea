// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/dampers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tempi/core/error.hpp"

namespace tempi {

Dampers::Dampers(const Model& model, const KickDrift& kick_drift) : model_(model), kick_drift_(kick_drift) {
  if (!model.has_dampers()) return;
  const auto n = static_cast<std::size_t>(model.node_count() * model.dim());
  acting_.reserve(static_cast<std::size_t>(model.term_count()));
  nodes_.reserve(static_cast<std::size_t>(model.node_count()));
  enlisted_.assign(static_cast<std::size_t>(model.node_count()), 0);
  for (auto* values : {&before_, &mean_, &impulse_, &residual_, &direction_, &image_}) values->assign(n, 0.0);
  of_term_.assign(static_cast<std::size_t>(model.force_slot_count()), 0.0);
  local_.assign(model.largest_stencil() * static_cast<std::size_t>(model.dim()), 0.0);
}

void Dampers::begin() {
  for (const NodeId a : nodes_) enlisted_[ordinal(a)] = 0;
  nodes_.clear();
  acting_.clear();
}

void Dampers::announce(const State& state, TermId term, double dt) {
  if (!model_.is_damped(term)) return;
  acting_.push_back({term, dt});
  const auto d = static_cast<std::size_t>(model_.dim());
  for (const NodeId a : model_.term(term).stencil()) {
    const auto node = ordinal(a);
    if (enlisted_[node] != 0) continue;
    enlisted_[node] = 1;
    nodes_.push_back(a);
    std::copy_n(&state.velocity[node * d], d, &before_[node * d]);
  }
}

void Dampers::withdraw(TermId term) {
  std::erase_if(acting_, [&](const Acting& acting) { return acting.term == term; });
}

template <class Visit>
void Dampers::each_component(Visit&& visit) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  for (const NodeId a : nodes_)
    for (std::size_t c = 0; c < d; ++c) visit(ordinal(a) * d + c);
}

bool Dampers::is_held(std::size_t i) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  const NodeId a = make_id<NodeId>(static_cast<Index>(i / d));
  return model_.supports().holds(a) && model_.supports().support_of(a, static_cast<int>(i % d)) != Supports::none;
}

void Dampers::act(State& state, double t) {
  if (idle()) return;
  each_component(
      [&](std::size_t i) { mean_[i] = is_held(i) ? state.velocity[i] : 0.5 * (before_[i] + state.velocity[i]); });
  memory_ = state.memory;
  if (!memory_.empty()) remember(state, mean_);
  find_mean(state, t, 0.5);
  kick(state, t);
  std::swap(state.memory, memory_);
}

// And leaves out who does nothing: of spheres most do not touch.
void Dampers::remember(const State& state, std::span<const double> v) {
  const auto is_idle = [&](const Acting& acting) {
    if (kick_drift_.remember(state, acting.term, v, memory_)) return false;
    std::ranges::fill(of(acting.term), 0.0);
    return true;
  };
  std::erase_if(acting_, is_idle);
}

std::span<double> Dampers::of(TermId term) {
  const std::size_t size = model_.term(term).stencil().size() * static_cast<std::size_t>(model_.dim());
  return std::span(of_term_).subspan(static_cast<std::size_t>(model_.force_slot(term)), size);
}

void Dampers::report(State& state, double t, std::span<const double> ahead) {
  if (idle()) return;
  const auto d = static_cast<std::size_t>(model_.dim());
  each_component(
      [&](std::size_t i) { mean_[i] = is_held(i) ? state.velocity[i] : before_[i] + ahead[i] / model_.mass()[i / d]; });
  memory_ = state.memory;
  if (!memory_.empty()) remember(state, {});
  find_mean(state, t, 1.0);
  kick(state, t);
  std::swap(state.memory, memory_);
}

// sum += part * sum_K |dt_K| C_K v, where nothing is held.
void Dampers::add_resistance(const State& state, double t, double part, const std::vector<double>& v,
                             std::vector<double>& sum) {
  const auto d = static_cast<std::size_t>(model_.dim());
  for (const auto& [term, dt] : acting_) {
    const auto nodes = model_.term(term).stencil();
    const auto q = std::span(local_).first(nodes.size() * d);
    kick_drift_.damping_impulses(term, state.displacement, v, memory_, t, -part * std::abs(dt), q);
    for (std::size_t i = 0; i < q.size(); ++i) sum[ordinal(nodes[i / d]) * d + i % d] += q[i];
  }
  if (!model_.supports().held_nodes().empty())
    each_component([&](std::size_t i) {
      if (is_held(i)) sum[i] = 0.0;
    });
}

// (M + part * sum_K |dt_K| C_K) w = M mean_, on entry and exit in mean_; what is held keeps its velocity.
void Dampers::find_mean(const State& state, double t, double part) {
  constexpr double rounding = 1e-15;
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto mass = [&](std::size_t i) { return model_.mass()[i / d]; };
  double size = 0.0, rest = 0.0;  // of w and of what is left, in the norm of kinetic energy
  each_component([&](std::size_t i) {
    size += mass(i) * mean_[i] * mean_[i];
    residual_[i] = 0.0;
  });
  add_resistance(state, t, part, mean_, residual_);
  each_component([&](std::size_t i) {
    residual_[i] = -residual_[i];
    direction_[i] = residual_[i] / mass(i);
    rest += residual_[i] * direction_[i];
  });
  const std::size_t most = 1000 + 10 * nodes_.size() * d;
  for (std::size_t turn = 0; rest > rounding * rounding * size; ++turn) {
    if (turn == most)
      throw SolveError(
          fmt::format("the dampers' equations are not solved at t = {:.9g} s: dampers are too stiff for the step, or "
                      "unlike each other by too much. Try smaller steps or less damping.",
                      t));
    each_component([&](std::size_t i) { image_[i] = mass(i) * direction_[i]; });
    add_resistance(state, t, part, direction_, image_);
    double along = 0.0, left = 0.0;
    each_component([&](std::size_t i) { along += direction_[i] * image_[i]; });
    const double length = rest / along;
    each_component([&](std::size_t i) {
      mean_[i] += length * direction_[i];
      residual_[i] -= length * image_[i];
      left += residual_[i] * residual_[i] / mass(i);
    });
    each_component([&](std::size_t i) { direction_[i] = residual_[i] / mass(i) + left / rest * direction_[i]; });
    rest = left;
  }
}

void Dampers::kick(State& state, double t) {
  const auto d = static_cast<std::size_t>(model_.dim());
  each_component([&](std::size_t i) { impulse_[i] = 0.0; });
  for (const auto& [term, dt] : acting_) {
    const auto nodes = model_.term(term).stencil();
    const auto q = of(term);
    kick_drift_.damping_impulses(term, state.displacement, mean_, memory_, t, dt, q);
    for (std::size_t i = 0; i < q.size(); ++i) impulse_[ordinal(nodes[i / d]) * d + i % d] += q[i];
  }
  const std::array<double, 3> none{};
  double work = 0.0;
  for (const NodeId a : nodes_) {
    const std::size_t first = ordinal(a) * d;
    const auto q = std::span<const double>(impulse_).subspan(first, d);
    kick_drift_.kick(state, a, q, std::span(none).first(d));
    kick_drift_.book(state.damping, state, a, q);
    for (std::size_t c = 0; c < d; ++c) {
      const double after = state.velocity[first + c];
      work += q[c] * (is_held(first + c) ? after : 0.5 * (before_[first + c] + after));
    }
  }
  state.damping.work += work;
}

std::span<const double> Dampers::impulses(TermId term) const {
  if (!model_.is_damped(term)) return {};
  const std::size_t size = model_.term(term).stencil().size() * static_cast<std::size_t>(model_.dim());
  return std::span(of_term_).subspan(static_cast<std::size_t>(model_.force_slot(term)), size);
}

}  // namespace tempi
