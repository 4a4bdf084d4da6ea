// SPDX-License-Identifier: Apache-2.0
// What an Abaqus file says about its mesh, before names and labels are resolved. abaqus_mesh.hpp says what is
// supported.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tempi/io/abaqus_deck.hpp"
#include "tempi/mesh/cell_type.hpp"

namespace tempi {

enum class AbaqusScope { part, assembly };  // a flat file is one part

struct AbaqusNode {
  Index label = 0;
  std::array<double, 3> x{};
  Index line = 0;
};

struct AbaqusElement {
  Index label = 0;
  CellType type = CellType::point1;
  Index first = 0;  // where its node labels start in AbaqusModel::element_nodes
  Index line = 0;
};

struct AbaqusSet {
  enum class Kind { nodes, elements, surface };
  struct Entry {
    std::string name;                // of another set; empty: a label
    Index label = 0;                 // of a node or an element, the first of a range
    Index last = 0;                  // of the range; 0: the label alone
    Index step = 1;                  // from label to label in the range
    int face = 0;                    // of a surface's element, 1..4
    bool nodes_of_elements = false;  // `name` is an element set whose nodes are meant
    Index line = 0;
  };

  Kind kind = Kind::nodes;
  AbaqusScope scope = AbaqusScope::part;
  std::string name;  // as first written
  std::vector<Entry> entries;
};

struct AbaqusModel {
  std::vector<AbaqusNode> nodes;        // in the file's order
  std::vector<AbaqusElement> elements;  // in the file's order
  std::vector<Index> element_nodes;     // labels
  std::vector<AbaqusSet> sets;          // by first appearance
  std::string instance;                 // the name of the only instance, or empty
};

// Throws InputError naming file and line.
// `takes_facets_alone`: elements of surfaces and edges need no solids.
AbaqusModel read_abaqus_model(AbaqusDeck& deck, bool takes_facets_alone);

}  // namespace tempi
