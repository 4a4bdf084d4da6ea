// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/shell_facets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

bool names(const ShellGroups& shells, const Group& group) {
  return (!group.name.empty() && std::ranges::find(shells.names, group.name) != shells.names.end()) ||
         (group.name.empty() && std::ranges::find(shells.names, fmt::format("{}", group.tag)) != shells.names.end()) ||
         std::ranges::find(shells.tags, group.tag) != shells.tags.end();
}

std::vector<char> wanted_facets(const MeshData& mesh, const ShellGroups& shells) {
  const auto count = static_cast<std::size_t>(mesh.facets.size());
  std::vector<char> wanted(count, shells.everything ? 1 : 0);
  for (const Group& group : mesh.groups)
    if (names(shells, group))
      for (const FacetId f : group.facets) wanted[ordinal(f)] = 1;
  for (std::size_t f = 0; f < count; ++f)
    if (info(mesh.facets.types[f]).dim != 2) wanted[f] = 0;
  return wanted;
}

std::string list_of(const ShellGroups& shells) {
  std::vector<std::string> wanted;
  for (const std::string& name : shells.names) wanted.push_back(fmt::format("group '{}'", name));
  for (const int tag : shells.tags) wanted.push_back(fmt::format("group {}", tag));
  return wanted.empty() ? "the mesh" : fmt::format("{}", fmt::join(wanted, ", "));
}

std::string groups_with_triangles(std::span<const Group> groups, const CellArray& facets) {
  std::vector<std::string> found;
  for (const Group& group : groups)
    if (std::ranges::any_of(group.facets, [&](FacetId f) { return info(facets.types[ordinal(f)]).dim == 2; }))
      found.push_back(group.name.empty() ? fmt::format("{}", group.tag) : group.name);
  return found.empty() ? "none" : fmt::format("{}", fmt::join(found, ", "));
}

[[noreturn]] void refuse_without_shells(std::span<const Group> groups, const CellArray& facets,
                                        const ShellGroups& shells) {
  throw InputError(
      fmt::format("there are no triangles in {}, which a [[material]] with model = \"shell\" names. Groups with "
                  "triangles: {}.",
                  list_of(shells), groups_with_triangles(groups, facets)));
}

}  // namespace

void require_shells(const Mesh& mesh, const ShellGroups& shells) {
  if (std::ranges::find(mesh.cells().types, CellType::shell3) == mesh.cells().types.end())
    refuse_without_shells(mesh.groups(), mesh.facets(), shells);
}

void promote_shells(MeshData& mesh, const ShellGroups& shells, const std::string& file) {
  if (shells.everything && mesh.cells.size() > 0)
    throw InputError(
        fmt::format("{}: there are solids beside the triangles, so a [[material]] with model = \"shell\" has to say "
                    "which triangles are shells. Give it a group.",
                    file));
  const std::vector<char> wanted = wanted_facets(mesh, shells);
  if (mesh.cells.size() == 0 && std::ranges::count(wanted, 1) == 0)
    refuse_without_shells(mesh.groups, mesh.facets, shells);
  const CellArray all = std::move(mesh.facets);
  mesh.facets = {};
  std::vector<Index> cell(wanted.size(), -1), facet(wanted.size(), -1);
  for (Index f = 0; f < all.size(); ++f) {
    const auto i = static_cast<std::size_t>(f);
    if (wanted[i] == 0) {
      facet[i] = mesh.facets.size();
      mesh.facets.push_back(all.types[i], all[f], all.labels[i]);
      continue;
    }
    if (all.types[i] != CellType::triangle3)
      throw InputError(fmt::format("{}: element {} is a {} (shells have 3 nodes). Mesh with order = 1.", file,
                                   all.labels[i], info(all.types[i]).name));
    cell[i] = mesh.cells.size();
    mesh.cells.push_back(CellType::shell3, all[f], all.labels[i]);
  }
  for (Group& group : mesh.groups) {
    std::vector<FacetId> rest;
    for (const FacetId f : group.facets)
      if (cell[ordinal(f)] >= 0)
        group.cells.push_back(make_id<CellId>(cell[ordinal(f)]));
      else
        rest.push_back(make_id<FacetId>(facet[ordinal(f)]));
    group.facets = std::move(rest);
  }
}

}  // namespace tempi
