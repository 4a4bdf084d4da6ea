// SPDX-License-Identifier: Apache-2.0
#include "bodies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

#include "tempi/element/elastic_cells.hpp"

namespace tempi::bench {
namespace {

using Place = std::array<int, 3>;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1.0p-53;
  }

 private:
  std::mt19937_64 engine_;
};

int dim_of(CellType type) { return info(type).dim; }
bool quadratic(CellType type) { return !mid_edges(type).empty(); }

class Lattice {
 public:
  explicit Lattice(const BlockShape& shape) : shape_(shape), dim_(dim_of(shape.type)), random_(shape.seed) {
    const double cells_per_cube = dim_ == 3 ? 6.0 : dim_ == 2 ? 2.0 : 1.0;
    const int alike = std::max(2, static_cast<int>(std::lround(
                                      std::pow(static_cast<double>(shape.cells) / cells_per_cube, 1.0 / dim_))));
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim_); ++axis) {
      n_[axis] = shape.divisions[axis] > 0 ? shape.divisions[axis] : alike;
      place_planes(axis);
    }
    add_points();
    add_cells();
  }

  Mesh mesh() && {
    if (shape_.slivers > 0.0) flatten();
    if (quadratic(shape_.type)) add_mid_nodes();
    data_.dim = dim_;
    for (Index a = 0; a < static_cast<Index>(data_.points.size()) / dim_; ++a) data_.point_labels.push_back(a + 1);
    for (std::size_t c = 0; c < simplices_.size(); ++c) {
      std::vector<NodeId> nodes;
      for (const Index a : simplices_[c]) nodes.push_back(make_id<NodeId>(a));
      data_.cells.push_back(shape_.type, nodes, static_cast<Index>(c) + 1);
    }
    return Mesh(std::move(data_));
  }

 private:
  // Spacings grow in geometric progression over the first quarter of the axis and are equal beyond; then the power.
  void place_planes(std::size_t axis) {
    const int n = n_[axis];
    std::vector<double>& planes = planes_[axis];
    planes = {0.0};
    for (int i = 0; i < n; ++i) {
      const double part = std::min(1.0, (i + 0.5) / (0.25 * n));
      planes.push_back(planes.back() + std::pow(shape_.grading, part - 1.0));
    }
    const double length = planes.back();
    for (double& x : planes) x = std::pow(x / length, shape_.power[axis]);
  }
  double spacing(std::size_t axis, int i) const {  // of the two cells around plane i the smaller
    const auto k = static_cast<std::size_t>(i);
    const std::vector<double>& planes = planes_[axis];
    return std::min(planes[k] - planes[k - 1], planes[k + 1] - planes[k]);
  }

  Index number(const Place& p) const { return p[0] + (n_[0] + 1) * (p[1] + static_cast<Index>(n_[1] + 1) * p[2]); }

  void add_points() {
    for (int k = 0; k <= n_[2]; ++k)
      for (int j = 0; j <= n_[1]; ++j)
        for (int i = 0; i <= n_[0]; ++i) {
          const Place p{i, j, k};
          for (std::size_t c = 0; c < static_cast<std::size_t>(dim_); ++c) {
            const bool inside = p[c] > 0 && p[c] < n_[c];
            const double by = shape_.jitter * random_.uniform(-1.0, 1.0);
            data_.points.push_back(planes_[c][static_cast<std::size_t>(p[c])] + (inside ? by * spacing(c, p[c]) : 0.0));
          }
        }
  }

  // Each cube in the simplices around one diagonal (Kuhn).
  void add_cells() {
    std::vector<std::vector<int>> orders = {{0}};
    if (dim_ == 2) orders = {{0, 1}, {1, 0}};
    if (dim_ == 3) orders = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int k = 0; k < std::max(n_[2], 1); ++k)
      for (int j = 0; j < std::max(n_[1], 1); ++j)
        for (int i = 0; i < n_[0]; ++i)
          for (std::size_t o = 0; o < orders.size(); ++o) {
            Place at{i, j, k};
            std::vector<Index> nodes = {number(at)};
            for (const int axis : orders[o]) {
              ++at[static_cast<std::size_t>(axis)];
              nodes.push_back(number(at));
            }
            const bool odd = dim_ > 1 && o >= orders.size() / 2;
            if (odd) std::swap(nodes[1], nodes[2]);
            simplices_.push_back(std::move(nodes));
          }
  }

  double* point(Index a) { return &data_.points[static_cast<std::size_t>(a * dim_)]; }

  // Moves one vertex of chosen cells towards the middle of the opposite side; no two moved vertices share a cell.
  void flatten() {
    std::vector<bool> near_moved(data_.points.size() / static_cast<std::size_t>(dim_), false);
    std::vector<std::vector<Index>> around(near_moved.size());
    for (std::size_t c = 0; c < simplices_.size(); ++c)
      for (const Index a : simplices_[c]) around[static_cast<std::size_t>(a)].push_back(static_cast<Index>(c));
    auto left = static_cast<Index>(shape_.slivers * static_cast<double>(simplices_.size()));
    for (Index tries = 0; left > 0 && tries < 50 * static_cast<Index>(simplices_.size()); ++tries) {
      const auto c = static_cast<std::size_t>(random_.uniform(0.0, static_cast<double>(simplices_.size())));
      const auto& nodes = simplices_[c];
      const Index moved = nodes[static_cast<std::size_t>(random_.uniform(0.0, static_cast<double>(nodes.size())))];
      const bool free = !near_moved[static_cast<std::size_t>(moved)] && inside(moved);
      if (!free) continue;
      const std::vector<double> before(point(moved), point(moved) + dim_);
      const auto& star = around[static_cast<std::size_t>(moved)];
      std::vector<double> volumes;
      for (const Index cell : star) volumes.push_back(volume(cell));
      for (int i = 0; i < dim_; ++i) {
        double middle = 0.0;
        for (const Index a : nodes)
          if (a != moved) middle += point(a)[i] / dim_;
        point(moved)[i] = middle + shape_.flatness * (point(moved)[i] - middle);
      }
      bool too_flat = false;
      for (std::size_t k = 0; k < star.size(); ++k)
        too_flat = too_flat || volume(star[k]) < 0.99 * shape_.flatness * volumes[k];
      if (too_flat) {
        std::ranges::copy(before, point(moved));
        continue;
      }
      for (const Index cell : star)
        for (const Index a : simplices_[static_cast<std::size_t>(cell)]) near_moved[static_cast<std::size_t>(a)] = true;
      --left;
    }
  }

  double volume(Index cell) {
    const auto& nodes = simplices_[static_cast<std::size_t>(cell)];
    std::array<std::array<double, 3>, 3> e = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim_); ++a)
      for (int i = 0; i < dim_; ++i) e[a][static_cast<std::size_t>(i)] = point(nodes[a + 1])[i] - point(nodes[0])[i];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
  }

  bool inside(Index a) const {
    for (std::size_t c = 0; c < static_cast<std::size_t>(dim_); a /= n_[c++] + 1)
      if (a % (n_[c] + 1) == 0 || a % (n_[c] + 1) == n_[c]) return false;
    return true;
  }

  void add_mid_nodes() {
    std::map<std::pair<Index, Index>, Index> middle;
    for (auto& nodes : simplices_)
      for (const auto& [i, j] : mid_edges(shape_.type)) {
        const Index a = nodes[static_cast<std::size_t>(i)], b = nodes[static_cast<std::size_t>(j)];
        const auto [found, fresh] =
            middle.try_emplace(std::minmax(a, b), static_cast<Index>(data_.points.size()) / dim_);
        if (fresh) {
          double length = 0.0;
          for (int c = 0; c < dim_; ++c) length += std::abs(point(b)[c] - point(a)[c]);
          for (int c = 0; c < dim_; ++c)
            data_.points.push_back(0.5 * (point(a)[c] + point(b)[c]) +
                                   shape_.bend * length * random_.uniform(-0.5, 0.5));
        }
        nodes.push_back(found->second);
      }
  }

  BlockShape shape_;
  int dim_;
  Place n_{};  // divisions
  std::array<std::vector<double>, 3> planes_;
  Random random_;
  MeshData data_;
  std::vector<std::vector<Index>> simplices_;
};

Material softer(Material material, double factor) {
  std::visit([&](auto& m) { m.lame = {m.lame.lambda * factor, m.lame.mu * factor}; }, material);
  return material;
}

}  // namespace

Mesh block(const BlockShape& shape) { return Lattice(shape).mesh(); }

Body body_of(Mesh mesh, const std::vector<Stuff>& stuffs, const WhichStuff& which, MassShares shares) {
  Body body;
  body.mesh = std::make_unique<Mesh>(std::move(mesh));
  std::vector<std::vector<CellId>> cells(stuffs.size());
  for (Index c = 0; c < body.mesh->cells().size(); ++c)
    cells[which(*body.mesh, make_id<CellId>(c))].push_back(make_id<CellId>(c));
  Model::Parts parts;
  parts.dim = body.mesh->dim();
  parts.shares = shares;
  parts.reference.assign(body.mesh->points().begin(), body.mesh->points().end());
  parts.mass.assign(static_cast<std::size_t>(body.mesh->node_count()), 0.0);
  for (std::size_t m = 0; m < stuffs.size(); ++m)
    if (!cells[m].empty())
      parts.add(make_elastic_cells(*body.mesh, body.mesh->cells().types.front(), std::move(cells[m]),
                                   stuffs[m].material, stuffs[m].density));
  body.model = std::make_unique<Model>(std::move(parts));
  return body;
}

Body body_of(Mesh mesh, const Material& material, bool two_materials, MassShares shares) {
  constexpr double density = 7800.0;
  return body_of(
      std::move(mesh), {{material, density}, {softer(material, 1.0 / 16.0), density}},
      [&](const Mesh& m, CellId cell) {
        return two_materials && m.centroid(cell)[0] > 0.5 ? std::size_t{1} : std::size_t{0};
      },
      shares);
}

State shaken(const Body& body, unsigned seed) {
  State state = reference_state(*body.model);
  Random random(seed);
  constexpr double speed = 5.0;  // [m/s], a thousandth of the wave speed
  for (double& v : state.velocity) v = random.uniform(-speed, speed);
  return state;
}

}  // namespace tempi::bench
