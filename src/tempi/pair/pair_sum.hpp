// SPDX-License-Identifier: Apache-2.0
// A pair potential over all pairs of some nodes, as one term: V = sum over a < b of f_ab V(|x_b - x_a|), f_ab as in
// pairs.hpp.
//
// One term has one step: all its pairs act together, as a slow force does in impulse r-RESPA beside bonds with steps
// of their own. Pairs beyond the reach of the law (a cutoff) are left out by a list of neighbours that is made anew
// whenever a node has moved half a skin since: physics, and every bit of the reference path and of a Batch, are those
// of the sum over all pairs (decision 0008). Its Hessian comes in pieces, one a pair within reach.
//
// For a few pairs, or pairs with steps of their own, use make_pairs. Bonded nodes are not left out.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tempi/pair/pairs.hpp"

namespace tempi {

// `nodes`: who takes part, each once; with `others`, nodes that are not among them, only pairs of one with the other.
// `skin` [m] >= 0: default 0.12 of the reach; less where the box has no room for more. In a box as make_pairs. Throws
// InputError: as make_pairs, a skin out of range.
std::unique_ptr<Potential> make_pair_sum(std::span<const double> reference, int dim, std::span<const double> masses,
                                         std::vector<NodeId> nodes, PairLaw law, const Box& box = {},
                                         std::optional<double> skin = {}, std::vector<NodeId> others = {});

// Spheres of one material that touch by Hertz's law, however many radii they have: V = sum 2/5 modulus sqrt(R_ab)
// max(0, R_a + R_b - r)^(5/2), 1/R_ab = 1/R_a + 1/R_b. `modulus` = 4/3 E* [Pa] > 0; `radii` [m]: one a node, > 0 of
// those who take part. The rest as above.
std::unique_ptr<Potential> make_sphere_sum(std::span<const double> reference, int dim, std::vector<double> radii,
                                           std::vector<NodeId> nodes, double modulus, const Box& box = {},
                                           std::optional<double> skin = {}, std::vector<NodeId> others = {});

}  // namespace tempi
