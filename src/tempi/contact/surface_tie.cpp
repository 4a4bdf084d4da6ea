// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/surface_tie.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tempi/contact/closest_points.hpp"
#include "tempi/core/distinct.hpp"
#include "tempi/mesh/elements.hpp"
#include "tempi/space/box_tree.hpp"

namespace tempi {
namespace {

using Point = std::array<double, 3>;

Point point_of(const Mesh& mesh, NodeId a) {
  Point x{};
  std::ranges::copy(mesh.point(a), x.begin());
  return x;
}

std::size_t corners_of(CellType type) { return type == CellType::line2 || type == CellType::line3 ? 2 : 3; }

// Of all the facet's nodes, where its corners have the weights `of_corner`.
std::vector<double> weights(CellType type, std::span<const double> of_corner) {
  const auto list = [](const auto& shape) { return std::vector<double>(shape.begin(), shape.end()); };
  if (type == CellType::line3) return list(Line3::shape({of_corner[1] - of_corner[0]}));
  if (type == CellType::triangle6) return list(Triangle6::shape({of_corner[1], of_corner[2]}));
  return {of_corner.begin(), of_corner.end()};
}

std::vector<NodeId> nodes_of(const Mesh& mesh, std::span<const CellFacet> facets) {
  std::vector<NodeId> all;
  for (const CellFacet& facet : facets)
    for (const NodeId a : facet_nodes(mesh, facet)) all.push_back(a);
  make_distinct(all);
  return all;
}

}  // namespace

SurfaceTie tie_surfaces(const Mesh& mesh, std::span<const CellFacet> following, std::span<const CellFacet> followed,
                        double reach) {
  std::vector<Bounds> boxes;
  std::vector<std::vector<NodeId>> nodes;
  for (const CellFacet& facet : followed) {
    nodes.push_back(facet_nodes(mesh, facet));
    Bounds box;
    for (const NodeId a : nodes.back()) box.take(point_of(mesh, a));
    box.grow(reach);
    boxes.push_back(box);
  }
  BoxTree tree;
  tree.make(boxes);
  const std::vector<NodeId> masters = nodes_of(mesh, followed);
  SurfaceTie tie;
  for (const NodeId a : nodes_of(mesh, following)) {
    if (std::ranges::binary_search(masters, a)) continue;
    const Point x = point_of(mesh, a);
    Bounds here;
    here.take(x);
    double least = std::numeric_limits<double>::infinity();
    std::int32_t nearest = -1;
    std::vector<double> of_corner;
    tree.each_touching(here, [&](std::int32_t f) {
      const auto k = static_cast<std::size_t>(f);
      const std::size_t corners = corners_of(facet_type(mesh, followed[k]));
      std::array<Point, 4> places{x};
      for (std::size_t i = 0; i < corners; ++i) places[i + 1] = point_of(mesh, nodes[k][i]);
      const ClosestPoints closest =
          closest_points({1, static_cast<std::int8_t>(corners)}, std::span(places).first(corners + 1));
      if (closest.distance > least || (closest.distance == least && f > nearest)) return;
      least = closest.distance;
      nearest = f;
      of_corner.clear();
      for (std::size_t i = 0; i < corners; ++i) of_corner.push_back(-closest.weight[i + 1]);
    });
    if (!(least <= reach)) {
      tie.left_out.push_back(a);
      continue;
    }
    const auto k = static_cast<std::size_t>(nearest);
    const std::vector<double> c = weights(facet_type(mesh, followed[k]), of_corner);
    TiedNode tied{a, {}};
    for (std::size_t i = 0; i < c.size(); ++i)
      if (c[i] != 0.0) tied.masters.emplace_back(nodes[k][i], c[i]);
    tie.nodes.push_back(std::move(tied));
    tie.largest_gap = std::max(tie.largest_gap, least);
  }
  return tie;
}

double mean_edge(const Mesh& mesh, std::span<const CellFacet> facets) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const CellFacet& facet : facets) {
    const std::vector<NodeId> nodes = facet_nodes(mesh, facet);
    const std::size_t corners = corners_of(facet_type(mesh, facet));
    for (std::size_t i = 0; i < corners; ++i, ++count) {
      const Point a = point_of(mesh, nodes[i]), b = point_of(mesh, nodes[(i + 1) % corners]);
      sum += std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    }
  }
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

}  // namespace tempi
