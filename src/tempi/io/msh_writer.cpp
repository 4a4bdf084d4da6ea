// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/msh_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tempi/core/output_file.hpp"

namespace tempi {
namespace {

// What belongs to the same groups is one entity of its dimension.
struct Element {
  CellType type;
  std::vector<Index> nodes;  // numbers in the file
};
using Entities = std::map<std::vector<int>, std::vector<Element>>;  // by the groups' places

class MshFile {
 public:
  MshFile(const Mesh& mesh, std::span<const double> points) : mesh_(mesh), points_(points) {
    for (Index a = 0; a < mesh.node_count(); ++a) numbers_.push_back(mesh.point_label(make_id<NodeId>(a)));
    const std::set<Index> different(numbers_.begin(), numbers_.end());
    if (std::ssize(different) != mesh.node_count() || *different.begin() < 1)
      for (Index a = 0; a < mesh.node_count(); ++a) numbers_[static_cast<std::size_t>(a)] = a + 1;
    gather();
    name_groups();
  }

  std::string operator()() {
    std::string out = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
    auto at = std::back_inserter(out);
    std::size_t names = 0;
    for (const auto& of_dim : tags_) names += of_dim.size();
    fmt::format_to(at, "$PhysicalNames\n{}\n", names);
    for (int dim = 0; dim < 4; ++dim)
      for (const auto& [group, tag] : tags_[static_cast<std::size_t>(dim)])
        fmt::format_to(at, "{} {} \"{}\"\n", dim, tag, name_of(group));
    out += "$EndPhysicalNames\n";
    write_entities(out);
    write_nodes(out);
    write_elements(out);
    return out;
  }

 private:
  std::string name_of(int group) const {
    const Group& g = mesh_.groups()[static_cast<std::size_t>(group)];
    return g.name.empty() ? fmt::format("{}", g.tag) : g.name;
  }

  void add(const CellArray& of, Index i, const std::vector<int>& groups) {
    const CellType type = of.types[static_cast<std::size_t>(i)];
    Element e{type, {}};
    for (const NodeId a : of[i]) e.nodes.push_back(numbers_[ordinal(a)]);
    if (type == CellType::tetrahedron10) std::swap(e.nodes[8], e.nodes[9]);
    entities_[static_cast<std::size_t>(info(type).dim)][groups].push_back(std::move(e));
  }

  void gather() {
    std::vector<std::vector<int>> of_cell(static_cast<std::size_t>(mesh_.cells().size())),
        of_facet(static_cast<std::size_t>(mesh_.facets().size()));
    std::map<NodeId, std::vector<int>> of_node;
    for (int g = 0; g < std::ssize(mesh_.groups()); ++g) {
      const Group& group = mesh_.groups()[static_cast<std::size_t>(g)];
      for (const CellId c : group.cells) of_cell[ordinal(c)].push_back(g);
      for (const FacetId f : group.facets) of_facet[ordinal(f)].push_back(g);
      for (const NodeId a : group.nodes) of_node[a].push_back(g);
    }
    for (Index c = 0; c < mesh_.cells().size(); ++c) add(mesh_.cells(), c, of_cell[static_cast<std::size_t>(c)]);
    for (Index f = 0; f < mesh_.facets().size(); ++f)
      if (!of_facet[static_cast<std::size_t>(f)].empty()) add(mesh_.facets(), f, of_facet[static_cast<std::size_t>(f)]);
    for (const auto& [a, groups] : of_node) entities_[0][groups].push_back({CellType::point1, {numbers_[ordinal(a)]}});
  }

  // A group has its own tag where it has one, in each dimension in which it has anything.
  void name_groups() {
    for (std::size_t dim = 0; dim < 4; ++dim) {
      std::set<int> taken;
      for (const auto& [groups, elements] : entities_[dim])
        for (const int g : groups)
          if (const int tag = mesh_.groups()[static_cast<std::size_t>(g)].tag; tag > 0 && taken.insert(tag).second)
            tags_[dim].emplace(g, tag);
      int next = 1;
      for (const auto& [groups, elements] : entities_[dim])
        for (const int g : groups) {
          if (tags_[dim].contains(g)) continue;
          while (!taken.insert(next).second) ++next;
          tags_[dim].emplace(g, next);
        }
    }
  }

  void write_entities(std::string& out) const {
    auto at = std::back_inserter(out);
    fmt::format_to(at, "$Entities\n{} {} {} {}\n", entities_[0].size(), entities_[1].size(), entities_[2].size(),
                   entities_[3].size());
    std::array<double, 3> low{}, high{};
    const auto d = static_cast<std::size_t>(mesh_.dim());
    for (std::size_t i = 0; i < points_.size(); ++i) {
      low[i % d] = i < d ? points_[i] : std::min(low[i % d], points_[i]);
      high[i % d] = i < d ? points_[i] : std::max(high[i % d], points_[i]);
    }
    for (std::size_t dim = 0; dim < 4; ++dim) {
      int number = 0;
      for (const auto& [groups, elements] : entities_[dim]) {
        fmt::format_to(at, "{} {} {} {} ", ++number, low[0], low[1], low[2]);
        if (dim > 0) fmt::format_to(at, "{} {} {} ", high[0], high[1], high[2]);
        fmt::format_to(at, "{}", groups.size());
        for (const int g : groups) fmt::format_to(at, " {}", tags_[dim].at(g));
        out += dim > 0 ? " 0\n" : "\n";
      }
    }
    out += "$EndEntities\n";
  }

  void write_nodes(std::string& out) const {
    auto at = std::back_inserter(out);
    const auto [least, most] = std::ranges::minmax(numbers_);
    std::size_t top = 3;
    while (entities_[top].empty()) --top;
    fmt::format_to(at, "$Nodes\n1 {} {} {}\n{} 1 0 {}\n", numbers_.size(), least, most, top, numbers_.size());
    for (const Index number : numbers_) fmt::format_to(at, "{}\n", number);
    const auto d = static_cast<std::size_t>(mesh_.dim());
    for (std::size_t a = 0; a < numbers_.size(); ++a)
      for (std::size_t c = 0; c < 3; ++c)
        fmt::format_to(at, "{}{}", c < d ? points_[a * d + c] : 0.0, c < 2 ? ' ' : '\n');
    out += "$EndNodes\n";
  }

  void write_elements(std::string& out) const {
    auto at = std::back_inserter(out);
    std::map<std::array<int, 3>, std::vector<const Element*>> blocks;  // by dimension, entity, type
    std::size_t count = 0;
    for (std::size_t dim = 0; dim < 4; ++dim) {
      int entity = 0;
      for (const auto& [groups, elements] : entities_[dim]) {
        ++entity;
        for (const Element& e : elements) blocks[{static_cast<int>(dim), entity, info(e.type).gmsh}].push_back(&e);
        count += elements.size();
      }
    }
    fmt::format_to(at, "$Elements\n{} {} 1 {}\n", blocks.size(), count, count);
    Index number = 0;
    for (const auto& [key, elements] : blocks) {
      fmt::format_to(at, "{} {} {} {}\n", key[0], key[1], key[2], elements.size());
      for (const Element* e : elements) {
        fmt::format_to(at, "{}", ++number);
        for (const Index a : e->nodes) fmt::format_to(at, " {}", a);
        out += '\n';
      }
    }
    out += "$EndElements\n";
  }

  const Mesh& mesh_;
  std::span<const double> points_;
  std::vector<Index> numbers_;
  std::array<Entities, 4> entities_;
  std::array<std::map<int, int>, 4> tags_;  // by dimension, of the groups that have anything there
};

}  // namespace

void write_msh(const std::filesystem::path& file, const Mesh& mesh, std::span<const double> points) {
  replace_file(file, MshFile(mesh, points)());
}

}  // namespace tempi
