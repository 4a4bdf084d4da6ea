// SPDX-License-Identifier: Apache-2.0
// A mesh: points, cells (of the top dimension, and shells in space), facets (elements of lower dimension) and named
// groups of all three.
// Points and cells keep the order of the file; labels are the file's own numbers, for messages and output.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tempi/core/ids.hpp"
#include "tempi/mesh/cell_type.hpp"

namespace tempi {

// Cells of one or several types, packed one behind the other.
struct CellArray {
  std::vector<CellType> types;
  std::vector<Index> offsets{0};
  std::vector<NodeId> nodes;
  std::vector<Index> labels;

  Index size() const { return static_cast<Index>(types.size()); }
  std::span<const NodeId> operator[](Index i) const {
    const auto k = static_cast<std::size_t>(i);
    return {nodes.data() + offsets[k], static_cast<std::size_t>(offsets[k + 1] - offsets[k])};
  }
  void push_back(CellType type, std::span<const NodeId> cell_nodes, Index label) {
    types.push_back(type);
    nodes.insert(nodes.end(), cell_nodes.begin(), cell_nodes.end());
    offsets.push_back(static_cast<Index>(nodes.size()));
    labels.push_back(label);
  }
};

// A Gmsh physical group, an Abaqus set, an integer tag of a file without names.
struct Group {
  std::string name;             // empty when the file knows only a number
  int tag = 0;                  // 0 when the file knows only a name
  std::vector<CellId> cells;    // ascending
  std::vector<FacetId> facets;  // ascending
  std::vector<NodeId> nodes;    // listed as nodes (Abaqus *NSET), ascending; nodes of cells and facets are not repeated
  std::vector<Index> lost;      // labels of listed or facet points that belong to no cell and were dropped
};

// What a reader delivers. `dim` is the dimension of space, that of all cells but shells; coordinates have `dim`
// components a point.
struct MeshData {
  int dim = 0;
  std::vector<double> points;
  std::vector<Index> point_labels;
  CellArray cells;
  CellArray facets;
  std::vector<Group> groups;
  std::vector<std::string> warnings;  // what its reader has to say
};

// A checked mesh. Immutable.
class Mesh {
 public:
  // Drops points that no cell uses (facets on them too), remembering them in their groups and in warnings().
  // Throws InputError: no cells, a cell naming a missing point, a coordinate that is not finite, more than 2^31
  // entries.
  explicit Mesh(MeshData data);

  int dim() const { return data_.dim; }
  Index node_count() const { return static_cast<Index>(data_.point_labels.size()); }
  std::span<const double> points() const { return data_.points; }  // dim components a node [m]
  std::span<const double> point(NodeId a) const {
    return points().subspan(static_cast<std::size_t>(index(a) * dim()), static_cast<std::size_t>(dim()));
  }
  Index point_label(NodeId a) const { return data_.point_labels[ordinal(a)]; }
  const CellArray& cells() const { return data_.cells; }
  bool is_shell(CellId cell) const { return data_.cells.types[ordinal(cell)] == CellType::shell3; }
  const CellArray& facets() const { return data_.facets; }
  const std::vector<Group>& groups() const { return data_.groups; }
  const std::vector<std::string>& warnings() const { return data_.warnings; }

  // The same mesh with every coordinate multiplied by `factor` > 0.
  Mesh scaled(double factor) const;

  // Both in one, this one's entries first; numbers and cells of the other count on from here, groups of equal names are
  // one. Nothing is merged: no node of one is the other's. Throws InputError: of different dimension.
  Mesh beside(const Mesh& other) const;

  // Mean of a cell's vertices [m], for messages and selections.
  std::vector<double> centroid(CellId cell) const;
  // "cell 17 at (0.25, 0.5)", for messages.
  std::string describe(CellId cell) const;

 private:
  MeshData data_;
};

// Cells around each node, packed: the cells of node a are cells[offsets[a] .. offsets[a+1]), ascending.
struct NodeCells {
  std::vector<Index> offsets;
  std::vector<CellId> cells;

  std::span<const CellId> operator[](NodeId a) const {
    const auto k = ordinal(a);
    return {cells.data() + offsets[k], static_cast<std::size_t>(offsets[k + 1] - offsets[k])};
  }
};
NodeCells node_cells(const Mesh& mesh);

}  // namespace tempi
