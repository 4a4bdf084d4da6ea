// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/path_integral.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tempi/core/error.hpp"
#include "tempi/element/configurational_force.hpp"

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

}  // namespace

PathIntegral::PathIntegral(const Mesh& mesh, std::span<const ElasticCells* const> all, std::span<const NodeId> front,
                           std::span<const double> direction, int rings)
    : rings_(rings), ring_of_(static_cast<std::size_t>(mesh.node_count()), rings) {
  if (front.empty()) throw InputError("there is no node at the front.");
  if (rings < 1) throw InputError(fmt::format("rings = {} (must be >= 1).", rings));
  if (std::ssize(direction) != mesh.dim())
    throw InputError(
        fmt::format("direction has {} components (there are {} dimensions).", direction.size(), mesh.dim()));
  double norm = 0.0;
  for (const double e : direction) norm += e * e;
  if (!(norm > 0.0) || !std::isfinite(norm)) throw InputError("direction has no length.");
  for (std::size_t c = 0; c < direction.size(); ++c) direction_[c] = direction[c] / std::sqrt(norm);
  std::vector<char> in_front(ring_of_.size(), 0);
  for (const NodeId a : front) {
    in_front[ordinal(a)] = 1;
    ring_of_[ordinal(a)] = 0;
  }
  const auto each_cell = [&](auto&& visit) {
    for (const ElasticCells* cells : all)
      for (Index k = 0; k < cells->size(); ++k) visit(*cells, k, cells->stencil(k));
  };
  if (mesh.dim() == 3) {
    length_ = length_of(mesh, all, in_front);
    if (!(length_ > 0.0))
      throw InputError(
          "no edge of a cell joins two nodes of the front. In space a front is a line of nodes: name their group.");
  }
  const ElasticCells* material = nullptr;
  each_cell([&](const ElasticCells& cells, Index, std::span<const NodeId> nodes) {
    if (cells.thickness() > 0.0) throw InputError("shells have no path integrals.");
    if (material == nullptr && std::ranges::any_of(nodes, [&](NodeId a) { return in_front[ordinal(a)] != 0; }))
      material = &cells;
  });
  if (material == nullptr) throw InputError("the front lies at no cell that has a material.");
  const auto is_other = [&](const ElasticCells& cells) {
    const Lame mine = lame_of(material->material()), its = lame_of(cells.material());
    return cells.material().index() != material->material().index() || mine.lambda != its.lambda || mine.mu != its.mu ||
           cells.density() != material->density();
  };
  for (int ring = 1; ring <= rings; ++ring) {
    std::vector<NodeId> reached;
    each_cell([&](const ElasticCells& cells, Index, std::span<const NodeId> nodes) {
      if (std::ranges::none_of(nodes, [&](NodeId a) { return ring_of_[ordinal(a)] < ring; })) return;
      if (first_other_ == 0 && is_other(cells)) first_other_ = ring;
      for (const NodeId a : nodes)
        if (ring_of_[ordinal(a)] >= ring && ring < rings) reached.push_back(a);
    });
    for (const NodeId a : reached) ring_of_[ordinal(a)] = std::min(ring_of_[ordinal(a)], ring);
  }
  bool beyond = false;
  each_cell([&](const ElasticCells& cells, Index k, std::span<const NodeId> nodes) {
    if (std::ranges::any_of(nodes, [&](NodeId a) { return ring_of_[ordinal(a)] < rings; }))
      near_.push_back({&cells, k});
    beyond = beyond || std::ranges::any_of(nodes, [&](NodeId a) { return ring_of_[ordinal(a)] == rings; });
  });
  if (!beyond)
    throw InputError(fmt::format("{} rings around the front take every node of the body. Choose fewer.", rings));
}

std::vector<double> PathIntegral::operator()(std::span<const double> u, std::span<const double> v,
                                             std::span<const double> acceleration) const {
  std::vector<double> of_ring(static_cast<std::size_t>(rings_), 0.0);
  std::array<double, 30> f{};
  for (const Cell& at : near_) {
    const ElasticCells& cells = *at.cells;
    const auto d = static_cast<std::size_t>(cells.dim());
    const auto nodes = cells.stencil(at.k);
    std::ranges::fill(f, 0.0);
    add_configurational_forces(cells, at.k, u, v, Carried::displacements, std::span(f).first(3 * nodes.size()));
    std::array<double, 3> He{}, De{};  // (du/dX) e, (dv/dX) e, averaged
    double volume = 0.0;
    for (Index q = 0; q < cells.point_count(); ++q) {
      const CellPoint point = cells.at_point(at.k, q);
      volume += point.volume;
      for (std::size_t a = 0; a < nodes.size(); ++a) {
        double along = 0.0;
        for (std::size_t J = 0; J < d; ++J) along += point.dN[a][J] * direction_[J];
        for (std::size_t i = 0; i < d; ++i) {
          He[i] += point.volume * along * u[ordinal(nodes[a]) * d + i];
          De[i] += point.volume * along * v[ordinal(nodes[a]) * d + i];
        }
      }
    }
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      const int ring = ring_of_[ordinal(nodes[a])];
      if (ring >= rings_) continue;
      double sum = 0.0, rate = 0.0;
      for (std::size_t i = 0; i < d; ++i) {
        const std::size_t c = ordinal(nodes[a]) * d + i;
        sum -= f[3 * a + i] * direction_[i];
        rate += (acceleration[c] * He[i] + v[c] * De[i]) / volume;
      }
      of_ring[static_cast<std::size_t>(ring)] += sum + cells.mass(at.k, a) * rate;
    }
  }
  std::vector<double> J;
  double sum = 0.0;
  for (const double ring : of_ring) J.push_back((sum += ring) / length_);
  return J;
}

}  // namespace tempi
