// SPDX-License-Identifier: Apache-2.0
// Which law a [[potential]] between pairs has for two nodes: parameters of one for all or one for each kind, spheres,
// and classes by distance.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tempi/case/potential_choice.hpp"
#include "tempi/pair/pair_laws.hpp"

namespace tempi {

// The one value of a key that is given. Throws PlacedError where there are several.
double value_of(const PotentialInput& in, std::string_view key);
std::optional<double> optional_value_of(const PotentialInput& in, std::string_view key);

class PairLawChoice {
 public:
  PairLawChoice(const PotentialInput& in, const Surroundings& around) : in_(in), around_(around) {}

  void compare_keys() const;  // throws PlacedError: keys that do not go together
  // Whoever takes part must be of one kind, where there are kinds; to be called before those below.
  void find_kinds(std::span<const NodeId> participants);

  // Of two nodes, in class c.
  PairLaw law(std::size_t c, NodeId a, NodeId b) const;
  std::size_t class_count() const;
  std::optional<double> step_of_class(std::size_t c) const;
  // What tells the law of one node from that of another.
  std::vector<double> parameters_of(NodeId a) const;
  std::vector<double> materials_of(NodeId a) const;  // without the radius of a sphere
  bool of_spheres() const;
  double modulus(NodeId a, NodeId b) const;  // of spheres: 4/3 E*, 1/E* = sum (1 - nu^2)/E [Pa]
  // Of a sphere against a wall. Throws PlacedError: a node without radius.
  WallSphere contact(NodeId a, const Surroundings::ElasticWall& wall) const;

 private:
  double parameter(std::string_view key, NodeId a) const;
  double radius_of(NodeId a) const;
  void compare_hertz_keys() const;
  Hertz contact(NodeId a, NodeId b) const;
  WholeLaw whole_law(NodeId a, NodeId b) const;
  std::optional<LawPart::Switch> border(std::size_t k) const;
  void compare_classes() const;

  const PotentialInput& in_;
  const Surroundings& around_;
  std::vector<int> kind_;  // of each node, a place in `kinds`; empty without kinds
};

}  // namespace tempi
