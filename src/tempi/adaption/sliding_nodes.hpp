// SPDX-License-Identifier: Apache-2.0
// Where the nodes of a mesh may go without the body becoming another: inside it anywhere, on a flat part of its surface
// or of an interface along that, on a straight edge along that, elsewhere nowhere.
//
// Surfaces are the facets with one cell, between cells of different kinds, and those of a group; edges are where facets
// meet that are not in one plane (to 1e-5 rad) or not alike. Both end where what is asked of their nodes ends. Nodes of
// named points, in space of named lines, of curved facets, of corners stay.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

struct SlidingNodes {
  // Directions of unit length along which a vertex may move, as many as `count`, at right angles. None: it stays.
  struct Freedom {
    int count = 0;
    std::array<std::array<double, 3>, 3> along{};
  };
  std::vector<Freedom> of_node;           // mid-edge nodes have none
  Index free = 0, sliding = 0, held = 0;  // vertices
};

// `kind`: of each cell, where two differ is an interface (-1: a cell that does not count). `asked`: of each node,
// ascending numbers of what is asked of it (supports, listed groups); nodes inside with any stay, and surfaces of
// different demands are not one. `held`: of each node, whether it has to stay.
SlidingNodes sliding_nodes(const Mesh& mesh, std::span<const int> kind, const std::vector<std::vector<int>>& asked,
                           std::span<const char> held);

}  // namespace tempi
