// SPDX-License-Identifier: Apache-2.0
// Velocities in step with places, for those who look at nodes between the instants of a lattice engine. A group's kick
// stands for its force from half a step before it to half a step after it, so a time s after kicks k of steps h
//
//   velocity in step = velocity + sum over the node's groups (s / h - 1/2) k
//
// which is what KickDrift::synchronized does, to first order in h, with the force of then instead of that of now.
// Elements' and loads' kicks count; what a mollified coupling adds, dampers and contact do not.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tempi/core/archive.hpp"
#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/lattice/lattice_supports.hpp"

namespace tempi {

class LatticeCorrections {
 public:
  // Of the nodes on these lines. All must outlive it.
  LatticeCorrections(const LatticeGroups& plan, const LatticeSupports& supports, ThreadTeam& team,
                     std::span<const std::int32_t> lines);

  // In the order of the lines given.
  std::span<const VelocityCorrection> all() const { return corrections_; }

  // An instant of these groups begins; a group is about to kick, and has kicked; the instant's kicks are over, which
  // were of this part of a step.
  void begin(std::span<const std::size_t> groups);
  void before(std::size_t group, std::span<const NodeLine> nodes);
  void after(std::size_t group, std::span<const NodeLine> nodes);
  void end(std::span<const std::size_t> groups, double now, double part);

  // What a window begins with; and begins again with.
  void keep();
  void go_back();
  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);
  void forget();  // the run

 private:
  using Vector = std::array<double, 3>;
  struct Kick {
    Vector change{};  // [m/s]
    double at = 0.0;  // [ticks]
    double per_step;  // 1 / its group's step [1/tick]
  };
  struct Place {
    std::int32_t correction, kick;
  };
  template <class Visit>
  void each(std::size_t group, Visit&& visit);
  void correct(std::int32_t node, double now);

  const LatticeSupports& supports_;
  ThreadTeam& team_;
  std::vector<std::int32_t> lines_;
  std::vector<std::vector<Place>> of_group_;
  std::vector<std::int32_t> first_kick_;  // of each node, and the end
  std::vector<Vector> velocity_;          // of each node, before the kicks in hand
  std::vector<Kick> kicks_, kept_kicks_;
  std::vector<VelocityCorrection> corrections_, kept_corrections_;
};

}  // namespace tempi
