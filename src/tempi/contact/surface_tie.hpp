// SPDX-License-Identifier: Apache-2.0
// Two surfaces whose meshes differ, held together: every node of one follows the point of the other it lies on
// (constraint/tie.hpp), the interface being the other's own nodes and shape functions there. Where nodes lie on that
// surface rigid motions of both are one motion; over a gap g moments of the interface's forces differ by g times these.
#pragma once

#include <span>
#include <vector>

#include "tempi/constraint/tie.hpp"
#include "tempi/mesh/facets.hpp"

namespace tempi {

struct SurfaceTie {
  std::vector<TiedNode> nodes;
  double largest_gap = 0.0;      // [m], of those from the surface they follow
  std::vector<NodeId> left_out;  // farther than `reach`
};

// Nodes of the facets `following`, each to its nearest point of the facets `followed`, which are taken as straight
// between their corners; those that are nodes of `followed` themselves need no tie. `reach` [m].
SurfaceTie tie_surfaces(const Mesh& mesh, std::span<const CellFacet> following, std::span<const CellFacet> followed,
                        double reach);

// Mean length of the edges of facets [m], between corners: which of two surfaces is the finer one.
double mean_edge(const Mesh& mesh, std::span<const CellFacet> facets);

}  // namespace tempi
