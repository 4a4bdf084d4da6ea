// SPDX-License-Identifier: Apache-2.0
// What a selector of the case file means on a mesh. Every function throws InputError with the place: no such group (the
// mesh's groups are listed), nothing selected, the wrong kind of group, a condition that is not a number somewhere.
#pragma once

#include <map>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/mesh/facets.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {

class Selection {
 public:
  Selection(const Mesh& mesh, const Constants& constants) : mesh_(mesh), constants_(constants) {}

  // Cells of the group, or those whose centroid meets the condition.
  std::vector<CellId> cells(const Selector& selector, std::string_view purpose) const;

  // Facets of the group as parts of their cells, and its shells; for a group of nodes or a condition, the boundary
  // facets all of whose nodes belong. A facet between two cells is refused, or taken from the cell with the smaller id.
  enum class Interior { refuse, take_first };
  std::vector<CellFacet> facets(const Selector& selector, std::string_view purpose, Interior interior) const;

  // Nodes of the group's cells, facets and listed nodes, or those meeting the condition; ascending.
  std::vector<NodeId> nodes(const Selector& selector) const;

 private:
  std::vector<const Group*> find(const Selector& selector) const;
  std::vector<bool> nodes_where(const Selector& selector) const;
  void require_some(std::size_t count, const Selector& selector, std::string_view what) const;

  const Mesh& mesh_;
  const Constants& constants_;
};

// The file's numbers of nodes; those of particles count from 0, or beside a mesh on from its largest.
std::map<Index, NodeId> nodes_by_label(const Mesh& mesh);
// Particles by number from 0; of a mesh without any its nodes by label.
std::map<Index, NodeId> particles_by_number(const Mesh& mesh);

// "left (12 facets), body (340 cells)"; at most 20 are spelt out.
std::string list_groups(const Mesh& mesh);

}  // namespace tempi
