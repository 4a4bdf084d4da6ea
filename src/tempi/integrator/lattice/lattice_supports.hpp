// SPDX-License-Identifier: Apache-2.0
// The supports of a lattice engine: nodes that move follow their motion, and what strikes and loads have given to held
// components goes to their supports. What is booked is that of KickDrift (kick_drift.hpp), summed over an instant.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/lattice/lattice_nodes.hpp"

namespace tempi {

class LatticeSupports {
 public:
  // All must outlive it. `delta` [s]: spacing of the differences of prescribed motions.
  LatticeSupports(const Model& model, const LatticeGroups& plan, ThreadTeam& team, double tick, double delta);

  bool any() const { return !held_.empty(); }

  // Places held components where their motion has them at t = 0.
  void start(std::span<NodeLine> nodes);

  // Notes the velocities of held components, which are those of their motions: before a run goes on.
  void read(std::span<const NodeLine> nodes);

  // Nodes of a group that move as prescribed go to tick `now`, before the others drift; for each group that acts, the
  // faster ones first.
  void follow(std::size_t group, double now, std::span<NodeLine> nodes, std::vector<Ledger>& ledgers);

  // After the kicks of all groups that act, for each of them: a node is settled with the fastest only.
  void settle(std::size_t group, std::span<NodeLine> nodes, std::vector<Ledger>& ledgers);

  // After kicks of the node on a line.
  void settle_line(std::size_t line, std::span<NodeLine> nodes, std::vector<Ledger>& ledgers);

  // A moment that the support of a node's first held component exerts on the body beside its reaction [N m s]; booked
  // with the next settlement of the node.
  void add_moment(std::size_t line, const std::array<double, 3>& moment);

  // Whether a component of the node on a line is held.
  bool holds(std::size_t line, std::size_t component) const {
    return held_of_line_[line] >= 0 &&
           held_[static_cast<std::size_t>(held_of_line_[line])].support[component] != Supports::none;
  }
  // -1, or the place of the line among those with a support.
  std::int32_t held(std::size_t line) const { return held_of_line_[line]; }

 private:
  struct Held {
    NodeId node;
    std::size_t line;
    double mass;
    std::array<double, 3> X{};
    std::array<std::int32_t, 3> support{Supports::none, Supports::none, Supports::none};
    std::array<bool, 3> moves{};       // as a function of time
    std::array<double, 3> velocity{};  // of held components
  };
  struct Path {
    SupportPath of;                  // a component of nodes that move with a group
    std::vector<std::int32_t> held;  // places of these nodes
    std::vector<double> velocity;
  };
  struct Mover {
    std::int32_t held;
    std::array<const double*, 3> displacement{}, velocity{};  // of components that move, on their paths
  };
  struct Moving {
    std::vector<Path> paths;
    std::vector<Mover> nodes;
  };

  Moving moving(std::span<const std::int32_t> held) const;
  void look_at(Path& path, double t);
  void move(const Mover& mover, double now, std::span<NodeLine> nodes);
  void settle(const Held& held, std::span<NodeLine> nodes);
  void book(std::vector<Ledger>& ledgers);

  const Supports& supports_;
  ThreadTeam& team_;
  std::size_t dim_;
  double tick_, delta_;
  std::vector<Held> held_;
  std::vector<std::int32_t> held_of_line_;
  // Places in held_, of nodes of which no faster group that acts too takes care.
  std::vector<std::vector<std::int32_t>> of_group_;
  std::vector<Moving> moving_of_group_;  // of these
  std::vector<Given> sums_;              // by support, of the instant
};

}  // namespace tempi
