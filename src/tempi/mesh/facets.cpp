// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/facets.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace tempi {
namespace {

const LocalFacet& local_facet(const Mesh& mesh, CellFacet f) {
  return local_facets(mesh.cells().types[ordinal(f.cell)])[static_cast<std::size_t>(f.local)];
}

using Key = std::array<NodeId, 3>;  // the vertices of a facet, ascending; unused places hold -1

Key key_of(const Mesh& mesh, CellFacet f) {
  const LocalFacet& facet = local_facet(mesh, f);
  const auto nodes = mesh.cells()[index(f.cell)];
  Key key = {NodeId{-1}, NodeId{-1}, NodeId{-1}};
  for (int v = 0; v < info(facet.type).vertices; ++v)
    key[static_cast<std::size_t>(v)] = nodes[static_cast<std::size_t>(facet.nodes[static_cast<std::size_t>(v)])];
  std::ranges::sort(key);
  return key;
}

int facet_count(const Mesh& mesh, CellId cell) {
  return static_cast<int>(local_facets(mesh.cells().types[ordinal(cell)]).size());
}

}  // namespace

CellType facet_type(const Mesh& mesh, CellFacet facet) { return local_facet(mesh, facet).type; }

std::vector<NodeId> facet_nodes(const Mesh& mesh, CellFacet facet) {
  const LocalFacet& local = local_facet(mesh, facet);
  const auto nodes = mesh.cells()[index(facet.cell)];
  std::vector<NodeId> result;
  for (int a = 0; a < info(local.type).nodes; ++a)
    result.push_back(nodes[static_cast<std::size_t>(local.nodes[static_cast<std::size_t>(a)])]);
  return result;
}

std::vector<CellFacet> boundary_facets(const Mesh& mesh) {
  struct Entry {
    Key key;
    CellFacet facet;
  };
  std::vector<Entry> all;
  for (Index c = 0; c < mesh.cells().size(); ++c)
    for (int f = 0; f < facet_count(mesh, make_id<CellId>(c)); ++f) {
      const CellFacet facet{make_id<CellId>(c), f};
      all.push_back({key_of(mesh, facet), facet});
    }
  std::ranges::stable_sort(all, {}, &Entry::key);
  std::vector<CellFacet> result;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t j = i + 1;
    while (j < all.size() && all[j].key == all[i].key) ++j;
    const auto is_shell = [&](const Entry& e) { return mesh.is_shell(e.facet.cell); };
    const auto of_them = std::span(all).subspan(i, j - i);
    const auto shells = std::ranges::count_if(of_them, is_shell);
    if (std::ssize(of_them) == shells + 1)  // of one solid, whether it wears a shell or not
      result.push_back(std::ranges::find_if_not(of_them, is_shell)->facet);
    else if (std::ssize(of_them) == shells)
      result.push_back(of_them.front().facet);
    i = j;
  }
  std::ranges::sort(result);
  return result;
}

std::vector<CellFacet> FacetFinder::operator()(FacetId facet) const {
  const auto nodes = mesh_.facets()[index(facet)];
  const int vertices = info(mesh_.facets().types[ordinal(facet)]).vertices;
  Key wanted = {NodeId{-1}, NodeId{-1}, NodeId{-1}};
  std::copy_n(nodes.begin(), vertices, wanted.begin());
  std::ranges::sort(wanted);
  std::vector<CellFacet> result;
  for (const CellId cell : around_[nodes[0]])
    for (int f = 0; f < facet_count(mesh_, cell); ++f)
      if (key_of(mesh_, {cell, f}) == wanted) result.push_back({cell, f});
  const auto is_shell = [&](CellFacet f) { return mesh_.is_shell(f.cell); };
  if (!std::ranges::all_of(result, is_shell)) std::erase_if(result, is_shell);
  return result;
}

}  // namespace tempi
