// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tempi/case/option_table.hpp"
#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"
#include "tempi/mesh/doubts.hpp"

namespace tempi {
namespace {

[[noreturn]] void fail(const Selector& selector, const std::string& message) {
  throw PlacedError(selector.place, message);
}

Expression condition_of(const Selector& selector, const Constants& constants) {
  return at_place(selector.place, [&] {
    Expression condition(*selector.where, constants);
    if (condition.depends_on_time())
      throw InputError(
          fmt::format("the condition \"{}\" depends on the time t (only X, Y, Z count here).", condition.text()));
    return condition;
  });
}

std::string name_of(const Group& g) { return g.name.empty() ? fmt::format("{}", g.tag) : g.name; }

double evaluate(const Expression& f, std::span<const double> X, const Selector& selector) {
  const double value = f(X, 0.0);
  if (!std::isfinite(value))
    fail(selector, fmt::format("the condition \"{}\" is {} at ({:.6g}).", f.text(), value, fmt::join(X, ", ")));
  return value;
}

}  // namespace

std::map<Index, NodeId> nodes_by_label(const Mesh& mesh) {
  std::map<Index, NodeId> result;
  for (Index a = 0; a < mesh.node_count(); ++a)
    result.emplace(mesh.point_label(make_id<NodeId>(a)), make_id<NodeId>(a));
  return result;
}

std::map<Index, NodeId> particles_by_number(const Mesh& mesh) {
  std::map<Index, NodeId> result;
  for (Index c = 0; c < mesh.cells().size(); ++c)
    if (mesh.cells().types[static_cast<std::size_t>(c)] == CellType::point1)
      result.emplace(static_cast<Index>(result.size()), mesh.cells()[c].front());
  return result.empty() ? nodes_by_label(mesh) : result;
}

std::string list_groups(const Mesh& mesh) {
  std::vector<std::string> items;
  for (const Group& g : mesh.groups()) {
    if (items.size() == 20) {
      items.push_back(fmt::format("and {} more", mesh.groups().size() - 20));
      break;
    }
    std::vector<std::string> parts;
    if (!g.cells.empty()) parts.push_back(fmt::format("{} cells", g.cells.size()));
    if (!g.facets.empty()) parts.push_back(fmt::format("{} facets", g.facets.size()));
    if (!g.nodes.empty()) parts.push_back(fmt::format("{} nodes", g.nodes.size()));
    items.push_back(fmt::format("{} ({})", name_of(g), fmt::join(parts, ", ")));
  }
  return items.empty() ? "none" : fmt::format("{}", fmt::join(items, ", "));
}

std::vector<const Group*> Selection::find(const Selector& selector) const {
  std::vector<const Group*> found;
  std::vector<std::string> names;
  for (const Group& g : mesh_.groups()) {
    names.push_back(name_of(g));
    const bool by_tag = selector.tag && g.tag == *selector.tag;
    // A text that is a number also finds a group without a name.
    const bool by_name = !selector.name.empty() && selector.name == name_of(g);
    if (by_tag || by_name) found.push_back(&g);
  }
  if (!found.empty()) return found;
  for (const Group& g : mesh_.groups())
    if (selector.name == fmt::format("{}", g.tag))
      fail(selector, fmt::format("{} is not in the mesh, but the tag is. Did you mean group = {}, without quotes?",
                                 selector.text(), g.tag));
  const std::string wanted = selector.tag ? fmt::format("{}", *selector.tag) : selector.name;
  const std::string near = nearest(wanted, names);
  fail(selector, fmt::format("{} is not in the mesh.{} Its groups: {}. Or use where = \"X < 1e-6\".", selector.text(),
                             near.empty() ? "" : fmt::format(" Did you mean '{}'?", near), list_groups(mesh_)));
}

void Selection::require_some(std::size_t count, const Selector& selector, std::string_view what) const {
  if (count > 0) return;
  const std::string range =
      selector.where ? fmt::format(" The mesh reaches from {} m.", text_of(extent(mesh_), mesh_.dim())) : "";
  fail(selector,
       fmt::format("{} selects no {}.{} The mesh's groups: {}.", selector.text(), what, range, list_groups(mesh_)));
}

std::vector<CellId> Selection::cells(const Selector& selector, std::string_view purpose) const {
  std::vector<CellId> result;
  if (selector.where) {
    const Expression condition = condition_of(selector, constants_);
    for (Index c = 0; c < mesh_.cells().size(); ++c)
      if (evaluate(condition, mesh_.centroid(make_id<CellId>(c)), selector) != 0.0)
        result.push_back(make_id<CellId>(c));
  } else if (selector.everything()) {
    for (Index c = 0; c < mesh_.cells().size(); ++c) result.push_back(make_id<CellId>(c));
  } else {
    const auto groups = find(selector);
    for (const Group* g : groups) result.insert(result.end(), g->cells.begin(), g->cells.end());
    if (result.empty())
      fail(selector, fmt::format("{} holds no cells of dimension {}, which {} needs. The mesh's groups: {}.",
                                 selector.text(), mesh_.dim(), purpose, list_groups(mesh_)));
  }
  require_some(result.size(), selector, "cells");
  make_distinct(result);
  return result;
}

std::vector<bool> Selection::nodes_where(const Selector& selector) const {
  const Expression condition = condition_of(selector, constants_);
  std::vector<bool> in(static_cast<std::size_t>(mesh_.node_count()));
  for (Index a = 0; a < mesh_.node_count(); ++a)
    in[static_cast<std::size_t>(a)] = evaluate(condition, mesh_.point(make_id<NodeId>(a)), selector) != 0.0;
  return in;
}

std::vector<CellFacet> Selection::facets(const Selector& selector, std::string_view purpose, Interior interior) const {
  if (selector.everything()) fail(selector, fmt::format("{} needs a group or where.", purpose));
  std::vector<CellFacet> result;
  std::vector<bool> in;
  if (selector.where) {
    in = nodes_where(selector);
  } else {
    const FacetFinder cells_of(mesh_);
    for (const Group* g : find(selector)) {
      for (const FacetId f : g->facets) {
        if (info(mesh_.facets().types[ordinal(f)]).dim != mesh_.dim() - 1) continue;
        const auto hosts = cells_of(f);
        const Index label = mesh_.facets().labels[ordinal(f)];
        if (hosts.empty())
          fail(selector,
               fmt::format("facet {} of {} lies on no cell. Correct the mesh or the group.", label, selector.text()));
        if (hosts.size() > 1 && interior == Interior::refuse)
          fail(selector,
               fmt::format("facet {} of {} lies between two cells ({} needs a side). Use facets of the boundary.",
                           label, selector.text(), purpose));
        result.push_back(hosts.front());
      }
      for (const CellId c : g->cells)
        if (mesh_.is_shell(c)) result.push_back({c, 0});
      if (!g->lost.empty())
        fail(selector, fmt::format("point {} of {} belongs to no cell. Correct the mesh or the group.", g->lost.front(),
                                   selector.text()));
      for (const NodeId a : g->nodes) {
        in.resize(static_cast<std::size_t>(mesh_.node_count()));
        in[ordinal(a)] = true;
      }
    }
  }
  if (!in.empty())
    for (const CellFacet f : boundary_facets(mesh_))
      if (std::ranges::all_of(facet_nodes(mesh_, f), [&](NodeId a) { return in[ordinal(a)]; })) result.push_back(f);
  require_some(result.size(), selector, fmt::format("facets of the boundary, which {} needs", purpose));
  make_distinct(result);
  return result;
}

std::vector<NodeId> Selection::nodes(const Selector& selector) const {
  std::vector<bool> in(static_cast<std::size_t>(mesh_.node_count()), selector.everything());
  if (selector.where) {
    in = nodes_where(selector);
  } else if (!selector.particles.empty()) {
    const std::map<Index, NodeId> node_of = particles_by_number(mesh_);
    for (const Index label : selector.particles) {
      const auto found = node_of.find(label);
      if (found == node_of.end())
        fail(selector, fmt::format("particle {} does not exist (they are numbered from {} to {}).", label,
                                   node_of.begin()->first, node_of.rbegin()->first));
      in[ordinal(found->second)] = true;
    }
  } else if (!selector.everything()) {
    const auto add = [&](NodeId a) { in[ordinal(a)] = true; };
    const std::vector<const Group*> groups = find(selector);
    const auto has_cells = [](const Group* g) { return !g->cells.empty(); };
    if (selector.tag && std::ranges::any_of(groups, has_cells) && !std::ranges::all_of(groups, has_cells))
      fail(selector, fmt::format("{} is the tag of cells and of facets (the mesh's groups: {}). Give them names in the "
                                 "mesh, or choose the nodes by where = \"X < 1e-6\".",
                                 selector.text(), list_groups(mesh_)));
    for (const Group* g : groups) {
      if (!g->lost.empty())
        fail(selector,
             fmt::format("point {} of {} belongs to no cell ({} such point{}). Correct the mesh or the group.",
                         g->lost.front(), selector.text(), g->lost.size(), g->lost.size() == 1 ? "" : "s"));
      std::ranges::for_each(g->nodes, add);
      for (const CellId c : g->cells) std::ranges::for_each(mesh_.cells()[index(c)], add);
      for (const FacetId f : g->facets) std::ranges::for_each(mesh_.facets()[index(f)], add);
    }
  }
  std::vector<NodeId> result;
  for (Index a = 0; a < mesh_.node_count(); ++a)
    if (in[static_cast<std::size_t>(a)]) result.push_back(make_id<NodeId>(a));
  require_some(result.size(), selector, "nodes");
  return result;
}

}  // namespace tempi
