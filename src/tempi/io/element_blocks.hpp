// SPDX-License-Identifier: Apache-2.0
// Elements in blocks of one type and one place in the model, as mesh libraries deliver them, and the mesh they make:
// points and cells in ascending order of their labels, lower dimensions as facets, coordinates reduced to the
// dimension.
#pragma once

#include <string>
#include <vector>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

struct ElementBlock {
  CellType type = CellType::point1;
  std::vector<Index> labels;
  std::vector<Index> nodes;         // labels, packed, in the order of cell_type.hpp
  std::vector<std::size_t> groups;  // which of ElementBlocks::groups hold all of the block
};

struct ElementBlocks {
  std::vector<Index> point_labels;
  std::vector<double> points;  // x, y, z
  std::vector<ElementBlock> blocks;
  std::vector<Group> groups;  // names and tags; filled by `assemble`
};

enum class Repeated { separate, same };  // elements of the same type on the same nodes

int top_dimension(const ElementBlocks& blocks);  // 0 if there are no elements

// Sorts the points by label. Throws InputError if a label occurs twice.
void sort_points(ElementBlocks& blocks, const std::string& file);

// Reverses each block of triangles that are all clockwise, seen from +z. Points must be sorted.
void reverse_clockwise(ElementBlocks& blocks);

// Points must be sorted. Throws InputError, naming `file`: no elements; triangles out of the plane z = constant (within
// 1e-9 of the extent) or lines off the x direction where these are the cells; 3-node lines as cells; a missing point;
// two cells with one label.
// `in_space`: three coordinates, and triangles are facets whatever else there is; there may then be no cells.
MeshData assemble(ElementBlocks blocks, Repeated repeated, const std::string& file, bool in_space = false);

}  // namespace tempi
