// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/facets.hpp"

#include <algorithm>
#include <span>

namespace tempi {
namespace {

const LocalFacet& local_facet(const Mesh& mesh, CellFacet f) {
  return local_facets(mesh.cells().types[ordinal(f.cell)])[static_cast<std::size_t>(f.local)];
}

int facet_count(const Mesh& mesh, CellId cell) {
  return static_cast<int>(local_facets(mesh.cells().types[ordinal(cell)]).size());
}

}  // namespace

FacetKey facet_key(std::span<const NodeId> vertices) {
  FacetKey key = {NodeId{-1}, NodeId{-1}, NodeId{-1}};
  std::ranges::copy(vertices, key.begin());
  std::ranges::sort(key);
  return key;
}

FacetKey facet_key(const Mesh& mesh, CellFacet facet) {
  const LocalFacet& local = local_facet(mesh, facet);
  const auto nodes = mesh.cells()[index(facet.cell)];
  FacetKey vertices;
  const auto count = static_cast<std::size_t>(info(local.type).vertices);
  for (std::size_t v = 0; v < count; ++v) vertices[v] = nodes[static_cast<std::size_t>(local.nodes[v])];
  return facet_key(std::span(vertices).first(count));
}

FacetKey facet_key(const Mesh& mesh, FacetId facet) {
  const CellType type = mesh.facets().types[ordinal(facet)];
  return facet_key(mesh.facets()[index(facet)].first(static_cast<std::size_t>(info(type).vertices)));
}

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
    FacetKey key;
    CellFacet facet;
  };
  std::vector<Entry> all;
  for (Index c = 0; c < mesh.cells().size(); ++c)
    for (int f = 0; f < facet_count(mesh, make_id<CellId>(c)); ++f) {
      const CellFacet facet{make_id<CellId>(c), f};
      all.push_back({facet_key(mesh, facet), facet});
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
  const FacetKey wanted = facet_key(mesh_, facet);
  std::vector<CellFacet> result;
  for (const CellId cell : around_[mesh_.facets()[index(facet)].front()])
    for (int f = 0; f < facet_count(mesh_, cell); ++f)
      if (facet_key(mesh_, {cell, f}) == wanted) result.push_back({cell, f});
  const auto is_shell = [&](CellFacet f) { return mesh_.is_shell(f.cell); };
  if (!std::ranges::all_of(result, is_shell)) std::erase_if(result, is_shell);
  return result;
}

}  // namespace tempi
