// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_supports.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "tempi/core/cross.hpp"

namespace tempi {
namespace {

using Vector = std::array<double, 3>;

Vector place(const Vector& X, const NodeLine& node) {
  return {X[0] + node.displacement[0], X[1] + node.displacement[1], X[2] + node.displacement[2]};
}

}  // namespace

LatticeSupports::LatticeSupports(const Model& model, const LatticeGroups& plan, double tick, double delta)
    : supports_(model.supports()),
      dim_(static_cast<std::size_t>(model.dim())),
      tick_(tick),
      delta_(delta),
      held_of_line_(plan.node_of_line.size(), -1),
      of_group_(plan.groups.size()),
      moving_of_group_(plan.groups.size()) {
  const double never = std::numeric_limits<double>::quiet_NaN();
  last_.assign(static_cast<std::size_t>(supports_.size()),
               {Value{never, 0.0, 0.0}, Value{never, 0.0, 0.0}, Value{never, 0.0, 0.0}});
  sums_.resize(last_.size());
  for (std::size_t line = 0; line < plan.node_of_line.size(); ++line) {
    const NodeId a = plan.node_of_line[line];
    if (!supports_.holds(a)) continue;
    held_of_line_[line] = static_cast<std::int32_t>(held_.size());
    Held held{a, line, model.mass(a)};
    for (std::size_t c = 0; c < dim_; ++c) {
      held.X[c] = model.reference()[ordinal(a) * dim_ + c];
      held.support[c] = supports_.support_of(a, static_cast<int>(c));
      held.moves[c] = supports_.is_prescribed(a, static_cast<int>(c));
    }
    held_.push_back(held);
  }
  std::vector<std::vector<std::int32_t>> met(held_.size());  // ticks of the groups that each is settled with
  for (std::size_t g = 0; g < plan.groups.size(); ++g)
    for (const std::int32_t line : plan.groups[g].lines) {
      const std::int32_t h = held_of_line_[static_cast<std::size_t>(line)];
      if (h < 0) continue;
      auto& faster = met[static_cast<std::size_t>(h)];
      const auto acts_too = [&](std::int32_t m) { return plan.groups[g].ticks % m == 0; };
      if (std::ranges::any_of(faster, acts_too)) continue;
      faster.push_back(plan.groups[g].ticks);
      of_group_[g].push_back(h);
      if (std::ranges::any_of(held_[static_cast<std::size_t>(h)].moves, std::identity{}))
        moving_of_group_[g].push_back(h);
    }
}

// Formulas of time alone are looked at once an instant.
LatticeSupports::Value LatticeSupports::motion(const Held& held, std::size_t c, double t) {
  const auto look = [&] {
    const int component = static_cast<int>(c);
    return Value{t, *supports_.displacement(held.node, component, t),
                 supports_.velocity(held.node, component, t, delta_)};
  };
  const auto s = static_cast<std::size_t>(held.support[c]);
  if (supports_[held.support[c]].displacement[c]->depends_on_position()) return look();
  Value& last = last_[s][c];
  if (last.time != t) last = look();
  return last;
}

void LatticeSupports::start(std::span<NodeLine> nodes) {
  for (Held& held : held_)
    for (std::size_t c = 0; c < dim_; ++c) {
      if (held.support[c] == Supports::none) continue;
      NodeLine& node = nodes[held.line];
      node.velocity[c] = 0.0;
      if (!held.moves[c]) continue;
      const Value value = motion(held, c, 0.0);
      node.displacement[c] = value.displacement;
      node.velocity[c] = value.velocity;
    }
}

void LatticeSupports::read(std::span<const NodeLine> nodes) {
  for (Held& held : held_) std::copy_n(nodes[held.line].velocity, 3, held.velocity.begin());
}

void LatticeSupports::follow(std::size_t group, double now, std::span<NodeLine> nodes, std::vector<Ledger>& ledgers) {
  if (moving_of_group_[group].empty()) return;
  try {
    for (const std::int32_t h : moving_of_group_[group]) move(held_[static_cast<std::size_t>(h)], now, nodes);
  } catch (...) {  // a formula without a value: those that have moved are booked
    book(ledgers);
    throw;
  }
  book(ledgers);
}

void LatticeSupports::move(Held& held, double now, std::span<NodeLine> nodes) {
  NodeLine& node = nodes[held.line];
  if (node.clock == now) return;
  std::array<Value, 3> to{};
  for (std::size_t c = 0; c < dim_; ++c)
    if (held.moves[c]) to[c] = motion(held, c, now * tick_);
  const double elapsed = (now - node.clock) * tick_;
  const Vector x_old = place(held.X, node);
  Vector v_old{}, v_new{};
  std::int32_t mover = Supports::none;
  for (std::size_t c = 0; c < dim_; ++c) {
    v_old[c] = node.velocity[c];
    if (!held.moves[c]) {
      node.displacement[c] += node.velocity[c] * elapsed;
    } else {
      node.displacement[c] = to[c].displacement;
      node.velocity[c] = held.velocity[c] = to[c].velocity;
      if (mover == Supports::none) mover = held.support[c];
    }
    v_new[c] = node.velocity[c];
  }
  node.clock = now;
  // What moving the node's own mass took. The moment goes to the first moving support of the node.
  const Vector before = cross(x_old, v_old), after = cross(place(held.X, node), v_new);
  for (std::size_t c = 0; c < dim_; ++c) {
    if (held.support[c] == Supports::none) continue;
    Given& sums = sums_[static_cast<std::size_t>(held.support[c])];
    sums.impulse[c] += held.mass * (v_new[c] - v_old[c]);
    sums.work += 0.5 * held.mass * (v_new[c] * v_new[c] - v_old[c] * v_old[c]);
  }
  Given& sums = sums_[static_cast<std::size_t>(mover)];
  for (std::size_t i = 0; i < 3; ++i) sums.moment[i] += held.mass * (after[i] - before[i]);
}

// The kernels kick held nodes as if they were free.
void LatticeSupports::settle(std::size_t group, std::span<NodeLine> nodes, std::vector<Ledger>& ledgers) {
  if (of_group_[group].empty()) return;
  for (const std::int32_t h : of_group_[group]) settle(held_[static_cast<std::size_t>(h)], nodes);
  book(ledgers);
}

void LatticeSupports::settle_line(std::size_t line, std::span<NodeLine> nodes, std::vector<Ledger>& ledgers) {
  if (held_of_line_[line] < 0) return;
  settle(held_[static_cast<std::size_t>(held_of_line_[line])], nodes);
  book(ledgers);
}

// What one support gives all components that it holds is summed at once: sums wait for each other.
void LatticeSupports::settle(const Held& held, std::span<NodeLine> nodes) {
  NodeLine& node = nodes[held.line];
  const Vector x = place(held.X, node);
  for (std::size_t c = 0; c < dim_;) {
    const std::int32_t support = held.support[c];
    Vector reaction{};
    double work = 0.0;
    for (; c < dim_ && held.support[c] == support; ++c) {
      if (support == Supports::none) continue;
      reaction[c] = held.mass * (held.velocity[c] - node.velocity[c]);
      work += reaction[c] * held.velocity[c];
      node.velocity[c] = held.velocity[c];
    }
    if (support != Supports::none) sums_[static_cast<std::size_t>(support)].add(x, reaction, work);
  }
}

void LatticeSupports::add_moment(std::size_t line, const Vector& moment) {
  const Held& held = held_[static_cast<std::size_t>(held_of_line_[line])];
  const auto support = *std::ranges::find_if(held.support, [](std::int32_t s) { return s != Supports::none; });
  for (std::size_t i = 0; i < 3; ++i) sums_[static_cast<std::size_t>(support)].moment[i] += moment[i];
}

void LatticeSupports::book(std::vector<Ledger>& ledgers) {
  for (std::size_t s = 0; s < sums_.size(); ++s) ledgers[s] += std::exchange(sums_[s], {});
}

}  // namespace tempi
