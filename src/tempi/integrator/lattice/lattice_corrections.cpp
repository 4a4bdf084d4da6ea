// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_corrections.hpp"

#include <algorithm>
#include <numeric>

namespace tempi {

LatticeCorrections::LatticeCorrections(const LatticeGroups& plan, const LatticeSupports& supports, ThreadTeam& team,
                                       std::span<const std::int32_t> lines)
    : supports_(supports),
      team_(team),
      lines_(lines.begin(), lines.end()),
      first_kick_(lines.size() + 1, 0),
      velocity_(lines.size()),
      corrections_(lines.size()) {
  std::vector<std::int32_t> place(plan.node_of_line.size(), -1);
  for (std::size_t i = 0; i < lines_.size(); ++i)
    place[static_cast<std::size_t>(lines_[i])] = static_cast<std::int32_t>(i);
  for (const LatticeGroup& group : plan.groups) {
    std::vector<Place>& of = of_group_.emplace_back();
    for (const std::int32_t line : group.lines)
      if (const std::int32_t node = place[static_cast<std::size_t>(line)]; node >= 0) {
        of.push_back({node, 0});
        ++first_kick_[static_cast<std::size_t>(node) + 1];
      }
  }
  std::partial_sum(first_kick_.begin(), first_kick_.end(), first_kick_.begin());
  kicks_.resize(static_cast<std::size_t>(first_kick_.back()));
  std::vector<std::int32_t> next(first_kick_.begin(), first_kick_.end() - 1);
  for (std::size_t g = 0; g < of_group_.size(); ++g)
    for (Place& p : of_group_[g]) {
      p.kick = next[static_cast<std::size_t>(p.correction)]++;
      kicks_[static_cast<std::size_t>(p.kick)].per_step = 1.0 / plan.groups[g].ticks;
    }
}

template <class Visit>
void LatticeCorrections::each(std::size_t group, Visit&& visit) {
  const std::vector<Place>& of = of_group_[group];
  team_.for_each(std::ssize(of), ThreadTeam::nodes_at_once, [&](Index i) {
    const Place& p = of[static_cast<std::size_t>(i)];
    const auto node = static_cast<std::size_t>(p.correction);
    visit(node, static_cast<std::size_t>(lines_[node]), kicks_[static_cast<std::size_t>(p.kick)]);
  });
}

void LatticeCorrections::begin(std::span<const std::size_t> groups) {
  for (const std::size_t g : groups) each(g, [](std::size_t, std::size_t, Kick& kick) { kick.change = {}; });
}

void LatticeCorrections::before(std::size_t group, std::span<const NodeLine> nodes) {
  each(group, [&](std::size_t node, std::size_t line, Kick&) {
    std::copy_n(nodes[line].velocity, 3, velocity_[node].begin());
  });
}

// Components that are held do not feel it.
void LatticeCorrections::after(std::size_t group, std::span<const NodeLine> nodes) {
  each(group, [&](std::size_t node, std::size_t line, Kick& kick) {
    for (std::size_t c = 0; c < 3; ++c)
      if (!supports_.any() || !supports_.holds(line, c)) kick.change[c] += nodes[line].velocity[c] - velocity_[node][c];
  });
}

void LatticeCorrections::end(std::span<const std::size_t> groups, double now, double part) {
  for (const std::size_t g : groups)
    each(g, [&](std::size_t, std::size_t, Kick& kick) {
      kick.at = now;
      for (double& c : kick.change) c /= part;
    });
  for (const std::size_t g : groups)
    each(g, [&](std::size_t node, std::size_t, Kick&) { correct(static_cast<std::int32_t>(node), now); });
}

void LatticeCorrections::correct(std::int32_t node, double now) {
  VelocityCorrection correction;
  correction.since = now;
  for (auto k = static_cast<std::size_t>(first_kick_[static_cast<std::size_t>(node)]);
       k < static_cast<std::size_t>(first_kick_[static_cast<std::size_t>(node) + 1]); ++k) {
    const Kick& kick = kicks_[k];
    const double part = (now - kick.at) * kick.per_step - 0.5;
    for (std::size_t c = 0; c < 3; ++c) {
      correction.change[c] += part * kick.change[c];
      correction.per_tick[c] += kick.per_step * kick.change[c];
    }
  }
  corrections_[static_cast<std::size_t>(node)] = correction;
}

void LatticeCorrections::keep() {
  kept_kicks_ = kicks_;
  kept_corrections_ = corrections_;
}

void LatticeCorrections::go_back() {
  kicks_ = kept_kicks_;
  corrections_ = kept_corrections_;
}

void LatticeCorrections::save(ArchiveWriter& archive) const {
  archive.put("kicks", kicks_);
  archive.put("corrections", corrections_);
}

void LatticeCorrections::load(ArchiveReader& archive) {
  archive.get("kicks", kicks_);
  archive.get("corrections", corrections_);
}

void LatticeCorrections::forget() {
  for (Kick& kick : kicks_) kick = {{}, 0.0, kick.per_step};
  std::ranges::fill(corrections_, VelocityCorrection{});
}

}  // namespace tempi
