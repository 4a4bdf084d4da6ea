// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_dampers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/core/distinct.hpp"

namespace tempi {
namespace {

// 3^k (3 j + 1) one way, 3^k (3 j + 2) the other; which is which changes with k. So it is the same sequence or its
// reverse on the multiples of any m, and among the first n ticks one way leads by the number of digits 1 of n in base 3
// at even places less that at odd ones: next to nothing on the average.
bool backward_at(double now) {
  std::int64_t tick = std::llround(now);
  bool other = false;
  for (; tick != 0 && tick % 3 == 0; tick /= 3) other = !other;
  return (tick % 3 == 2) != other;
}

// As many as r asks for, but for a number so large that smaller steps would do better. Odd: turns both ways of what is
// stiffer still, where each cell turns its velocities around, would undo each other.
int turns_for(double rate) {
  constexpr double of_a_turn = 1.0, most = 63.0;
  return 2 * static_cast<int>(0.5 * std::clamp(std::ceil(rate / of_a_turn), 1.0, most)) + 1;
}

}  // namespace

LatticeDampers::LatticeDampers(const Model& model, const LatticeGroups& plan, const LatticeSupports& supports,
                               ThreadTeam& team, double tick)
    : model_(model),
      plan_(plan),
      supports_(supports),
      team_(team),
      tick_(tick),
      drag_(model, plan, supports, team),
      impacts_(model, plan) {
  if (!model.has_dampers()) return;
  const std::size_t lines = plan.node_of_line.size();
  if (supports.any()) {
    held_.resize(lines);
    for (std::size_t line = 0; line < lines; ++line)
      for (std::size_t c = 0; c < 3; ++c) held_[line][c] = supports.holds(line, c);
    withheld_.resize(lines);
  }
  DamperPacker packed(model, plan, held_);
  for (const LatticeGroup& group : plan.groups) {
    steps_.push_back(group.ticks * tick);
    std::vector<Part>& parts = parts_.emplace_back();
    std::vector<std::int32_t>& damped = lines_.emplace_back();
    for (const LatticePart& part : group.parts) {
      for (DamperPart& of : packed.parts(part)) parts.push_back({std::move(of), {}, {}, {}});
      for (const TermId term : part.terms)
        for (const HostedForce& h : model.forces_within(term))
          for (const NodeId a : h.force->stencil(h.element))
            if (h.force->is_damper()) damped.push_back(plan.line(a));
    }
    make_distinct(damped);
    any_parts_ = any_parts_ || !parts.empty() || impacts_.any();
  }
  if (any_parts_) half_kick_.resize(lines);
  acting_.reserve(plan.groups.size());
}

void LatticeDampers::announce(std::size_t group, double step) { acting_.emplace_back(group, step); }

std::vector<std::int32_t> LatticeDampers::lines_of(const ActingGroups& acting) const {
  std::vector<std::int32_t> all;
  for (const auto& [group, step] : acting) all.insert(all.end(), lines_[group].begin(), lines_[group].end());
  make_distinct(all);
  return all;
}

void LatticeDampers::act(double now, std::span<NodeLine> nodes, std::span<const Vector> before, bool keep,
                         Memory& memory, Ledger& ledger) {
  if (keep) felt_.resize(nodes.size());
  const auto felt = keep ? std::span(felt_) : std::span<Vector>();
  if (!any_parts_) {
    drag_.act(acting_, nodes, before, felt, {}, ledger);
    return;
  }
  if (turns_ == 0) turns_ = turns_for(largest_rate(now, nodes));
  const auto& touched = this->touched();
  const auto each_touched = [&](auto&& visit) {
    team_.for_each(std::ssize(touched), ThreadTeam::nodes_at_once, [&](Index i) {
      const auto line = static_cast<std::size_t>(touched[static_cast<std::size_t>(i)]);
      for (std::size_t c = 0; c < 3; ++c) visit(line, c);
    });
  };
  const auto take_half_back = [&](std::size_t line, std::size_t c) { nodes[line].velocity[c] -= half_kick_[line][c]; };
  each_touched([&](std::size_t line, std::size_t c) {
    const bool held = !held_.empty() && held_[line][c];
    half_kick_[line][c] = held ? 0.0 : 0.5 * (nodes[line].velocity[c] - before[line][c]);
    if (!impacts_.any()) take_half_back(line, c);
  });
  if (impacts_.any()) {
    memory_ = memory;
    for (const auto& [group, step] : acting_) impacts_.remember(group, lines_[group], nodes, half_kick_, memory_);
    std::swap(memory, memory_);
    each_touched(take_half_back);
  }
  const Ledger booked = ledger;
  try {
    if (!backward_at(now)) drag_.act(acting_, nodes, {}, felt, withheld_, ledger);
    resist(now, nodes, keep, memory, ledger);
    if (backward_at(now)) drag_.act(acting_, nodes, {}, felt, withheld_, ledger);
  } catch (...) {
    each_touched([&](std::size_t line, std::size_t c) {
      if (!held_.empty()) withheld_[line][c] = 0.0;
      if (held_.empty() || !held_[line][c]) nodes[line].velocity[c] = before[line][c] + 2.0 * half_kick_[line][c];
    });
    if (impacts_.any()) std::swap(memory, memory_);
    ledger = booked;
    throw;
  }
  each_touched([&](std::size_t line, std::size_t c) {
    nodes[line].velocity[c] += half_kick_[line][c];
    if (held_.empty()) return;
    nodes[line].velocity[c] += nodes[line].inverse_mass * withheld_[line][c];
    withheld_[line][c] = 0.0;
  });
}

// r of the header, of cells where they are at rest, by powers; a little too small.
double LatticeDampers::largest_rate(double now, std::span<const NodeLine> nodes) const {
  constexpr int powers = 12;
  constexpr double part = 1e-6;  // of a step: short enough for all at once
  AlignedVector<NodeLine> v(nodes.begin(), nodes.end()), w;
  std::vector<Vector> withheld(withheld_.size());
  std::uint32_t dice = 1;
  for (std::size_t line = 0; line < v.size(); ++line)
    for (std::size_t c = 0; c < static_cast<std::size_t>(model_.dim()); ++c) {
      dice = 1664525u * dice + 1013904223u;
      v[line].displacement[c] = 0.0;
      v[line].velocity[c] = !held_.empty() && held_[line][c] ? 0.0 : static_cast<double>(dice >> 8) - 0x1.0p23;
    }
  double rate = 0.0;
  for (int k = 0; k <= powers; ++k) {
    double square = 0.0;
    for (const NodeLine& node : v)
      for (const double x : node.velocity) square += node.inverse_mass > 0.0 ? x * x / node.inverse_mass : 0.0;
    rate = std::sqrt(square);
    if (rate == 0.0 || k == powers) break;
    for (NodeLine& node : v)
      for (double& x : node.velocity) x /= rate;
    w = v;
    for (std::size_t g = 0; g < parts_.size(); ++g)
      for (const Part& of : parts_[g]) sweep(of, {now * tick_, 0.0, part * steps_[g], false, held_, withheld}, w, {});
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c) v[i].velocity[c] = (v[i].velocity[c] - w[i].velocity[c]) / part;
  }
  return rate;
}

// Impacts have one turn, before or after those of the others.
void LatticeDampers::resist(double now, std::span<NodeLine> nodes, bool keep, const Memory& memory, Ledger& ledger) {
  const bool backward = backward_at(now);
  double work = 0.0;
  const auto each_group = [&](bool reverse, auto&& visit) {
    reverse ? std::for_each(acting_.rbegin(), acting_.rend(), visit)
            : std::for_each(acting_.begin(), acting_.end(), visit);
  };
  const auto impacts = [&](const std::pair<std::size_t, double>& of) {
    ledger += impacts_.resist(of.first, memory, {now * tick_, 0.5 * of.second, of.second, backward, held_, withheld_},
                              nodes, keep);
  };
  if (backward) each_group(true, impacts);
  for (int turn = 0; turn < turns_; ++turn) {
    const bool reverse = backward != (turn % 2 == 1);
    each_group(reverse, [&](const std::pair<std::size_t, double>& of) {
      const double step = of.second / turns_;
      const auto one = [&](Part& part) {
        std::vector<double>& impulses = turn == 0 ? part.kept : part.of_turn;
        if (keep) impulses.resize(part.packs.elements.size() * part.batch->row());
        work += sweep(part, {now * tick_, 0.5 * step, step, reverse, held_, withheld_}, nodes,
                      keep ? std::span(impulses) : std::span<double>());
        for (std::size_t i = 0; keep && turn > 0 && i < impulses.size(); ++i) part.kept[i] += impulses[i];
      };
      std::vector<Part>& parts = parts_[of.first];
      reverse ? std::for_each(parts.rbegin(), parts.rend(), one) : std::for_each(parts.begin(), parts.end(), one);
    });
  }
  if (!backward) each_group(false, impacts);
  ledger.work += work;
}

double LatticeDampers::sweep(const Part& part, const DampingBatch::Sweep& how, std::span<NodeLine> nodes,
                             std::span<double> kept) const {
  return part.resist(how, nodes, kept, team_, of_block_);
}

const std::vector<std::int32_t>& LatticeDampers::touched() {
  return touched_.of(acting_, [&](const ActingGroups& of) { return lines_of(of); });
}

void LatticeDampers::look_at_works(std::span<const NodeMean> means) {
  if (first_share_.empty()) find_shares();
  const auto& touched = this->touched();
  team_.for_each(std::ssize(touched), ThreadTeam::nodes_at_once, [&](Index i) {
    const auto line = static_cast<std::size_t>(touched[static_cast<std::size_t>(i)]);
    const double *w = felt_[line].data(), *v = means[line].velocity;
    drag_power_[line] = -(w[0] * v[0] + w[1] * v[1] + w[2] * v[2]);
  });
  for (const auto& [group, step] : acting_)
    for (Part& part : parts_[group])
      for (const auto& blocks : part.packs.colours)
        team_.for_each(std::ssize(blocks), [&](Index b) {
          const auto [first, last] = blocks[static_cast<std::size_t>(b)];
          part.batch->works(first, last, part.kept, means, part.works);
        });
}

// Of drags within a term, c step w . v; cells count whole.
void LatticeDampers::find_shares() {
  drag_power_.resize(plan_.node_of_line.size());
  std::vector<std::vector<const double*>> of_cells(static_cast<std::size_t>(model_.term_count()));
  for (auto& parts : parts_)
    for (Part& part : parts) {
      part.works.resize(part.packs.elements.size());
      for (std::size_t i = 0; i < part.works.size(); ++i)
        if (part.packs.elements[i] >= 0) of_cells[ordinal(part.packs.hosts[i])].push_back(&part.works[i]);
    }
  for (std::size_t g = 0; g < plan_.groups.size(); ++g)
    for (const LatticePart& part : plan_.groups[g].parts)
      for (const TermId term : part.terms) {
        if (!model_.is_damped(term)) continue;
        first_share_.push_back(shares_.size());
        for (const HostedForce& h : model_.forces_within(term))
          if (h.force->is_damper()) {
            const auto stencil = h.force->stencil(h.element);
            h.force->each_drag(h.element, [&](std::size_t node, double c) {
              shares_.push_back({steps_[g] * c, &drag_power_[static_cast<std::size_t>(plan_.line(stencil[node]))]});
            });
          }
        for (const double* work : of_cells[ordinal(term)]) shares_.push_back({1.0, work});
      }
  first_share_.push_back(shares_.size());
}

// Group by group, so that each has the sign of its duration.
std::vector<LatticeDampers::Vector> LatticeDampers::impulses(double t, std::span<NodeLine> nodes,
                                                             std::span<const double> duration_of_group,
                                                             Memory& memory) const {
  std::vector<Vector> q(nodes.size());
  const auto drags = drag_.resistance(duration_of_group);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      if (!supports_.any() || !supports_.holds(i, c))
        nodes[i].velocity[c] /= 1.0 + drags[i].sum * nodes[i].inverse_mass;
      q[i][c] = -drags[i].signed_sum * nodes[i].velocity[c];
    }
  std::vector<Vector> before(any_parts_ ? nodes.size() : 0);
  for (std::size_t g = 0; g < parts_.size(); ++g) {
    const double duration = std::abs(duration_of_group[g]);
    impacts_.remember(g, lines_[g], nodes, {}, memory);
    if ((parts_[g].empty() && !impacts_.any_in(g)) || duration == 0.0) continue;
    const auto each = [&](auto&& visit) {
      for (const std::int32_t line : lines_[g]) visit(static_cast<std::size_t>(line));
    };
    each([&](std::size_t i) { std::copy_n(nodes[i].velocity, 3, before[i].begin()); });
    const DampingBatch::Sweep how{t, duration, duration, false, held_, withheld_};
    for (const Part& part : parts_[g]) sweep(part, how, nodes, {});
    impacts_.resist(g, memory, how, nodes);
    each([&](std::size_t i) {
      for (std::size_t c = 0; c < 3; ++c) {
        double given = (nodes[i].velocity[c] - before[i][c]) / nodes[i].inverse_mass;
        if (!held_.empty()) given += std::exchange(withheld_[i][c], 0.0);
        q[i][c] += std::copysign(1.0, duration_of_group[g]) * given;
      }
    });
  }
  return q;
}

std::vector<LatticeDampers::Vector> LatticeDampers::forces(double t, std::span<NodeLine> nodes,
                                                           const Memory& memory) const {
  if (!forces_) forces_ = std::make_unique<DamperForces>(model_, plan_, team_);
  const auto others = (*forces_)(t, nodes);
  std::vector<Vector> force(others.begin(), others.end());
  for (NodeLine& node : nodes) node.inverse_mass = 0.0;  // velocities stay: each impact sees those given
  impacts_.add_forces(memory, nodes, force);
  return force;
}

}  // namespace tempi
