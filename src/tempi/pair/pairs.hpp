// SPDX-License-Identifier: Apache-2.0
// Pair potentials: V = sum_k f_k V(|x_b - x_a|) over pairs of nodes k = (a, b), each a term of its own.
//
// f_k = m_a m_b for gravitation, 1 for every other law. Terms bring no mass; the two nodes of one may not meet:
// add_gradient returns their distance, or NaN where the force is not finite. Their forces are opposite to the bit.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/pair/pair_geometry.hpp"
#include "tempi/potential/potential.hpp"
#include "tempi/space/neighbour_pairs.hpp"

namespace tempi {

// Bonds join the same two nodes, about as far apart, for good; others wander (Potential::stays_together).
enum class Company { bonded, wandering };

// Pairs in packs for their kernel, but for where their nodes are.
struct PairPacks {
  PairKernel kernel{};
  AlignedVector<double> geometry = {}, lanes = {};
  PackedLaw law = {};
  PackedBox box = {};
  PackedPairs at(std::span<const std::int32_t> places) const {
    return {geometry.data(), lanes.empty() ? nullptr : lanes.data(), places.data(), law, box};
  }
};
// Their geometry, pairs[k] for all k of `terms`, the factor 1: -1 among these, and what fills up the last pack, has
// that of the term before it, and the factor 0.
AlignedVector<double> packed_separations(std::span<const double> reference, int dim, std::span<const NodePair> pairs,
                                         std::span<const Index> terms);

class PairPotential : public LocalPotential {
 public:
  // As add_hessian, without negative eigenvalues.
  virtual void add_positive_hessian(Index k, std::span<const double> u, std::span<double> H) const = 0;
  // -1 as in packed_separations; none where the laws of these pairs have no common kernel.
  virtual std::optional<PairPacks> packs(std::span<const Index> terms) const = 0;
};

// `reference` [m]: dim components a node; `masses` [kg]: one a node. In a box nodes feel each other's nearest images
// only: a law that reaches beyond half a length is cut there, and its force jumps.
// Throws InputError: a parameter of the law out of range; a pair of a node with itself, of nodes that coincide or that
// are not there; a cutoff, or a length of Hertz, of more than half a length of the box.
std::unique_ptr<Potential> make_pairs(std::span<const double> reference, int dim, std::span<const double> masses,
                                      std::vector<NodePair> pairs, PairLaw law, const Box& box = {},
                                      Company company = Company::bonded);
// Each pair with a law of its own, all of one kind: `laws`, one a pair. Beads of different sizes, mixtures.
std::unique_ptr<Potential> make_pairs(std::span<const double> reference, int dim, std::span<const double> masses,
                                      std::vector<NodePair> pairs, std::vector<PairLaw> laws, const Box& box = {},
                                      Company company = Company::bonded);

}  // namespace tempi
