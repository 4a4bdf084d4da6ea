// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_drag.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tempi {

LatticeDrag::LatticeDrag(const Model& model, const LatticeGroups& plan, const LatticeSupports& supports,
                         ThreadTeam& team)
    : plan_(plan), supports_(supports), team_(team) {
  if (!model.has_dampers()) return;
  const auto d = static_cast<std::size_t>(model.dim());
  const std::size_t lines = plan.node_of_line.size();
  C_.assign(lines, 0.0);
  X_.resize(lines);
  for (std::size_t line = 0; line < lines; ++line)
    std::copy_n(&model.reference()[ordinal(plan.node_of_line[line]) * d], d, X_[line].begin());
  for (const LatticeGroup& group : plan.groups) {
    for (const LatticePart& part : group.parts)
      for (const TermId term : part.terms)
        for (const HostedForce& h : model.forces_within(term)) {
          if (!h.force->is_damper()) continue;
          const auto stencil = h.force->stencil(h.element);
          h.force->each_drag(h.element, [&](std::size_t a, double c) {
            C_[static_cast<std::size_t>(plan.line(stencil[a]))] += c;
          });
        }
    std::vector<Entry> entries;
    for (const std::int32_t line : group.lines) {
      double& c = C_[static_cast<std::size_t>(line)];
      if (c > 0.0) entries.push_back({line, c});
      c = 0.0;
    }
    of_group_.push_back(std::move(entries));
  }
}

std::vector<LatticeDrag::Entry> LatticeDrag::sum_of(const ActingGroups& acting) const {
  std::vector<Entry> sums;
  for (const auto& [group, step] : acting)
    for (const Entry& entry : of_group_[group]) {
      double& C = C_[static_cast<std::size_t>(entry.line)];
      if (C == 0.0) sums.push_back({entry.line, 0.0});
      C += step * entry.c;
    }
  for (Entry& sum : sums) sum.c = std::exchange(C_[static_cast<std::size_t>(sum.line)], 0.0);
  return sums;
}

void LatticeDrag::act(const ActingGroups& acting, std::span<NodeLine> nodes, std::span<const Vector> before,
                      std::span<Vector> felt, std::span<Vector> withheld, Ledger& ledger) {
  constexpr std::size_t at_once = 1024;
  const std::vector<Entry>& entries = of_instant_.of(acting, [&](const ActingGroups& of) { return sum_of(of); });
  const auto blocks = static_cast<Index>((entries.size() + at_once - 1) / at_once);
  of_block_.assign(static_cast<std::size_t>(blocks), {});
  team_.for_each(blocks, [&](Index b) {
    Given& sums = of_block_[static_cast<std::size_t>(b)];
    const std::size_t first = static_cast<std::size_t>(b) * at_once;
    for (std::size_t i = first; i < std::min(first + at_once, entries.size()); ++i) {
      const auto line = static_cast<std::size_t>(entries[i].line);
      NodeLine& node = nodes[line];
      const double C = entries[i].c, ratio = C * node.inverse_mass;
      Vector q, x;
      double work = 0.0;
      for (std::size_t c = 0; c < 3; ++c) {
        const bool held = supports_.any() && supports_.holds(line, c);
        const double middle = before.empty() ? node.velocity[c] : 0.5 * (before[line][c] + node.velocity[c]);
        const double w = held ? node.velocity[c] : middle / (1.0 + 0.5 * ratio);
        if (!felt.empty()) felt[line][c] = w;
        q[c] = -C * w;
        x[c] = X_[line][c] + node.displacement[c];
        if (held && !withheld.empty())
          withheld[line][c] += q[c];
        else
          node.velocity[c] -= ratio * w;
        work += q[c] * w;
      }
      sums.add(x, q, work);
    }
  });
  for (const Given& given : of_block_) ledger += given;
}

std::vector<LatticeDrag::Resistance> LatticeDrag::resistance(std::span<const double> duration_of_group) const {
  std::vector<Resistance> result(C_.size());
  for (std::size_t g = 0; g < of_group_.size(); ++g)
    for (const Entry& entry : of_group_[g]) {
      Resistance& r = result[static_cast<std::size_t>(entry.line)];
      r.signed_sum += duration_of_group[g] * entry.c;
      r.sum += std::abs(duration_of_group[g]) * entry.c;
      r.coefficient += entry.c;
    }
  return result;
}

}  // namespace tempi
