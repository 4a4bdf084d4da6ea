// SPDX-License-Identifier: Apache-2.0
// A random jitter, and the lattice of points over which the meshes of meshes.hpp are built.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "tempi/mesh/facets.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi::test {

// Reproducible on every machine: the standard distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1.0p-53;
  }
  Index below(Index n) { return static_cast<Index>(engine_() % static_cast<std::uint64_t>(n)); }

 private:
  std::mt19937_64 engine_;
};

namespace mesh_detail {

// A lattice of (n + 1)^D vertices and simplices over it; mid-edge nodes are made on demand and shared.
class Lattice {
 public:
  using Place = std::array<int, 3>;

  Lattice(int dim, int n, double jitter, double bend, unsigned seed)
      : dim_(dim), n_(n), jitter_(jitter), bend_(bend), random_(seed) {
    data_.dim = dim;
    const int ny = dim > 1 ? n : 0, nz = dim > 2 ? n : 0;
    for (int k = 0; k <= nz; ++k)
      for (int j = 0; j <= ny; ++j)
        for (int i = 0; i <= n; ++i) add_vertex({i, j, k});
  }

  void add_cell(CellType type, const std::vector<Place>& vertices) {
    std::vector<NodeId> nodes;
    for (const Place& p : vertices) nodes.push_back(vertex(p));
    for (const auto& [a, b] : mid_edges(type))
      nodes.push_back(middle(nodes[static_cast<std::size_t>(a)], nodes[static_cast<std::size_t>(b)]));
    data_.cells.push_back(type, nodes, data_.cells.size() + 1);
  }

  Mesh mesh() {
    const Mesh bare(data_);
    Group body{"body", 1, {}, {}, {}, {}}, left{"left", 2, {}, {}, {}, {}}, right{"right", 3, {}, {}, {}, {}};
    Group boundary{"boundary", 4, {}, {}, {}, {}};
    for (Index c = 0; c < bare.cells().size(); ++c) body.cells.push_back(make_id<CellId>(c));
    for (const CellFacet& f : boundary_facets(bare)) {
      const auto id = make_id<FacetId>(data_.facets.size());
      const CellType type = facet_type(bare, f);
      const auto nodes = facet_nodes(bare, f);
      data_.facets.push_back(type, nodes, data_.cells.size() + data_.facets.size() + 1);
      const auto all_at = [&](int i) {
        return std::all_of(nodes.begin(), nodes.begin() + info(type).vertices,
                           [&](NodeId a) { return places_[static_cast<std::size_t>(index(a))][0] == i; });
      };
      boundary.facets.push_back(id);
      if (all_at(0)) left.facets.push_back(id);
      if (all_at(n_)) right.facets.push_back(id);
    }
    data_.groups = {body, left, right, boundary};
    return Mesh(data_);
  }

 private:
  NodeId add_point(const std::array<double, 3>& X, double range) {
    const auto id = make_id<NodeId>(static_cast<Index>(data_.point_labels.size()));
    for (int c = 0; c < dim_; ++c) {
      const double moved = range / n_ * random_.uniform(-1.0, 1.0);
      const double x = X[static_cast<std::size_t>(c)];
      data_.points.push_back(c == 0 && x == 0.0 ? 0.0 : x + moved);
    }
    data_.point_labels.push_back(index(id) + 1);
    return id;
  }
  void add_vertex(const Place& p) {
    vertices_[p] = add_point({double(p[0]) / n_, double(p[1]) / n_, double(p[2]) / n_}, jitter_);
    places_.push_back(p);
  }
  NodeId vertex(const Place& p) const { return vertices_.at(p); }
  NodeId middle(NodeId a, NodeId b) {
    const auto key = std::minmax(a, b);
    if (const auto found = middles_.find(key); found != middles_.end()) return found->second;
    std::array<double, 3> X{};
    for (int c = 0; c < dim_; ++c)
      X[static_cast<std::size_t>(c)] = 0.5 * (data_.points[static_cast<std::size_t>(index(a) * dim_ + c)] +
                                              data_.points[static_cast<std::size_t>(index(b) * dim_ + c)]);
    return middles_[key] = add_point(X, bend_);
  }

  int dim_, n_;
  double jitter_, bend_;
  Random random_;
  MeshData data_;
  std::map<Place, NodeId> vertices_;
  std::vector<Place> places_;  // of the vertices
  std::map<std::pair<NodeId, NodeId>, NodeId> middles_;
};

}  // namespace mesh_detail

}  // namespace tempi::test
