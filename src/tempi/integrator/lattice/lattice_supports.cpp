// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_supports.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <utility>

#include "tempi/core/cross.hpp"

namespace tempi {
namespace {

using Vector = std::array<double, 3>;

Vector place(const Vector& X, const NodeLine& node) {
  return {X[0] + node.displacement[0], X[1] + node.displacement[1], X[2] + node.displacement[2]};
}

}  // namespace

LatticeSupports::LatticeSupports(const Model& model, const LatticeGroups& plan, ThreadTeam& team, double tick,
                                 double delta)
    : supports_(model.supports()),
      team_(team),
      dim_(static_cast<std::size_t>(model.dim())),
      tick_(tick),
      delta_(delta),
      held_of_line_(plan.node_of_line.size(), -1),
      of_group_(plan.groups.size()),
      sums_(static_cast<std::size_t>(supports_.size())) {
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
    }
  for (const auto& held : of_group_) moving_of_group_.push_back(moving(held));
}

LatticeSupports::Moving LatticeSupports::moving(std::span<const std::int32_t> all) const {
  Moving moving;
  std::vector<Supports::Component> components;
  std::vector<std::int32_t> held_of_component;
  for (const std::int32_t h : all) {
    const Held& held = held_[static_cast<std::size_t>(h)];
    if (std::ranges::any_of(held.moves, std::identity{})) moving.nodes.push_back({h});
    for (std::size_t c = 0; c < dim_; ++c) {
      components.push_back({held.node, static_cast<int>(c)});
      held_of_component.push_back(h);
    }
  }
  for (SupportPath& of : supports_.paths(components)) moving.paths.push_back({std::move(of), {}, {}});
  for (Path& path : moving.paths) {
    const auto component = static_cast<std::size_t>(path.of.component);
    path.velocity.resize(path.of.displacement.size());
    auto mover = moving.nodes.begin();
    for (std::size_t i = 0; i < path.of.places.size(); ++i) {
      const std::int32_t h = path.held.emplace_back(held_of_component[path.of.places[i]]);
      while (mover->held != h) ++mover;
      mover->displacement[component] = &path.of.displacement[i];
      mover->velocity[component] = &path.velocity[std::min(i, path.velocity.size() - 1)];
    }
  }
  return moving;
}

void LatticeSupports::start(std::span<NodeLine> nodes) {
  for (Held& held : held_)
    for (std::size_t c = 0; c < dim_; ++c) {
      if (held.support[c] == Supports::none) continue;
      NodeLine& node = nodes[held.line];
      node.velocity[c] = 0.0;
      if (!held.moves[c]) continue;
      const int component = static_cast<int>(c);
      node.displacement[c] = *supports_.displacement(held.node, component, 0.0);
      node.velocity[c] = supports_.velocity(held.node, component, 0.0, delta_);
    }
}

void LatticeSupports::read(std::span<const NodeLine> nodes) {
  for (Held& held : held_) std::copy_n(nodes[held.line].velocity, 3, held.velocity.begin());
}

// Where a path's nodes are at time t, and how fast.
void LatticeSupports::look_at(Path& path, double t) {
  std::atomic<bool> finite = true;
  team_.for_each(path.of.displacement.blocks(), [&](Index block) {
    path.of.displacement.evaluate(block, t);
    const std::span<double> velocity = path.of.displacement.of_block(path.velocity, block);
    path.of.displacement.rates(block, t, delta_, velocity);
    if (!std::ranges::all_of(velocity, [](double v) { return std::isfinite(v); }))
      finite.store(false, std::memory_order_relaxed);
  });
  if (finite) return;
  for (const std::int32_t h : path.held)  // says which
    supports_.velocity(held_[static_cast<std::size_t>(h)].node, path.of.component, t, delta_);
}

void LatticeSupports::follow(std::size_t group, double now, std::span<NodeLine> nodes, std::vector<Ledger>& ledgers) {
  Moving& moving = moving_of_group_[group];
  if (moving.nodes.empty()) return;
  for (Path& path : moving.paths) look_at(path, now * tick_);
  for (const Mover& mover : moving.nodes) move(mover, now, nodes);
  book(ledgers);
}

void LatticeSupports::move(const Mover& to, double now, std::span<NodeLine> nodes) {
  Held& held = held_[static_cast<std::size_t>(to.held)];
  NodeLine& node = nodes[held.line];
  if (node.clock == now) return;
  const double elapsed = (now - node.clock) * tick_;
  const Vector x_old = place(held.X, node);
  Vector v_old{}, v_new{};
  std::int32_t mover = Supports::none;
  for (std::size_t c = 0; c < dim_; ++c) {
    v_old[c] = node.velocity[c];
    if (!held.moves[c]) {
      node.displacement[c] += node.velocity[c] * elapsed;
    } else {
      node.displacement[c] = *to.displacement[c];
      node.velocity[c] = held.velocity[c] = *to.velocity[c];
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
