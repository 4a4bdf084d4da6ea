// SPDX-License-Identifier: Apache-2.0
// Facets as parts of cells: which cell carries a facet, and which facets bound the body.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <span>
#include <vector>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

// A facet seen from its cell: local_facets(type of cell)[local], so the normal points out of the cell.
struct CellFacet {
  CellId cell;
  int local;
  friend auto operator<=>(const CellFacet&, const CellFacet&) = default;
};

// Facets that are the same, of whatever cells and orders, have the same key: their vertices, ascending; unused places
// hold -1.
using FacetKey = std::array<NodeId, 3>;
FacetKey facet_key(std::span<const NodeId> vertices);  // at most three
FacetKey facet_key(const Mesh& mesh, CellFacet facet);
FacetKey facet_key(const Mesh& mesh, FacetId facet);

CellType facet_type(const Mesh& mesh, CellFacet facet);
std::vector<NodeId> facet_nodes(const Mesh& mesh, CellFacet facet);

// The facets that belong to exactly one cell, ordered by cell; shells are all surface, but where one
// covers a solid the facet is the solid's. Cost O(cells log cells).
std::vector<CellFacet> boundary_facets(const Mesh& mesh);

// The cells of a mesh's facet, found by its vertices: none, one (boundary) or two (interior), in ascending order. A
// solid's facet that wears a shell is the solid's.
class FacetFinder {
 public:
  explicit FacetFinder(const Mesh& mesh) : mesh_(mesh), around_(node_cells(mesh)) {}
  std::vector<CellFacet> operator()(FacetId facet) const;

 private:
  const Mesh& mesh_;
  NodeCells around_;
};

}  // namespace tempi
