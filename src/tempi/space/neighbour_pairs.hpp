// SPDX-License-Identifier: Apache-2.0
// Who is near whom: all pairs of particles within a distance of each other, by a list of cells.
#pragma once

#include <span>
#include <vector>

#include "tempi/core/ids.hpp"
#include "tempi/space/box.hpp"

namespace tempi {

// Every pair (a, b), a < b, of nodes at most `distance` [m] apart, in a box between nearest images; ascending in a,
// then b. `positions` [m]: dim components a node, where they are now. Cost O(nodes + pairs) as long as cells of that
// width hold few nodes each; memory O(nodes + pairs) however empty space is. Throws InputError: a distance that is not
// positive or is more than half a length of the box, a position not finite.
std::vector<NodePair> pairs_within(std::span<const double> positions, int dim, double distance, const Box& box = {});

// (0, 1), (0, 2) ... (1, 2) ...: every pair of `count` nodes.
std::vector<NodePair> all_pairs(Index count);

}  // namespace tempi
