// SPDX-License-Identifier: Apache-2.0
// Which faces of a contact may cross, while its nodes move little. Not for others than face_contact.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tempi/contact/face_crossing.hpp"
#include "tempi/core/ids.hpp"
#include "tempi/space/box_tree.hpp"

namespace tempi {

using Corners = std::array<std::int32_t, 3>;   // places of a face's nodes in the stencil
using FacePair = std::array<std::int32_t, 2>;  // ascending

// The faces of a contact and where their nodes are.
struct Faces {
  std::vector<NodeId> nodes;  // ascending
  std::vector<Corners> corners;
  std::size_t first_of_others = 0;  // faces from here on are the other side's; all of them: there is one side
  std::vector<double> reference;    // of the nodes, from the first of them [m]
  double epsilon = 0.0, skin = 0.0, shortest_edge = 0.0;

  std::size_t size() const { return corners.size(); }
  bool may_cross(const FacePair& pair) const;
};

// From the first vertex of the pair, places as well as velocities: their own digits count.
TwoTriangles<double> places_of(const Faces& faces, const FacePair& pair, std::span<const double> x);

// Pairs that may cross, ascending, while no node has moved more than a reach from where they were made.
class PairsWithin {
 public:
  using List = std::shared_ptr<const std::vector<FacePair>>;

  PairsWithin() = default;
  PairsWithin(std::vector<FacePair> pairs, std::span<const double> x, double reach);

  // Whoever has it may go on while another thread makes the next one.
  const List& pairs() const { return pairs_; }

  // `x`: places of the nodes [m], three numbers each, finite.
  bool holds(std::span<const double> x) const;
  // How long, at least, it holds where nodes go from x with velocities v [m/s], as far as `within`; holds now.
  double holds_for(std::span<const double> x, std::span<const double> v, double within) const;
  // The same as the farthest and the fastest node have it: shorter, and soon found.
  double holds_at_least(std::span<const double> x, std::span<const double> v) const;

 private:
  std::pair<double, double> squares(std::span<const double> x, std::span<const double> v, std::size_t i) const;

  List pairs_;
  std::vector<double> made_at_;
  double reach_ = 0.0;
};

// Near pairs by a tree of boxes; and closer ones of these, for motions a small part as large: few of those near cross,
// and what most looks ask for is who does.
class NearFaces {
 public:
  // The closer ones at x, places of the nodes [m], finite.
  const PairsWithin& close(const Faces& faces, std::span<const double> x);
  // The closer ones, or where these do not hold for so long as nodes go on with velocities v, the near ones.
  const PairsWithin& for_a_while(const Faces& faces, std::span<const double> x, std::span<const double> v,
                                 double within);

 private:
  void make(const Faces& faces, std::span<const double> x, bool near_holds);

  BoxTree tree_;
  std::vector<Bounds> boxes_;
  PairsWithin near_, close_;
};

}  // namespace tempi
