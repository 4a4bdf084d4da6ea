// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/abaqus_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tempi/core/distinct.hpp"
#include "tempi/io/abaqus_deck.hpp"
#include "tempi/io/abaqus_model.hpp"
#include "tempi/io/label_index.hpp"
#include "tempi/io/letter_case.hpp"
#include "tempi/io/mid_node_order.hpp"

namespace tempi {
namespace {

// Sorts by label and refuses a label that occurs twice.
template <class Item>
void sort_by_label(std::vector<Item>& items, std::string_view what, const AbaqusDeck& deck) {
  std::ranges::stable_sort(items, {}, &Item::label);
  const auto twice = std::ranges::adjacent_find(items, {}, &Item::label);
  if (twice == items.end()) return;
  deck.fail(std::next(twice)->line,
            fmt::format("{} {} is already defined in line {}. Renumber one of them.", what, twice->label, twice->line));
}

template <class Item>
std::vector<Index> labels_of(const std::vector<Item>& items) {
  std::vector<Index> labels;
  labels.reserve(items.size());
  for (const Item& item : items) labels.push_back(item.label);
  return labels;
}

int top_dimension(const AbaqusModel& model) {
  int dim = 0;
  for (const AbaqusElement& element : model.elements) dim = std::max(dim, info(element.type).dim);
  return dim;
}

void add_points(const AbaqusModel& model, MeshData& mesh) {
  mesh.point_labels = labels_of(model.nodes);
  mesh.points.reserve(model.nodes.size() * static_cast<std::size_t>(mesh.dim));
  for (const AbaqusNode& node : model.nodes)
    mesh.points.insert(mesh.points.end(), node.x.begin(), node.x.begin() + mesh.dim);
}

// Where each element of the (sorted) model went.
struct Place {
  bool is_cell = true;
  Index index = 0;
};

std::vector<Place> add_cells(const AbaqusModel& model, const AbaqusDeck& deck, MeshData& mesh) {
  const LabelIndex points(mesh.point_labels);
  std::vector<Place> places;
  std::vector<NodeId> nodes;
  for (const AbaqusElement& element : model.elements) {
    nodes.clear();
    for (int i = 0; i < info(element.type).nodes; ++i) {
      const Index label = model.element_nodes[static_cast<std::size_t>(element.first + i)];
      const auto node = points.find(label);
      if (!node)
        deck.fail(element.line, fmt::format("element {} names node {}, which is not defined. Define it, or correct the "
                                            "element.",
                                            element.label, label));
      nodes.push_back(make_id<NodeId>(*node));
    }
    const bool is_cell = info(element.type).dim == mesh.dim;
    CellArray& target = is_cell ? mesh.cells : mesh.facets;
    places.push_back({is_cell, target.size()});
    target.push_back(element.type, nodes, element.label);
  }
  return places;
}

class SetResolver {
 public:
  SetResolver(const AbaqusModel& model, const AbaqusDeck& deck, const std::vector<Place>& places, MeshData& mesh)
      : model_(model),
        deck_(deck),
        places_(places),
        mesh_(mesh),
        element_labels_(labels_of(model.elements)),
        nodes_(mesh.point_labels),
        elements_(element_labels_) {}

  void add_groups() {
    for (const AbaqusSet& set : model_.sets) {
      Group& group = group_of(set);
      switch (set.kind) {
        case AbaqusSet::Kind::nodes:
          for (const Index a : members(set, 0)) group.nodes.push_back(make_id<NodeId>(a));
          break;
        case AbaqusSet::Kind::elements:
          for (const Index e : members(set, 0)) add_element(group, places_[static_cast<std::size_t>(e)]);
          break;
        case AbaqusSet::Kind::surface: add_surface(group, set); break;
      }
    }
    for (Group& group : mesh_.groups) {
      make_distinct(group.cells);
      make_distinct(group.facets);
      make_distinct(group.nodes);
    }
  }

 private:
  Group& group_of(const AbaqusSet& set) {
    const auto key = std::pair(upper_case(set.name), set.scope);
    const auto [found, is_new] = groups_.try_emplace(key, mesh_.groups.size());
    if (is_new) {
      const bool hidden =
          set.scope == AbaqusScope::part && std::ranges::any_of(model_.sets, [&](const AbaqusSet& other) {
            return other.scope == AbaqusScope::assembly && upper_case(other.name) == key.first;
          });
      mesh_.groups.emplace_back().name = hidden ? model_.instance + "." + set.name : set.name;
    }
    return mesh_.groups[found->second];
  }

  static void add_element(Group& group, Place place) {
    if (place.is_cell)
      group.cells.push_back(make_id<CellId>(place.index));
    else
      group.facets.push_back(make_id<FacetId>(place.index));
  }

  const AbaqusSet& find(AbaqusSet::Kind kind, std::string_view name, AbaqusScope scope, Index line) const {
    const std::string upper = upper_case(name);
    const AbaqusSet* best = nullptr;
    for (const AbaqusSet& set : model_.sets)
      if (set.kind == kind && upper_case(set.name) == upper &&
          (set.scope == scope || (best == nullptr && set.scope == AbaqusScope::part)))
        best = &set;
    if (best == nullptr)
      deck_.fail(line, fmt::format("{} set '{}' is not defined. Define it, or correct the name.",
                                   kind == AbaqusSet::Kind::nodes ? "node" : "element", name));
    return *best;
  }

  Index place_of(AbaqusSet::Kind kind, Index label, Index line) const {
    const bool is_node = kind == AbaqusSet::Kind::nodes;
    const auto place = (is_node ? nodes_ : elements_).find(label);
    if (!place)
      deck_.fail(line, fmt::format("{} {} is not defined. Define it, or take it out of the set.",
                                   is_node ? "node" : "element", label));
    return *place;
  }

  // Places of the nodes or elements that an entry of a set stands for; `kind` says which of the two.
  void resolve(const AbaqusSet::Entry& entry, AbaqusSet::Kind kind, AbaqusScope scope, std::size_t depth,
               std::vector<Index>& result) const {
    if (depth > model_.sets.size())
      deck_.fail(entry.line, fmt::format("set '{}' contains itself. Take the name out.", entry.name));
    if (entry.name.empty()) {
      for (Index label = entry.label; label <= std::max(entry.label, entry.last); label += entry.step)
        result.push_back(place_of(kind, label, entry.line));
      return;
    }
    std::string_view name = entry.name;
    const std::string prefix = upper_case(model_.instance) + ".";
    if (prefix.size() > 1 && upper_case(name).starts_with(prefix)) {
      name.remove_prefix(prefix.size());
      scope = AbaqusScope::part;
      if (!name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos) {
        result.push_back(place_of(kind, deck_.integer(name), entry.line));
        return;
      }
    }
    const auto inner_kind = entry.nodes_of_elements ? AbaqusSet::Kind::elements : kind;
    const std::vector<Index> inner = members(find(inner_kind, name, scope, entry.line), depth + 1);
    if (!entry.nodes_of_elements)
      result.insert(result.end(), inner.begin(), inner.end());
    else
      for (const Index e : inner) append_nodes(e, result);
  }

  void append_nodes(Index element, std::vector<Index>& result) const {
    const Place place = places_[static_cast<std::size_t>(element)];
    for (const NodeId a : (place.is_cell ? mesh_.cells : mesh_.facets)[place.index]) result.push_back(index(a));
  }

  std::vector<Index> members(const AbaqusSet& set, std::size_t depth) const {
    std::vector<Index> result;
    for (const auto& entry : set.entries) resolve(entry, set.kind, set.scope, depth, result);
    make_distinct(result);
    return result;
  }

  void add_surface(Group& group, const AbaqusSet& surface) {
    for (const auto& entry : surface.entries) {
      std::vector<Index> elements;
      resolve(entry, AbaqusSet::Kind::elements, surface.scope, 0, elements);
      for (const Index e : elements) group.facets.push_back(face_of(e, entry, surface));
    }
  }

  // The facet of a cell's face, made when it is first named.
  FacetId face_of(Index element, const AbaqusSet::Entry& entry, const AbaqusSet& surface) {
    const Place place = places_[static_cast<std::size_t>(element)];
    const Index label = element_labels_[static_cast<std::size_t>(element)];
    if (!place.is_cell)
      deck_.fail(entry.line, fmt::format("surface '{}' names element {}, which is itself a facet. Name the cell behind "
                                         "it.",
                                         surface.name, label));
    const auto faces = local_facets(mesh_.cells.types[static_cast<std::size_t>(place.index)]);
    if (entry.face > static_cast<int>(faces.size()))
      deck_.fail(entry.line, fmt::format("surface '{}' names face S{} of element {} (it has {}). Correct this line.",
                                         surface.name, entry.face, label, faces.size()));
    const auto [found, is_new] = faces_.try_emplace({place.index, entry.face}, mesh_.facets.size());
    if (is_new) {
      const LocalFacet& face = faces[static_cast<std::size_t>(entry.face - 1)];
      const auto cell = mesh_.cells[place.index];
      std::vector<NodeId> nodes;
      for (int i = 0; i < info(face.type).nodes; ++i)
        nodes.push_back(cell[static_cast<std::size_t>(face.nodes[static_cast<std::size_t>(i)])]);
      mesh_.facets.push_back(face.type, nodes, 0);
    }
    return make_id<FacetId>(found->second);
  }

  const AbaqusModel& model_;
  const AbaqusDeck& deck_;
  const std::vector<Place>& places_;
  MeshData& mesh_;
  std::vector<Index> element_labels_;
  LabelIndex nodes_;
  LabelIndex elements_;
  std::map<std::pair<std::string, AbaqusScope>, std::size_t> groups_;
  std::map<std::pair<Index, int>, Index> faces_;  // (cell, face) to facet
};

}  // namespace

MeshData read_abaqus(const std::filesystem::path& path, bool in_space) {
  AbaqusDeck deck(path);
  AbaqusModel model = read_abaqus_model(deck, in_space);
  if (model.elements.empty())
    deck.fail(deck.line(),
              "the file has no elements (at least one is needed). Check that it holds *NODE and *ELEMENT.");
  sort_by_label(model.nodes, "node", deck);
  sort_by_label(model.elements, "element", deck);

  MeshData mesh;
  mesh.dim = in_space ? 3 : top_dimension(model);
  add_points(model, mesh);
  const std::vector<Place> places = add_cells(model, deck, mesh);
  settle_mid_node_order(mesh, deck.file());
  SetResolver(model, deck, places, mesh).add_groups();
  return mesh;
}

}  // namespace tempi
