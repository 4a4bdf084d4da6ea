// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/doubts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "tempi/core/disjoint_sets.hpp"

namespace tempi {
namespace {

std::string place(const Mesh& mesh, Index cell) {
  return fmt::format("cell {} at ({:.4g})", mesh.cells().labels[static_cast<std::size_t>(cell)],
                     fmt::join(mesh.centroid(make_id<CellId>(cell)), ", "));
}

void find_twins(const Mesh& mesh, std::vector<std::string>& found) {
  const CellArray& cells = mesh.cells();
  std::vector<NodeId> sorted = cells.nodes;  // each cell's own
  const auto nodes = [&](Index k) {
    const auto i = static_cast<std::size_t>(k);
    return std::span(sorted).subspan(static_cast<std::size_t>(cells.offsets[i]),
                                     static_cast<std::size_t>(cells.offsets[i + 1] - cells.offsets[i]));
  };
  std::vector<Index> order(static_cast<std::size_t>(cells.size()));
  std::iota(order.begin(), order.end(), Index{0});
  for (const Index k : order) std::ranges::sort(nodes(k));
  std::ranges::sort(order, [&](Index a, Index b) {
    if (std::ranges::equal(nodes(a), nodes(b))) return a < b;
    return std::ranges::lexicographical_compare(nodes(a), nodes(b));
  });
  Index count = 0;
  std::pair<Index, Index> first;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (std::ranges::equal(nodes(order[i - 1]), nodes(order[i])) && count++ == 0) first = {order[i - 1], order[i]};
  if (count > 0)
    found.push_back(
        fmt::format("{} cell{} on the same nodes as another (the first: {}, and {}): mass and stiffness "
                    "count twice there.",
                    count, count == 1 ? " lies" : "s lie", place(mesh, first.first), place(mesh, first.second)));
}

void find_parts(const Mesh& mesh, std::vector<std::string>& found) {
  constexpr std::size_t most_named = 4;
  DisjointSets nodes(mesh.node_count());
  const CellArray& cells = mesh.cells();
  for (Index k = 0; k < cells.size(); ++k)
    for (const NodeId a : cells[k]) nodes.join(index(a), index(cells[k].front()));
  std::vector<Index> size(static_cast<std::size_t>(mesh.node_count()), 0), example(size.size(), -1);
  for (Index k = 0; k < cells.size(); ++k) {
    const auto part = static_cast<std::size_t>(nodes[index(cells[k].front())]);
    ++size[part];
    if (example[part] < 0) example[part] = k;
  }
  std::vector<std::size_t> parts;
  for (std::size_t i = 0; i < size.size(); ++i)
    if (size[i] > 0) parts.push_back(i);
  if (parts.size() < 2) return;
  std::ranges::stable_sort(parts, [&](std::size_t a, std::size_t b) { return size[a] > size[b]; });
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min(parts.size(), most_named); ++i)
    named.push_back(fmt::format("{} cell{} with {}", size[parts[i]], size[parts[i]] == 1 ? "" : "s",
                                place(mesh, example[parts[i]])));
  if (parts.size() > most_named) named.push_back(fmt::format("{} smaller ones", parts.size() - most_named));
  found.push_back(fmt::format("the mesh has {} parts that share no node ({}): nothing in it holds them together.",
                              parts.size(), fmt::join(named, "; ")));
}

}  // namespace

std::vector<std::string> doubts(const Mesh& mesh, LooseParts loose) {
  std::vector<std::string> found;
  find_twins(mesh, found);
  if (loose == LooseParts::doubtful) find_parts(mesh, found);
  return found;
}

Extent extent(const Mesh& mesh) {
  Extent e;
  for (int c = 0; c < mesh.dim(); ++c) {
    const auto i = static_cast<std::size_t>(c);
    e.low[i] = e.high[i] = mesh.points()[i];
    for (std::size_t k = i; k < mesh.points().size(); k += static_cast<std::size_t>(mesh.dim())) {
      e.low[i] = std::min(e.low[i], mesh.points()[k]);
      e.high[i] = std::max(e.high[i], mesh.points()[k]);
    }
  }
  return e;
}

std::string text_of(const Extent& e, int dim) {
  std::vector<std::string> axes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(dim); ++i)
    axes.push_back(fmt::format("{:.6g} to {:.6g}", e.low[i], e.high[i]));
  return fmt::format("{}", fmt::join(axes, ", "));
}

}  // namespace tempi
