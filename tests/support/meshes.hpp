// SPDX-License-Identifier: Apache-2.0
// Small distorted bodies of every element, built in memory: the unit interval, square and cube, cut into simplices.
//
// Points are numbered from label 1, cells likewise, facets behind the cells. Groups: "body" (all cells), "left" and
// "right" (the facets at X = 0 and X = 1 of the undistorted lattice), "boundary" (all facets). `jitter` and `bend` move
// vertices and mid-edge nodes by at most that part of the lattice spacing in each direction, boundary included; only
// the plane X = 0 stays plane. Up to jitter 0.15 and bend 0.06 no cell folds.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/lattice.hpp"
#include "tempi/element/elastic_cells.hpp"
#include "tempi/force/loads.hpp"
#include "tempi/mesh/facets.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/model/model.hpp"
#include "tempi/model/state.hpp"

namespace tempi::test {

inline Mesh bar_mesh(int cells, double jitter = 0.0, unsigned seed = 1) {
  mesh_detail::Lattice lattice(1, cells, jitter, 0.0, seed);
  for (int i = 0; i < cells; ++i) lattice.add_cell(CellType::line2, {{i, 0, 0}, {i + 1, 0, 0}});
  return lattice.mesh();
}

// n x n squares, each cut in two along alternating diagonals.
inline Mesh triangle_mesh(CellType type, int n, double jitter = 0.0, unsigned seed = 1, double bend = 0.0) {
  mesh_detail::Lattice lattice(2, n, jitter, bend, seed);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const std::array<int, 3> a{i, j, 0}, b{i + 1, j, 0}, c{i + 1, j + 1, 0}, d{i, j + 1, 0};
      if ((i + j) % 2 == 0) {
        lattice.add_cell(type, {a, b, c});
        lattice.add_cell(type, {a, c, d});
      } else {
        lattice.add_cell(type, {a, b, d});
        lattice.add_cell(type, {b, c, d});
      }
    }
  return lattice.mesh();
}

// n x n x n cubes, each cut into the six tetrahedra around one diagonal (Kuhn).
inline Mesh tetrahedron_mesh(CellType type, int n, double jitter = 0.0, unsigned seed = 1, double bend = 0.0) {
  mesh_detail::Lattice lattice(3, n, jitter, bend, seed);
  struct Path {
    std::array<std::size_t, 3> axes;
    bool even;
  };
  constexpr std::array<Path, 6> paths = {{{{0, 1, 2}, true},
                                          {{1, 2, 0}, true},
                                          {{2, 0, 1}, true},
                                          {{0, 2, 1}, false},
                                          {{2, 1, 0}, false},
                                          {{1, 0, 2}, false}}};
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
        for (const Path& path : paths) {
          std::vector<std::array<int, 3>> v = {{i, j, k}};
          for (const std::size_t axis : path.axes) {
            v.push_back(v.back());
            ++v.back()[axis];
          }
          if (!path.even) std::swap(v[1], v[2]);
          lattice.add_cell(type, v);
        }
  return lattice.mesh();
}

// A mesh of the given cells over the given points, labels from 1; no facets, no groups.
inline Mesh mesh_of(int dim, std::vector<double> points, CellType type, const std::vector<std::vector<int>>& cells) {
  MeshData data;
  data.dim = dim;
  data.points = std::move(points);
  for (std::size_t a = 0; a < data.points.size() / static_cast<std::size_t>(dim); ++a)
    data.point_labels.push_back(static_cast<Index>(a) + 1);
  for (const auto& cell : cells) {
    std::vector<NodeId> nodes;
    for (const int a : cell) nodes.push_back(make_id<NodeId>(a));
    data.cells.push_back(type, nodes, data.cells.size() + 1);
  }
  return Mesh(std::move(data));
}

// The same cells, all of one type, over other points.
inline Mesh moved(const Mesh& mesh, std::span<const double> points) {
  std::vector<std::vector<int>> cells;
  for (Index c = 0; c < mesh.cells().size(); ++c) {
    cells.emplace_back();
    for (const NodeId a : mesh.cells()[c]) cells.back().push_back(static_cast<int>(index(a)));
  }
  return mesh_of(mesh.dim(), {points.begin(), points.end()}, mesh.cells().types.front(), cells);
}

// One distorted mesh per element, with a name for messages. Curved ones have bent edges and faces.
struct MeshCase {
  std::string name;
  std::function<Mesh()> make;
  bool curved = false;
  friend void PrintTo(const MeshCase& c, std::ostream* out) { *out << c.name; }
};
inline std::vector<MeshCase> mesh_cases() {
  using enum CellType;
  return {{"bar", [] { return bar_mesh(5, 0.15, 11); }},
          {"triangle3", [] { return triangle_mesh(triangle3, 3, 0.15, 12); }},
          {"triangle6_straight", [] { return triangle_mesh(triangle6, 3, 0.15, 13); }},
          {"triangle6_curved", [] { return triangle_mesh(triangle6, 3, 0.15, 14, 0.06); }, true},
          {"tetrahedron4", [] { return tetrahedron_mesh(tetrahedron4, 2, 0.15, 15); }},
          {"tetrahedron10_straight", [] { return tetrahedron_mesh(tetrahedron10, 2, 0.15, 16); }},
          {"tetrahedron10_curved", [] { return tetrahedron_mesh(tetrahedron10, 2, 0.12, 17, 0.05); }, true}};
}

inline const Group& group(const Mesh& mesh, std::string_view name) {
  for (const Group& g : mesh.groups())
    if (g.name == name) return g;
  throw std::out_of_range("no group " + std::string(name));
}

// The facets of a group, seen from their cells.
inline std::vector<CellFacet> facets_of(const Mesh& mesh, std::string_view name) {
  const FacetFinder find(mesh);
  std::vector<CellFacet> result;
  for (const FacetId f : group(mesh, name).facets) result.push_back(find(f).front());
  return result;
}

// The nodes of a group's facets, ascending, each once.
inline std::vector<NodeId> nodes_of(const Mesh& mesh, std::string_view name) {
  std::vector<NodeId> nodes;
  for (const FacetId f : group(mesh, name).facets)
    for (const NodeId a : mesh.facets()[index(f)]) nodes.push_back(a);
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

// Every component of the group's nodes at rest.
inline Supports held_at_rest(const Mesh& mesh, std::string_view name) {
  Support support;
  support.name = name;
  support.nodes = nodes_of(mesh, name);
  for (int c = 0; c < mesh.dim(); ++c) support.motion[static_cast<std::size_t>(c)] = Support::Motion::at_rest;
  std::vector<Support> all;
  all.push_back(std::move(support));
  return Supports(std::move(all), mesh.points(), mesh.dim());
}

// What a term brings to the masses of its nodes.
inline std::vector<double> masses(const Potential& potential, Index k) {
  std::vector<double> all;
  for (std::size_t a = 0; a < potential.stencil(k).size(); ++a) all.push_back(potential.mass(k, a));
  return all;
}

// Reference positions, lumped masses and one potential per cell type, all cells of one material; `mesh` must outlive
// what is made of the parts.
inline Model::Parts elastic_parts(const Mesh& mesh, const Material& material, double density) {
  Model::Parts parts;
  parts.dim = mesh.dim();
  parts.reference.assign(mesh.points().begin(), mesh.points().end());
  parts.mass.assign(static_cast<std::size_t>(mesh.node_count()), 0.0);
  std::map<CellType, std::vector<CellId>> by_type;
  for (Index c = 0; c < mesh.cells().size(); ++c)
    by_type[mesh.cells().types[static_cast<std::size_t>(c)]].push_back(make_id<CellId>(c));
  for (auto& [type, cells] : by_type) {
    auto potential = make_elastic_cells(mesh, type, std::move(cells), material, density);
    parts.add(std::move(potential));
  }
  return parts;
}

// Attaches a load to the terms of its host cells. All potentials of `parts` must be elastic cells.
inline void add_force(Model::Parts& parts, CellLoad load) {
  std::map<CellId, TermId> term_of;
  Index next = 0;
  for (const auto& potential : parts.potentials)
    for (Index k = 0; k < potential->size(); ++k)
      term_of[dynamic_cast<const ElasticCells&>(*potential).cell(k)] = make_id<TermId>(next++);
  std::vector<TermId> hosts;
  for (const CellId cell : load.hosts) hosts.push_back(term_of.at(cell));
  parts.forces.push_back(std::move(load.force));
  parts.hosts.push_back(std::move(hosts));
}

inline std::unique_ptr<Model> make_model(const Mesh& mesh, const Material& material, double density,
                                         Supports supports = {}) {
  Model::Parts parts = elastic_parts(mesh, material, density);
  parts.supports = std::move(supports);
  return std::make_unique<Model>(std::move(parts));
}

// A mesh and a model over it, kept alive together; may be moved.
struct Body {
  std::unique_ptr<Mesh> mesh;
  std::unique_ptr<Model> model;

  const ElasticCells& cells(Index potential = 0) const {
    return dynamic_cast<const ElasticCells&>(model->potential(potential));
  }
};
inline Body make_body(Mesh mesh, const Material& material, double density) {
  Body body;
  body.mesh = std::make_unique<Mesh>(std::move(mesh));
  body.model = make_model(*body.mesh, material, density);
  return body;
}
inline Body make_body_held_at(Mesh mesh, const Material& material, double density, std::string_view name) {
  Body body;
  body.mesh = std::make_unique<Mesh>(std::move(mesh));
  body.model = make_model(*body.mesh, material, density, held_at_rest(*body.mesh, name));
  return body;
}

// One of each material, with Lame constants that are no round multiples of each other [Pa].
inline std::vector<Material> materials(Lame lame = {1.3, 0.7}) {
  return {NeoHookean{lame}, SaintVenantKirchhoff{lame}, LinearElastic{lame}};
}
inline std::string name_of(const Material& material) {
  return std::visit([](const auto& m) { return std::string(m.name); }, material);
}
inline bool is_frame_indifferent(const Material& material) { return !std::holds_alternative<LinearElastic>(material); }

// Random displacements within +-amplitude in each component.
inline std::vector<double> random_displacements(const Mesh& mesh, double amplitude, unsigned seed) {
  Random random(seed);
  std::vector<double> u(mesh.points().size());
  for (double& value : u) value = random.uniform(-amplitude, amplitude);
  return u;
}

// u = c + A X at every node; A row major.
inline std::vector<double> affine_displacements(const Mesh& mesh, const std::vector<double>& A,
                                                const std::vector<double>& c) {
  const auto d = static_cast<std::size_t>(mesh.dim());
  std::vector<double> u(mesh.points().size());
  for (std::size_t i = 0; i < u.size(); ++i) {
    u[i] = c[i % d];
    for (std::size_t j = 0; j < d; ++j) u[i] += A[i % d * d + j] * mesh.points()[i - i % d + j];
  }
  return u;
}

// A rotation: by `angle` in the plane, about an axis along (1, 2, 3) in space, none in 1-D. Row major.
inline std::vector<double> rotation(int dim, double angle) {
  if (dim == 1) return {1.0};
  const double c = std::cos(angle), s = std::sin(angle);
  if (dim == 2) return {c, -s, s, c};
  const double n = std::sqrt(14.0);
  const std::array<double, 3> k = {1.0 / n, 2.0 / n, 3.0 / n};
  std::vector<double> R(9);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) R[i * 3 + j] = (i == j ? c : 0.0) + (1.0 - c) * k[i] * k[j];
  R[1] -= s * k[2], R[2] += s * k[1], R[3] += s * k[2], R[5] -= s * k[0], R[6] -= s * k[1], R[7] += s * k[0];
  return R;
}

// u = c + (R - 1) X with the rotation above.
inline std::vector<double> rigid_displacements(const Mesh& mesh, double angle, const std::vector<double>& c) {
  std::vector<double> A = rotation(mesh.dim(), angle);
  for (int i = 0; i < mesh.dim(); ++i) A[static_cast<std::size_t>(i * mesh.dim() + i)] -= 1.0;
  return affine_displacements(mesh, A, c);
}

}  // namespace tempi::test
