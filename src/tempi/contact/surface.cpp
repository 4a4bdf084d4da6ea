// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/surface.hpp"

namespace tempi {

std::vector<SurfaceTriangle> surface_triangles(const Mesh& mesh, std::span<const CellFacet> facets) {
  constexpr std::array<std::array<std::size_t, 3>, 4> quarters = {{{0, 3, 5}, {1, 4, 3}, {2, 5, 4}, {3, 4, 5}}};
  std::vector<SurfaceTriangle> result;
  for (const CellFacet& facet : facets) {
    const std::vector<NodeId> n = facet_nodes(mesh, facet);
    if (n.size() == 3 && facet_type(mesh, facet) == CellType::triangle3) result.push_back({n[0], n[1], n[2]});
    if (n.size() == 6)
      for (const auto& q : quarters) result.push_back({n[q[0]], n[q[1]], n[q[2]]});
  }
  return result;
}

}  // namespace tempi
