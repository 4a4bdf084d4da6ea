// SPDX-License-Identifier: Apache-2.0
// The outer surface of a mesh as flat triangles on its nodes.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tempi/mesh/facets.hpp"

namespace tempi {

using SurfaceTriangle = std::array<NodeId, 3>;  // its normal points out of the body

// 3-node facets as they are, 6-node ones as four. Other facets have none.
std::vector<SurfaceTriangle> surface_triangles(const Mesh& mesh, std::span<const CellFacet> facets);

}  // namespace tempi
