// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_impacts.hpp"

#include <algorithm>
#include <utility>

namespace tempi {

LatticeImpacts::LatticeImpacts(const Model& model, const LatticeGroups& plan) : model_(model), plan_(plan) {
  of_group_.resize(plan.groups.size());
  touching_.resize(plan.groups.size());
  if (model.memory_count() == 0) return;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    std::vector<Element>& elements = of_group_[g];
    for (const LatticePart& part : plan.groups[g].parts)
      for (const TermId term : part.terms)
        for (const HostedForce& h : model.forces_within(term))
          if (h.memory >= 0) elements.push_back({h.force, h.element, h.memory, term});
    const auto place = [](const Element& of) { return std::pair(of.memory, of.element); };
    std::ranges::sort(elements, {}, place);  // as forces keep them: many are looked at, few touch
    for (std::size_t e = 0; e < elements.size(); ++e) by_term_.push_back({elements[e].host, g, e});
  }
  std::ranges::stable_sort(by_term_, {}, &Slot::term);
  u_.assign(model.reference().size(), 0.0);
  v_ = u_;
}

std::array<std::int32_t, 2> LatticeImpacts::lines_of(const Element& of, const Touch& touch) const {
  const auto stencil = of.force->stencil(of.element);
  const auto line = [&](std::int32_t place) {
    return place < 0 ? -1 : plan_.line(stencil[static_cast<std::size_t>(place)]);
  };
  return {line(touch.place[0]), line(touch.place[1])};
}

void LatticeImpacts::remember(std::size_t group, std::span<const std::int32_t> lines, std::span<const NodeLine> nodes,
                              std::span<const Vector> ahead, Memory& memory) const {
  if (of_group_[group].empty()) return;
  const auto d = static_cast<std::size_t>(model_.dim());
  for (const std::int32_t l : lines) {
    const auto line = static_cast<std::size_t>(l);
    const std::size_t first = ordinal(plan_.node_of_line[line]) * d;
    for (std::size_t c = 0; c < d; ++c) {
      u_[first + c] = nodes[line].displacement[c];
      if (!ahead.empty()) v_[first + c] = nodes[line].velocity[c] - ahead[line][c];
    }
  }
  const auto v = ahead.empty() ? std::span<const double>() : std::span<const double>(v_);
  touching_[group].clear();
  for (std::size_t e = 0; e < of_group_[group].size(); ++e) {
    const Element& of = of_group_[group][e];
    std::vector<Touch>& of_force = memory[static_cast<std::size_t>(of.memory)];
    of.force->remember(of.element, u_, v, of_force);
    if (!of.force->touching(of.element, of_force).empty()) touching_[group].push_back(e);
  }
}

template <class Visit>
Given LatticeImpacts::resist_each(std::size_t group, const Memory& memory, const DampingBatch::Sweep& sweep,
                                  std::span<NodeLine> nodes, Visit&& visit) const {
  const std::vector<Element>& elements = of_group_[group];
  const auto d = static_cast<std::size_t>(model_.dim());
  Given given;
  const auto one = [&](std::size_t e, const Touch& touch) {
    const auto lines = lines_of(elements[e], touch);
    double approach = 0.0, pliancy = 0.0, side = 1.0;
    const auto each = [&](auto&& at) {
      side = 1.0;
      for (const std::int32_t line : lines) {
        for (std::size_t c = 0; line >= 0 && c < 3; ++c)
          at(static_cast<std::size_t>(line), c, !sweep.held.empty() && sweep.held[static_cast<std::size_t>(line)][c]);
        side = -1.0;
      }
    };
    each([&](std::size_t line, std::size_t c, bool held) {
      approach += side * touch.along[c] * nodes[line].velocity[c];
      if (!held) pliancy += touch.along[c] * touch.along[c] * nodes[line].inverse_mass;
    });
    const double felt = approach / (1.0 + sweep.relax * pliancy), impulse = -sweep.step * felt;
    each([&](std::size_t line, std::size_t c, bool held) {
      const double p = side * touch.along[c] * impulse;
      if (held)
        sweep.withheld[line][c] += p;
      else
        nodes[line].velocity[c] += nodes[line].inverse_mass * p;
    });
    const Kept kept{lines, {touch.along[0] * impulse, touch.along[1] * impulse, touch.along[2] * impulse}};
    given.work += impulse * felt;
    if (lines[1] < 0) {
      const auto line = static_cast<std::size_t>(lines[0]);
      Vector x{};
      for (std::size_t c = 0; c < d; ++c)
        x[c] = model_.reference()[ordinal(plan_.node_of_line[line]) * d + c] + nodes[line].displacement[c];
      given.add(x, kept.impulse, 0.0);
    }
    visit(e, kept);
  };
  const std::size_t count = touching_[group].size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t e = touching_[group][sweep.backward ? count - 1 - i : i];
    const auto touching =
        elements[e].force->touching(elements[e].element, memory[static_cast<std::size_t>(elements[e].memory)]);
    for (std::size_t k = 0; k < touching.size(); ++k) one(e, touching[sweep.backward ? touching.size() - 1 - k : k]);
  }
  return given;
}

Given LatticeImpacts::resist(std::size_t group, const Memory& memory, const DampingBatch::Sweep& sweep,
                             std::span<NodeLine> nodes, bool keep) {
  if (!keep) return std::as_const(*this).resist(group, memory, sweep, nodes);
  kept_.resize(of_group_.size());
  kept_[group].resize(of_group_[group].size());
  for (auto& of_element : kept_[group]) of_element.clear();
  return resist_each(group, memory, sweep, nodes,
                     [&](std::size_t e, const Kept& kept) { kept_[group][e].push_back(kept); });
}

Given LatticeImpacts::resist(std::size_t group, const Memory& memory, const DampingBatch::Sweep& sweep,
                             std::span<NodeLine> nodes) const {
  return resist_each(group, memory, sweep, nodes, [](std::size_t, const Kept&) {});
}

void LatticeImpacts::add_work(TermId term, std::span<const NodeMean> means, double& work) const {
  for (auto at = std::ranges::lower_bound(by_term_, term, {}, &Slot::term); at != by_term_.end() && at->term == term;
       ++at)
    for (const auto& [lines, impulse] : kept_[at->group][at->element])
      for (std::size_t side = 0; side < 2 && lines[side] >= 0; ++side)
        for (std::size_t c = 0; c < 3; ++c)
          work += (side == 0 ? 1.0 : -1.0) * impulse[c] * means[static_cast<std::size_t>(lines[side])].velocity[c];
}

void LatticeImpacts::add_forces(const Memory& memory, std::span<NodeLine> nodes, std::span<Vector> force) const {
  const DampingBatch::Sweep alone{0.0, 0.0, 1.0, false, {}, {}};
  for (std::size_t g = 0; g < of_group_.size(); ++g)
    resist_each(g, memory, alone, nodes, [&](std::size_t, const Kept& kept) {
      for (std::size_t side = 0; side < 2 && kept.line[side] >= 0; ++side)
        for (std::size_t c = 0; c < 3; ++c)
          force[static_cast<std::size_t>(kept.line[side])][c] += (side == 0 ? 1.0 : -1.0) * kept.impulse[c];
    });
}

}  // namespace tempi
