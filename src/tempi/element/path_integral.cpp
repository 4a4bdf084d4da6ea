// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/path_integral.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tempi/core/cross.hpp"
#include "tempi/core/error.hpp"
#include "tempi/element/configurational_force.hpp"
#include "tempi/mesh/facets.hpp"

namespace tempi {
namespace {

// The sum of the edges between two nodes of the front, of vertices.
double length_of(const Mesh& mesh, std::span<const ElasticCells* const> all, const std::vector<char>& in_front) {
  std::set<std::pair<Index, Index>> edges;
  const auto vertices = static_cast<std::size_t>(mesh.dim()) + 1;
  for (const ElasticCells* cells : all)
    for (Index k = 0; k < cells->size(); ++k) {
      const auto nodes = cells->stencil(k);
      for (std::size_t i = 0; i < vertices; ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (in_front[ordinal(nodes[i])] != 0 && in_front[ordinal(nodes[j])] != 0)
            edges.insert(std::minmax(index(nodes[i]), index(nodes[j])));
    }
  double length = 0.0;
  for (const auto& [a, b] : edges) {
    const auto X = mesh.point(make_id<NodeId>(a)), Y = mesh.point(make_id<NodeId>(b));
    double squared = 0.0;
    for (std::size_t c = 0; c < X.size(); ++c) squared += std::pow(X[c] - Y[c], 2);
    length += std::sqrt(squared);
  }
  return length;
}

std::array<double, 3> in_space(std::span<const double> X) {
  std::array<double, 3> x{};
  std::ranges::copy(X, x.begin());
  return x;
}

template <class Visit>
void each_cell(std::span<const ElasticCells* const> all, Visit&& visit) {
  for (const ElasticCells* cells : all)
    for (Index k = 0; k < cells->size(); ++k) visit(*cells, k, cells->stencil(k));
}

std::span<const NodeId> vertices_of(const Mesh& mesh, const ElasticCells& cells, Index k) {
  const CellType type = mesh.cells().types[ordinal(cells.cell(k))];
  return cells.stencil(k).first(static_cast<std::size_t>(info(type).vertices));
}

// The cells that are reached from those at the front without crossing the contour. Throws InputError: all are.
std::vector<char> enclosed(const Mesh& mesh, std::span<const FacetId> contour, std::span<const NodeId> front) {
  std::set<FacetKey> closed;
  for (const FacetId f : contour) closed.insert(facet_key(mesh, f));
  const auto cells = static_cast<std::size_t>(mesh.cells().size());
  std::map<FacetKey, std::vector<std::size_t>> sides;
  std::vector<std::vector<FacetKey>> of_cell(cells);
  for (std::size_t c = 0; c < cells; ++c)
    for (int f = 0; f < std::ssize(local_facets(mesh.cells().types[c])); ++f) {
      of_cell[c].push_back(facet_key(mesh, {make_id<CellId>(static_cast<Index>(c)), f}));
      sides[of_cell[c].back()].push_back(c);
    }
  std::vector<char> inside(cells, 0);
  std::vector<std::size_t> next;
  const std::set<NodeId> at_front(front.begin(), front.end());
  for (std::size_t c = 0; c < cells; ++c)
    if (std::ranges::any_of(mesh.cells()[static_cast<Index>(c)], [&](NodeId a) { return at_front.contains(a); })) {
      inside[c] = 1;
      next.push_back(c);
    }
  while (!next.empty()) {
    const std::size_t c = next.back();
    next.pop_back();
    for (const FacetKey& key : of_cell[c])
      for (const std::size_t other : closed.contains(key) ? std::vector<std::size_t>{} : sides[key])
        if (std::exchange(inside[other], 1) == 0) next.push_back(other);
  }
  if (std::ranges::all_of(inside, [](char in) { return in != 0; }))
    throw InputError("a contour does not enclose the front: it leaves a way from there to all of the body.");
  return inside;
}

}  // namespace

DefectMotion advance(std::span<const double> direction) {
  std::array<double, 3> e = in_space(direction);
  double norm = 0.0;
  for (const double c : e) norm += c * c;
  if (!(norm > 0.0) || !std::isfinite(norm)) throw InputError("direction has no length.");
  for (double& c : e) c /= std::sqrt(norm);
  return [e](std::span<const double>) { return e; };
}

DefectMotion turn(std::span<const double> centre, const std::array<double, 3>& axis) {
  return [c = in_space(centre), axis](std::span<const double> X) {
    const std::array<double, 3> x = in_space(X);
    return cross(axis, std::array{x[0] - c[0], x[1] - c[1], x[2] - c[2]});
  };
}

DefectMotion growth(std::span<const double> centre) {
  return [c = in_space(centre)](std::span<const double> X) {
    const std::array<double, 3> x = in_space(X);
    return std::array{x[0] - c[0], x[1] - c[1], x[2] - c[2]};
  };
}

PathIntegral::PathIntegral(const Mesh& mesh, Cells all, std::span<const NodeId> front, int regions, bool per_length)
    : regions_(regions), front_(front.begin(), front.end()) {
  if (front.empty()) throw InputError("there is no node at the front.");
  std::vector<char> in_front(static_cast<std::size_t>(mesh.node_count()), 0);
  for (const NodeId a : front) in_front[ordinal(a)] = 1;
  if (mesh.dim() == 3 && per_length) {
    length_ = length_of(mesh, all, in_front);
    if (!(length_ > 0.0))
      throw InputError(
          "no edge of a cell joins two nodes of the front. In space a front is a line of nodes: name their group.");
  }
  bool has_cells = false, has_vertices = false;
  each_cell(all, [&](const ElasticCells& cells, Index k, std::span<const NodeId> nodes) {
    if (cells.thickness() > 0.0) throw InputError("shells have no path integrals.");
    const auto at = [&](NodeId a) { return in_front[ordinal(a)] != 0; };
    has_cells = has_cells || std::ranges::any_of(nodes, at);
    has_vertices = has_vertices || std::ranges::any_of(vertices_of(mesh, cells, k), at);
  });
  if (!has_cells) throw InputError("the front lies at no cell that has a material.");
  if (!has_vertices) throw InputError("the front is in the middle of an edge. Put a vertex of cells there.");
}

PathIntegral::PathIntegral(const Mesh& mesh, Cells all, std::span<const NodeId> front, const DefectMotion& motion,
                           int rings, bool per_length)
    : PathIntegral(mesh, all, front, rings, per_length) {
  if (rings < 1) throw InputError(fmt::format("rings = {} (must be >= 1).", rings));
  std::vector<int> ring_of(static_cast<std::size_t>(mesh.node_count()), rings);
  for (const NodeId a : front) ring_of[ordinal(a)] = 0;
  for (int ring = 1; ring < rings; ++ring) {
    std::vector<NodeId> reached;
    each_cell(all, [&](const ElasticCells& cells, Index k, std::span<const NodeId>) {
      const auto vertices = vertices_of(mesh, cells, k);
      if (std::ranges::any_of(vertices, [&](NodeId a) { return ring_of[ordinal(a)] < ring; }))
        reached.insert(reached.end(), vertices.begin(), vertices.end());
    });
    for (const NodeId a : reached) ring_of[ordinal(a)] = std::min(ring_of[ordinal(a)], ring);
  }
  bool beyond = false;
  each_cell(all, [&](const ElasticCells& cells, Index k, std::span<const NodeId>) {
    beyond = beyond ||
             std::ranges::any_of(vertices_of(mesh, cells, k), [&](NodeId a) { return ring_of[ordinal(a)] == rings; });
  });
  if (!beyond)
    throw InputError(fmt::format("{} rings around the front take every node of the body. Choose fewer.", rings));
  set_regions(mesh, all, motion, [&](NodeId a, int region) { return ring_of[ordinal(a)] <= region; });
}

PathIntegral::PathIntegral(const Mesh& mesh, Cells all, std::span<const NodeId> front, const DefectMotion& motion,
                           std::span<const std::vector<FacetId>> contours, bool per_length)
    : PathIntegral(mesh, all, front, static_cast<int>(contours.size()), per_length) {
  std::vector<std::vector<char>> moves;  // of each region, each node: all of its cells are inside
  for (const auto& contour : contours) {
    const std::vector<char> inside = enclosed(mesh, contour, front);
    auto& of = moves.emplace_back(static_cast<std::size_t>(mesh.node_count()), 1);
    for (Index c = 0; c < mesh.cells().size(); ++c)
      if (inside[static_cast<std::size_t>(c)] == 0)
        for (const NodeId a : mesh.cells()[c]) of[ordinal(a)] = 0;
  }
  set_regions(mesh, all, motion,
              [&](NodeId a, int region) { return moves[static_cast<std::size_t>(region)][ordinal(a)] != 0; });
}

void PathIntegral::set_regions(const Mesh& mesh, Cells all, const DefectMotion& motion,
                               const std::function<bool(NodeId, int)>& inside) {
  place_.assign(static_cast<std::size_t>(mesh.node_count()), -1);
  const ElasticCells* material = nullptr;
  const std::set<NodeId> front(front_.begin(), front_.end());
  each_cell(all, [&](const ElasticCells& cells, Index, std::span<const NodeId> nodes) {
    if (material == nullptr && std::ranges::any_of(nodes, [&](NodeId a) { return front.contains(a); }))
      material = &cells;
  });
  const auto is_other = [&](const ElasticCells& cells) {
    const Lame mine = lame_of(material->material()), its = lame_of(cells.material());
    return cells.material().index() != material->material().index() || mine.lambda != its.lambda || mine.mu != its.mu ||
           cells.density() != material->density();
  };
  const auto moves = [&](NodeId a) {
    for (int region = 0; region < regions_; ++region)
      if (inside(a, region)) return true;
    return false;
  };
  each_cell(all, [&](const ElasticCells& cells, Index k, std::span<const NodeId>) {
    const auto vertices = vertices_of(mesh, cells, k);
    if (std::ranges::none_of(vertices, moves)) return;
    near_.push_back({&cells, k, mesh.cells().types[ordinal(cells.cell(k))]});
    if (is_other(cells))
      for (int region = regions_; region-- > 0;)
        if (std::ranges::any_of(vertices, [&](NodeId a) { return inside(a, region); }) &&
            (first_other_ == 0 || region + 1 < first_other_))
          first_other_ = region + 1;
    for (const NodeId a : vertices) {
      if (place_[ordinal(a)] >= 0 || !moves(a)) continue;
      place_[ordinal(a)] = std::ssize(motion_);
      motion_.push_back(motion(mesh.point(a)));
      for (int region = 0; region < regions_; ++region) weight_.push_back(inside(a, region) ? 1 : 0);
    }
  });
}

std::vector<double> PathIntegral::operator()(std::span<const double> u, std::span<const double> v,
                                             std::span<const double> acceleration) const {
  std::vector<double> of_vertex(motion_.size(), 0.0);
  std::array<double, 30> f{};
  for (const Cell& at : near_) {
    const ElasticCells& cells = *at.cells;
    const auto d = static_cast<std::size_t>(cells.dim());
    const auto nodes = cells.stencil(at.k);
    std::ranges::fill(f, 0.0);
    add_configurational_forces(cells, at.k, u, v, Carried::displacements, std::span(f).first(3 * nodes.size()));
    std::array<std::array<double, 3>, 3> H{}, D{};  // du/dX, dv/dX, averaged
    double volume = 0.0;
    for (Index q = 0; q < cells.point_count(); ++q) {
      const CellPoint point = cells.at_point(at.k, q);
      volume += point.volume;
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t i = 0; i < d; ++i)
          for (std::size_t J = 0; J < d; ++J) {
            H[i][J] += point.volume * u[ordinal(nodes[a]) * d + i] * point.dN[a][J];
            D[i][J] += point.volume * v[ordinal(nodes[a]) * d + i] * point.dN[a][J];
          }
    }
    const auto vertices = static_cast<std::size_t>(info(at.type).vertices);
    const auto add = [&](std::size_t a, std::size_t vertex, double part) {
      const Index place = place_[ordinal(nodes[vertex])];
      if (place < 0) return;
      const auto& xi = motion_[static_cast<std::size_t>(place)];
      double sum = 0.0, rate = 0.0;
      for (std::size_t i = 0; i < d; ++i) {
        const std::size_t c = ordinal(nodes[a]) * d + i;
        sum -= f[3 * a + i] * xi[i];
        for (std::size_t J = 0; J < d; ++J) rate += (acceleration[c] * H[i][J] + v[c] * D[i][J]) * xi[J] / volume;
      }
      of_vertex[static_cast<std::size_t>(place)] += part * (sum + cells.mass(at.k, a) * rate);
    };
    for (std::size_t a = 0; a < vertices; ++a) add(a, a, 1.0);
    for (std::size_t a = vertices; a < nodes.size(); ++a)
      for (const int end : mid_edges(at.type)[a - vertices]) add(a, static_cast<std::size_t>(end), 0.5);
  }
  std::vector<double> I(static_cast<std::size_t>(regions_), 0.0);
  for (std::size_t a = 0; a < of_vertex.size(); ++a)
    for (std::size_t region = 0; region < I.size(); ++region)
      I[region] += (weight_[a * I.size() + region] != 0 ? of_vertex[a] / length_ : 0.0);
  return I;
}

}  // namespace tempi
