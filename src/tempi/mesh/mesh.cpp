// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/mesh.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

void check_cells(const CellArray& cells, Index points, std::string_view what) {
  if (cells.size() > std::numeric_limits<std::int32_t>::max())
    throw InputError(fmt::format("the mesh has {} {} (at most 2147483647 are possible).", cells.size(), what));
  for (Index i = 0; i < cells.size(); ++i)
    for (const NodeId a : cells[i])
      if (index(a) < 0 || index(a) >= points)
        throw InputError(fmt::format("cell {} names a point that the mesh does not have.",
                                     cells.labels[static_cast<std::size_t>(i)]));
}

// Removes the facets that touch a dropped point; tells which facets stay where.
std::vector<Index> drop_facets(CellArray& facets, const std::vector<Index>& new_node) {
  CellArray kept;
  std::vector<Index> new_facet(static_cast<std::size_t>(facets.size()), -1);
  for (Index f = 0; f < facets.size(); ++f) {
    const auto nodes = facets[f];
    const auto k = static_cast<std::size_t>(f);
    if (std::ranges::any_of(nodes, [&](NodeId a) { return new_node[ordinal(a)] < 0; })) continue;
    new_facet[k] = kept.size();
    kept.push_back(facets.types[k], nodes, facets.labels[k]);
  }
  facets = std::move(kept);
  return new_facet;
}

void renumber(std::vector<NodeId>& nodes, const std::vector<Index>& new_node) {
  for (NodeId& a : nodes) a = make_id<NodeId>(new_node[ordinal(a)]);
}

void renumber_group(Group& group, const CellArray& old_facets, const std::vector<Index>& labels,
                    const std::vector<Index>& new_node, const std::vector<Index>& new_facet) {
  const auto is_lost = [&](NodeId a) { return new_node[ordinal(a)] < 0; };
  const auto lose = [&](NodeId a) { group.lost.push_back(labels[ordinal(a)]); };
  for (const FacetId f : group.facets)
    for (const NodeId a : old_facets[index(f)])
      if (is_lost(a)) lose(a);
  for (const NodeId a : group.nodes)
    if (is_lost(a)) lose(a);
  make_distinct(group.lost);

  std::erase_if(group.facets, [&](FacetId f) { return new_facet[ordinal(f)] < 0; });
  for (FacetId& f : group.facets) f = make_id<FacetId>(new_facet[ordinal(f)]);
  std::erase_if(group.nodes, is_lost);
  renumber(group.nodes, new_node);
}

}  // namespace

Mesh::Mesh(MeshData data) : data_(std::move(data)) {
  const auto count = static_cast<Index>(data_.point_labels.size());
  if (data_.cells.size() == 0) throw InputError("the mesh has no cells (nothing to compute).");
  if (count > std::numeric_limits<std::int32_t>::max())
    throw InputError(fmt::format("the mesh has {} points (at most 2147483647 are possible).", count));
  TEMPI_ASSERT(static_cast<Index>(data_.points.size()) == count * data_.dim);
  check_cells(data_.cells, count, "cells");
  check_cells(data_.facets, count, "facets");
  for (std::size_t i = 0; i < data_.points.size(); ++i)
    if (!std::isfinite(data_.points[i]))
      throw InputError(fmt::format("point {} has the coordinate {} (must be finite).",
                                   data_.point_labels[i / static_cast<std::size_t>(data_.dim)], data_.points[i]));
  for (Group& g : data_.groups) {
    std::ranges::sort(g.cells);
    std::ranges::sort(g.facets);
    make_distinct(g.nodes);
  }

  std::vector<Index> new_node(static_cast<std::size_t>(count), -1);
  for (const NodeId a : data_.cells.nodes) new_node[ordinal(a)] = 0;
  const auto dim = static_cast<std::size_t>(data_.dim);
  std::vector<Index> labels = data_.point_labels;
  std::size_t kept = 0;
  for (std::size_t a = 0; a < new_node.size(); ++a) {
    if (new_node[a] < 0) continue;
    new_node[a] = static_cast<Index>(kept);
    std::copy_n(data_.points.begin() + static_cast<std::ptrdiff_t>(a * dim), dim,
                data_.points.begin() + static_cast<std::ptrdiff_t>(kept * dim));
    data_.point_labels[kept++] = data_.point_labels[a];
  }
  const std::size_t dropped = new_node.size() - kept;
  if (dropped == 0) return;

  data_.points.resize(kept * dim);
  data_.point_labels.resize(kept);
  const CellArray old_facets = data_.facets;
  const std::vector<Index> new_facet = drop_facets(data_.facets, new_node);
  for (Group& g : data_.groups) renumber_group(g, old_facets, labels, new_node, new_facet);
  renumber(data_.cells.nodes, new_node);
  renumber(data_.facets.nodes, new_node);
  const auto first = static_cast<std::size_t>(std::ranges::find(new_node, Index{-1}) - new_node.begin());
  data_.warnings.push_back(fmt::format("{} point{} belong{} to no cell and {} dropped (the first is point {}).",
                                       dropped, dropped == 1 ? "" : "s", dropped == 1 ? "s" : "",
                                       dropped == 1 ? "is" : "are", labels[first]));
}

Mesh Mesh::scaled(double factor) const {
  Mesh copy = *this;
  for (double& x : copy.data_.points) x *= factor;
  return copy;
}

Mesh Mesh::beside(const Mesh& other) const {
  if (other.dim() != dim())
    throw InputError(fmt::format("a mesh in {}-D does not stand beside one in {}-D.", other.dim(), dim()));
  MeshData both = data_;
  const auto shifted = [](auto ids, Index by) {
    for (auto& id : ids) id = make_id<std::remove_reference_t<decltype(id)>>(index(id) + by);
    return ids;
  };
  const auto largest = [](const std::vector<Index>& labels) {
    return labels.empty() ? Index{0} : *std::ranges::max_element(labels);
  };
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(both.points, other.data_.points);
  const Index label = largest(data_.point_labels);
  for (const Index l : other.data_.point_labels) both.point_labels.push_back(l + label);
  for (const auto& [to, from] :
       {std::pair(&both.cells, &other.data_.cells), std::pair(&both.facets, &other.data_.facets)}) {
    const Index from_label = largest(to->labels);
    for (Index k = 0; k < from->size(); ++k) {
      const auto nodes = shifted(std::vector<NodeId>((*from)[k].begin(), (*from)[k].end()), node_count());
      const auto i = static_cast<std::size_t>(k);
      to->push_back(from->types[i], nodes, from->labels[i] + from_label);
    }
  }
  for (const Group& g : other.data_.groups) {
    auto found = std::ranges::find_if(both.groups, [&](const Group& h) { return h.name == g.name && h.tag == g.tag; });
    if (found == both.groups.end()) found = both.groups.insert(found, Group{g.name, g.tag, {}, {}, {}, {}});
    append(found->cells, shifted(g.cells, data_.cells.size()));
    append(found->facets, shifted(g.facets, data_.facets.size()));
    append(found->nodes, shifted(g.nodes, node_count()));
    append(found->lost, g.lost);
  }
  append(both.warnings, other.data_.warnings);
  return Mesh(std::move(both));
}

std::vector<double> Mesh::centroid(CellId cell) const {
  std::vector<double> c(static_cast<std::size_t>(dim()), 0.0);
  const int vertices = info(cells().types[ordinal(cell)]).vertices;
  const auto nodes = cells()[index(cell)];
  for (int v = 0; v < vertices; ++v)
    for (std::size_t i = 0; i < c.size(); ++i) c[i] += point(nodes[static_cast<std::size_t>(v)])[i] / vertices;
  return c;
}

std::string Mesh::describe(CellId cell) const {
  return fmt::format("cell {} at ({:.6g})", cells().labels[ordinal(cell)], fmt::join(centroid(cell), ", "));
}

NodeCells node_cells(const Mesh& mesh) {
  NodeCells result;
  result.offsets.assign(static_cast<std::size_t>(mesh.node_count()) + 1, 0);
  for (const NodeId a : mesh.cells().nodes) ++result.offsets[ordinal(a) + 1];
  for (std::size_t a = 1; a < result.offsets.size(); ++a) result.offsets[a] += result.offsets[a - 1];
  result.cells.resize(mesh.cells().nodes.size());
  std::vector<Index> next(result.offsets.begin(), result.offsets.end() - 1);
  for (Index c = 0; c < mesh.cells().size(); ++c)
    for (const NodeId a : mesh.cells()[c])
      result.cells[static_cast<std::size_t>(next[ordinal(a)]++)] = make_id<CellId>(c);
  return result;
}

}  // namespace tempi
