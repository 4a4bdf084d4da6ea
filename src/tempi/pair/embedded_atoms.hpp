// SPDX-License-Identifier: Apache-2.0
// Atoms embedded in the density of their neighbours, the many-body part of the embedded-atom method (Daw, Baskes 1984)
// in the form of Finnis and Sinclair (1984):
//
//   V = -depth sum_a sqrt(rho_a),   rho_a = sum over b != a of (1 - r_ab / cutoff)^exponent, r_ab < cutoff
//
// Exponent 2 is theirs without the cubic term, with their A = depth / cutoff. An atom that meets its first neighbour
// there feels a force at once, depth / cutoff: sqrt has no slope at 0. From 4 on it does not. It only attracts: add a
// pair potential that repels.
//
// One term of the model; its own are the atoms, each with the neighbours it has. In a box as make_pairs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tempi/potential/many_body_sum.hpp"
#include "tempi/space/box.hpp"

namespace tempi {

struct Embedding {
  double depth;     // [J], > 0
  double cutoff;    // [m], > 0
  double exponent;  // >= 2
};

// `reference` [m]: dim components a node; `nodes`: the atoms; `skin` as make_pair_sum. Throws InputError: a parameter
// out of range, nodes that are not there or coincide, fewer than two, a cutoff of more than half a length of the box.
std::unique_ptr<Potential> make_embedded_atoms(std::span<const double> reference, int dim, std::vector<NodeId> nodes,
                                               const Embedding& embedding, const Box& box = {},
                                               std::optional<double> skin = {});

}  // namespace tempi
