// SPDX-License-Identifier: Apache-2.0
// What a [[potential]] of the case file means: which law, between whom.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/contact/wall.hpp"
#include "tempi/force/force.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/pair/pairs.hpp"

namespace tempi {

struct ChosenPotential {
  std::unique_ptr<Potential> potential;
  std::vector<NodePair> bonds;           // the pairs it has for good, one a term; empty for all pairs and for fields
  bool one_step = false;                 // its terms are to act together: who is near now may be far tomorrow
  bool is_field = false;                 // holds what it acts on: momenta are not kept
  std::optional<double> step;            // of its own [s]
  std::vector<std::string> notes;        // keys without effect
  std::optional<std::size_t> wall = {};  // of Surroundings::walls, that its terms touch
  std::unique_ptr<Force> impacts = {};   // what its terms, one each, do not give back
};

// Where a [[potential]], [[constraint]] or [[damping]] is made: the places of particles or nodes [m], their masses
// [kg].
struct Surroundings {
  const Mesh& mesh;
  std::span<const double> masses;
  const Box& box;
  const Constants& constants;
  std::filesystem::path folder;     // where files are looked for
  bool small_terms = false;         // the method takes no terms of many nodes
  std::span<const double> radii{};  // [m], one a node, 0: none; empty: nobody has one
  struct ElasticWall {
    Wall wall;
    std::vector<NodeId> nodes;  // who may touch it
    double young, poisson;      // [Pa]
    Place place;
  };
  std::span<const ElasticWall> walls{};  // that spheres touch by Hertz's law
};

// The nodes of pairs of labels. Throws PlacedError: a label that is not there, a pair given twice.
std::vector<NodePair> nodes_of_pairs(const Mesh& mesh, const std::vector<std::array<Index, 2>>& labels,
                                     const Place& place);

// All pairs among the selected nodes that are no farther apart than `distance` [m]; `place`: where that is written.
std::vector<NodePair> pairs_no_farther(const Selector& among, double distance, const Place& place,
                                       const Surroundings& around);

// Throws PlacedError: a key that is missing or belongs to another type, pairs of nodes that are not there or coincide,
// too many pairs, a file of pairs that cannot be read. Several potentials where the law is divided into classes by
// distance, or where kinds of particles have pair sums of their own.
std::vector<ChosenPotential> choose_potential(const PotentialInput& in, const Surroundings& around);

}  // namespace tempi
