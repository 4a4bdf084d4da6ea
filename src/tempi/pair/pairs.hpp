// SPDX-License-Identifier: Apache-2.0
// Pair potentials: V = sum_k f_k V(|x_b - x_a|) over pairs of nodes k = (a, b), each a term of its own.
//
// f_k = m_a m_b for gravitation, 1 for every other law. Terms bring no mass; the two nodes of one may not meet:
// add_gradient returns their distance, or NaN where the force is not finite. Their forces are opposite to the bit.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tempi/pair/pair_geometry.hpp"
#include "tempi/potential/potential.hpp"
#include "tempi/space/neighbour_pairs.hpp"

namespace tempi {

// Bonds join the same two nodes, about as far apart, for good; others wander (Potential::stays_together).
enum class Company { bonded, wandering };

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
