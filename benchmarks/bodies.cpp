// SPDX-License-Identifier: Apache-2.0
#include "bodies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

#include "tempi/potential/elastic_cells.hpp"

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
    n_ = std::max(2, static_cast<int>(
                         std::lround(std::pow(static_cast<double>(shape.cells) / cells_per_cube, 1.0 / dim_))));
    place_planes();
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
  // Spacings grow in geometric progression over the first quarter of the axis and are equal beyond.
  void place_planes() {
    planes_ = {0.0};
    for (int i = 0; i < n_; ++i) {
      const double part = std::min(1.0, (i + 0.5) / (0.25 * n_));
      planes_.push_back(planes_.back() + std::pow(shape_.grading, part - 1.0));
    }
    const double length = planes_.back();
    for (double& x : planes_) x /= length;
  }
  double spacing(int i) const {  // of the two cells around plane i the smaller
    const auto k = static_cast<std::size_t>(i);
    return std::min(planes_[k] - planes_[k - 1], planes_[k + 1] - planes_[k]);
  }

  Index number(const Place& p) const { return p[0] + (n_ + 1) * (p[1] + static_cast<Index>(n_ + 1) * p[2]); }

  void add_points() {
    const int ny = dim_ > 1 ? n_ : 0, nz = dim_ > 2 ? n_ : 0;
    for (int k = 0; k <= nz; ++k)
      for (int j = 0; j <= ny; ++j)
        for (int i = 0; i <= n_; ++i) {
          const Place p{i, j, k};
          for (int c = 0; c < dim_; ++c) {
            const int at = p[static_cast<std::size_t>(c)];
            const bool inside = at > 0 && at < n_;
            const double by = shape_.jitter * random_.uniform(-1.0, 1.0);
            data_.points.push_back(planes_[static_cast<std::size_t>(at)] + (inside ? by * spacing(at) : 0.0));
          }
        }
  }

  // Each cube in the simplices around one diagonal (Kuhn).
  void add_cells() {
    std::vector<std::vector<int>> orders = {{0}};
    if (dim_ == 2) orders = {{0, 1}, {1, 0}};
    if (dim_ == 3) orders = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    const int ny = dim_ > 1 ? n_ : 1, nz = dim_ > 2 ? n_ : 1;
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < ny; ++j)
        for (int i = 0; i < n_; ++i)
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
    for (int c = 0; c < dim_; ++c, a /= n_ + 1)
      if (a % (n_ + 1) == 0 || a % (n_ + 1) == n_) return false;
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
  int dim_, n_ = 0;
  std::vector<double> planes_;
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

Body body_of(Mesh mesh, const Material& material, bool two_materials, MassShares shares) {
  constexpr double density = 7800.0;
  Body body;
  body.mesh = std::make_unique<Mesh>(std::move(mesh));
  std::array<std::vector<CellId>, 2> cells;
  for (Index c = 0; c < body.mesh->cells().size(); ++c) {
    const bool far = two_materials && body.mesh->centroid(make_id<CellId>(c))[0] > 0.5;
    cells[far ? 1 : 0].push_back(make_id<CellId>(c));
  }
  Model::Parts parts;
  parts.dim = body.mesh->dim();
  parts.shares = shares;
  parts.reference.assign(body.mesh->points().begin(), body.mesh->points().end());
  parts.mass.assign(static_cast<std::size_t>(body.mesh->node_count()), 0.0);
  for (std::size_t m = 0; m < 2; ++m) {
    if (cells[m].empty()) continue;
    auto potential = make_elastic_cells(*body.mesh, body.mesh->cells().types.front(), std::move(cells[m]),
                                        m == 0 ? material : softer(material, 1.0 / 16.0), density);
    parts.add(std::move(potential));
  }
  body.model = std::make_unique<Model>(std::move(parts));
  return body;
}

State shaken(const Body& body, unsigned seed) {
  State state = reference_state(*body.model);
  Random random(seed);
  constexpr double speed = 5.0;  // [m/s], a thousandth of the wave speed
  for (double& v : state.velocity) v = random.uniform(-speed, speed);
  return state;
}

}  // namespace tempi::bench
