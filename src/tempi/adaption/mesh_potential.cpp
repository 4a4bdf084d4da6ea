// SPDX-License-Identifier: Apache-2.0
#include "tempi/adaption/mesh_potential.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "tempi/core/compensated_sum.hpp"
#include "tempi/mesh/elements.hpp"
#include "tempi/mesh/quality.hpp"

namespace tempi {
namespace {

// A cell's point in its first place.
template <int D>
struct Point {
  double volume, barrier;                                 // what it stands for of W, of the barrier
  std::array<std::array<double, D>, 4> along_vertices{};  // gradients of what vertices, with the middles, move
  std::array<std::array<double, D>, 10> dN{};
};

// Gradients of the shape functions on the reference cell, at a node of it.
template <int D>
std::array<std::array<double, D>, 10> reference_gradients(CellType type, std::size_t node) {
  std::array<std::array<double, D>, 10> all{};
  any_cell_element([&]<class E>(E, CellShape) {
    using Element = typename E::Element;
    if constexpr (Element::dim == D && Element::nodes > D + 1) {
      if (Element::type != type) return false;
      typename Element::Point xi{};  // of vertex v: e_v, of the first 0
      const auto corner = [&](std::size_t v, double part) {
        if (v > 0) xi[v - 1] += part;
      };
      if (node <= D) {
        corner(node, 1.0);
      } else {
        for (const int end : mid_edges(type)[node - D - 1]) corner(static_cast<std::size_t>(end), 0.5);
      }
      const auto dN = Element::derivative(xi);
      std::copy(dN.begin(), dN.end(), all.begin());
      return true;
    }
    return false;
  });
  return all;
}

// A cell's points in its first place: those of its rule, and of a curved one its nodes, where it would fold first: they
// have no volume of their own, but a share of the barrier.
template <int D>
class Points {
 public:
  Points(const Mesh& mesh, const ElasticCells& cells, Index k) : mesh_(mesh), cells_(cells), k_(k) {
    type_ = mesh.cells().types[ordinal(cells.cell(k))];
    rule_ = cells.point_count();
    curved_ = info(type_).nodes > info(type_).vertices && !is_straight(mesh, cells.cell(k));
    for (Index q = 0; q < rule_; ++q) volume_ += cells.at_point(k, q).volume;
  }

  std::size_t vertices() const { return static_cast<std::size_t>(info(type_).vertices); }
  double volume() const { return volume_; }
  Index count() const { return rule_ + (curved_ ? info(type_).nodes : 0); }
  // None where the cell has no volume to begin with.
  std::optional<Point<D>> operator[](Index i) const {
    Point<D> p{};
    if (i < rule_) {
      const CellPoint at = cells_.at_point(k_, i);
      p.volume = at.volume;
      p.barrier = curved_ ? 0.0 : at.volume;
      for (std::size_t a = 0; a < nodes(); ++a)
        for (std::size_t J = 0; J < D; ++J) p.dN[a][J] = at.dN[a][J];
    } else {
      p.barrier = volume_ / static_cast<double>(nodes());
      const auto dN = reference_gradients<D>(type_, static_cast<std::size_t>(i - rule_));
      Mat<double, D> J0;
      for (std::size_t a = 0; a < nodes(); ++a)
        for (int c = 0; c < D; ++c)
          for (int j = 0; j < D; ++j)
            J0(c, j) +=
                mesh_.point(cells_.stencil(k_)[a])[static_cast<std::size_t>(c)] * dN[a][static_cast<std::size_t>(j)];
      const double det = determinant(J0);
      if (!(det > 0.0)) return std::nullopt;
      const Mat<double, D> back = (1.0 / det) * cofactor(J0);  // J0^{-T}
      for (std::size_t a = 0; a < nodes(); ++a)
        for (int J = 0; J < D; ++J)
          for (int j = 0; j < D; ++j)
            p.dN[a][static_cast<std::size_t>(J)] += back(J, j) * dN[a][static_cast<std::size_t>(j)];
    }
    for (std::size_t v = 0; v < vertices(); ++v) p.along_vertices[v] = p.dN[v];
    std::size_t middle = vertices();
    for (const auto& [a, b] : mid_edges(type_)) {
      for (const int end : {a, b})
        for (std::size_t J = 0; J < D; ++J) p.along_vertices[static_cast<std::size_t>(end)][J] += 0.5 * p.dN[middle][J];
      ++middle;
    }
    return p;
  }

 private:
  std::size_t nodes() const { return static_cast<std::size_t>(info(type_).nodes); }

  const Mesh& mesh_;
  const ElasticCells& cells_;
  Index k_, rule_;
  CellType type_;
  bool curved_;
  double volume_ = 0.0;
};

template <int D>
struct Configuration {
  Mat<double, D> A, inverse, H;
  double det_A, det_F;
};

template <int D>
Configuration<D> configuration(const Point<D>& p, std::span<const NodeId> nodes, std::size_t vertices,
                               std::span<const double> moved, std::span<const double> u) {
  Configuration<D> c;
  Mat<double, D> G;
  c.A = identity<double, D>();
  for (int i = 0; i < D; ++i)
    for (int J = 0; J < D; ++J) {
      const auto along = static_cast<std::size_t>(J);
      for (std::size_t v = 0; v < vertices; ++v)
        c.A(i, J) += moved[ordinal(nodes[v]) * D + static_cast<std::size_t>(i)] * p.along_vertices[v][along];
      for (std::size_t a = 0; a < nodes.size(); ++a)
        G(i, J) += u[ordinal(nodes[a]) * D + static_cast<std::size_t>(i)] * p.dN[a][along];
    }
  c.det_A = determinant(c.A);
  c.inverse = transpose((1.0 / c.det_A) * cofactor(c.A));
  c.H = G * c.inverse;
  c.det_F = determinant(identity<double, D>() + c.H);
  return c;
}

// b(s), b'(s), b''(s).
std::array<double, 3> barrier_of(double s) {
  if (!(s < 1.0)) return {0.0, 0.0, 0.0};
  const double r = 1.0 - s, q = r / s;
  return {r * r * q, -3.0 * r * q - r * q * q, 6.0 * q + 6.0 * q * q + 2.0 * q * q * q};
}

double scale_of(const ShapeBarrier& barrier, CellId cell) {
  return barrier.scale.empty() ? 0.0 : barrier.scale[ordinal(cell)];
}

template <int D>
double shape_of(const Configuration<D>& c) {
  return D * std::pow(c.det_A, 2.0 / D) / inner(c.A, c.A);
}

// What one point adds to the derivatives of its cell. With p_v = A^-T dN_v/dX0 and r_a likewise,
//
//   d(det A) = det A p_v[j],   dH = -(H e_j) (x) p_v   by X_vj,   dH = e_i (x) r_a   by u_ai.
template <int D>
class DerivativesAtPoint {
  using Vec = std::array<double, D>;

 public:
  DerivativesAtPoint(const Point<D>& point, const Configuration<D>& c, MeshPotential::CellDerivatives& out)
      : point_(point),
        c_(c),
        out_(out),
        V_(out.vertices),
        N_(out.nodes.size()),
        size_((V_ + N_) * D),
        volume_(point.volume * c.det_A) {
    const Mat<double, D> back = transpose(c.inverse);
    for (std::size_t v = 0; v < V_; ++v) p_[v] = times(back, point.along_vertices[v]);
    for (std::size_t a = 0; a < N_; ++a) r_[a] = times(back, point.dN[a]);
  }

  // det A W(H); W [J/m^3].
  double add_strain(const Material& material) {
    return std::visit(
        [&](const auto& law) {
          const double W = law.template energy<double, D>(c_.H);
          const Mat<double, D> P = law.template stress<double, D>(c_.H).P;
          add_tangent(law.template tangent<double, D>(c_.H));
          add_stress(P, W);
          return W;
        },
        material);
  }

  // -det A fall(u), fall linear with `weights`.
  void add_fall(double fall, std::span<const double> weights) {
    add_volume(-fall);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::size_t m = V_ * D + i;
      out_.gradient[m] -= volume_ * weights[i];
      for (std::size_t w = 0; w < V_; ++w)
        for (std::size_t l = 0; l < D; ++l) add_both(m, w * D + l, -volume_ * p_[w][l] * weights[i]);
    }
  }

  void add_metric(double stiffness) {
    for (std::size_t v = 0; v < V_; ++v)
      for (std::size_t w = 0; w < V_; ++w)
        for (std::size_t j = 0; j < D; ++j) out_.metric[v * V_ + w] += volume_ * stiffness * p_[v][j] * p_[w][j];
  }

  void add_barrier(const ShapeBarrier& barrier, double scale) {
    const double strength = point_.barrier * barrier.weight * scale;
    add_barrier_of(c_.det_A / barrier.least_size, strength, p_,
                   [&](std::size_t v, std::size_t j, std::size_t w, std::size_t l) { return -p_[v][l] * p_[w][j]; });
    const double squared = inner(c_.A, c_.A);
    std::array<Vec, 4> Am{}, t{};
    for (std::size_t v = 0; v < V_; ++v) {
      Am[v] = times(c_.A, point_.along_vertices[v]);
      for (std::size_t j = 0; j < D; ++j) t[v][j] = 2.0 / D * p_[v][j] - 2.0 * Am[v][j] / squared;
    }
    add_barrier_of(shape_of(c_) / barrier.least_shape, strength, t,
                   [&](std::size_t v, std::size_t j, std::size_t w, std::size_t l) {
                     double both = 0.0;
                     for (std::size_t i = 0; i < D && j == l; ++i)
                       both += point_.along_vertices[v][i] * point_.along_vertices[w][i];
                     return -2.0 / D * p_[v][l] * p_[w][j] - 2.0 * both / squared +
                            4.0 * Am[v][j] * Am[w][l] / (squared * squared);
                   });
  }

 private:
  static Vec times(const Mat<double, D>& m, const Vec& x) {
    Vec y{};
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) y[static_cast<std::size_t>(i)] += m(i, j) * x[static_cast<std::size_t>(j)];
    return y;
  }
  double& hessian(std::size_t row, std::size_t column) { return out_.hessian[row * size_ + column]; }
  void add_both(std::size_t row, std::size_t column, double value) {
    hessian(row, column) += value;
    hessian(column, row) += value;
  }

  // density det A, density held.
  void add_volume(double density) {
    for (std::size_t v = 0; v < V_; ++v)
      for (std::size_t j = 0; j < D; ++j) {
        out_.gradient[v * D + j] += volume_ * density * p_[v][j];
        for (std::size_t w = 0; w < V_; ++w)
          for (std::size_t l = 0; l < D; ++l)
            hessian(v * D + j, w * D + l) += volume_ * density * (p_[v][j] * p_[w][l] - p_[v][l] * p_[w][j]);
      }
  }

  // dH : C : dH.
  void add_tangent(const Tangent<double, D>& C) {
    std::array<Mat<double, D>, 42> dH{}, CdH{};
    for (int i = 0; i < D; ++i)
      for (std::size_t L = 0; L < D; ++L) {
        for (std::size_t v = 0; v < V_; ++v)
          for (int j = 0; j < D; ++j)
            dH[v * D + static_cast<std::size_t>(j)](i, static_cast<int>(L)) = -c_.H(i, j) * p_[v][L];
        for (std::size_t a = 0; a < N_; ++a)
          dH[(V_ + a) * D + static_cast<std::size_t>(i)](i, static_cast<int>(L)) = r_[a][L];
      }
    for (std::size_t m = 0; m < size_; ++m)
      for (std::size_t row = 0; row < D * D; ++row)
        for (std::size_t column = 0; column < D * D; ++column)
          CdH[m].a[row] += C(static_cast<int>(row), static_cast<int>(column)) * dH[m].a[column];
    for (std::size_t m = 0; m < size_; ++m)
      for (std::size_t n = 0; n < size_; ++n) hessian(m, n) += volume_ * inner(dH[m], CdH[n]);
  }

  // What W and P make of the first and second changes of det A and H.
  void add_stress(const Mat<double, D>& P, double W) {
    add_volume(W);
    const Mat<double, D> HtP = transpose(c_.H) * P;
    std::array<Vec, 4> HtPp{}, Pp{};
    for (std::size_t v = 0; v < V_; ++v) {
      HtPp[v] = times(HtP, p_[v]);
      Pp[v] = times(P, p_[v]);
    }
    for (std::size_t v = 0; v < V_; ++v)
      for (std::size_t j = 0; j < D; ++j) {
        out_.gradient[v * D + j] -= volume_ * HtPp[v][j];
        for (std::size_t w = 0; w < V_; ++w)
          for (std::size_t l = 0; l < D; ++l)
            hessian(v * D + j, w * D + l) += volume_ * (HtPp[w][j] * p_[v][l] + HtPp[v][l] * p_[w][j] -
                                                        p_[v][j] * HtPp[w][l] - p_[w][l] * HtPp[v][j]);
      }
    for (std::size_t a = 0; a < N_; ++a) {
      const Vec Pr = times(P, r_[a]);
      for (std::size_t i = 0; i < D; ++i) {
        const std::size_t m = (V_ + a) * D + i;
        out_.gradient[m] += volume_ * Pr[i];
        for (std::size_t w = 0; w < V_; ++w)
          for (std::size_t l = 0; l < D; ++l)
            add_both(m, w * D + l, volume_ * (p_[w][l] * Pr[i] - r_[a][l] * Pp[w][i]));
      }
    }
  }

  // strength b(s), ds = s t; `change`: of t.
  template <class Change>
  void add_barrier_of(double s, double strength, const std::array<Vec, 4>& t, Change&& change) {
    if (!(s < 1.0)) return;
    out_.barrier_acts = true;
    const auto [value, slope, curvature] = barrier_of(s);
    const double first = strength * slope * s, second = strength * curvature * s * s;
    for (std::size_t v = 0; v < V_; ++v)
      for (std::size_t j = 0; j < D; ++j) {
        out_.barrier_gradient[v * D + j] += first * t[v][j];
        out_.gradient[v * D + j] += first * t[v][j];
        for (std::size_t w = 0; w < V_; ++w)
          for (std::size_t l = 0; l < D; ++l)
            hessian(v * D + j, w * D + l) += (first + second) * t[v][j] * t[w][l] + first * change(v, j, w, l);
      }
  }

  const Point<D>& point_;
  const Configuration<D>& c_;
  MeshPotential::CellDerivatives& out_;
  std::size_t V_, N_, size_;
  double volume_;
  std::array<Vec, 4> p_{};
  std::array<Vec, 10> r_{};
};

}  // namespace

MeshPotential::MeshPotential(const Mesh& mesh, std::span<const ElasticCells* const> cells, MeshLoads loads)
    : cells_(cells.begin(), cells.end()),
      mesh_(mesh),
      dim_(mesh.dim()),
      node_count_(mesh.node_count()),
      loads_(std::move(loads)),
      vertex_(static_cast<std::size_t>(mesh.node_count()), 0) {
  for (const ElasticCells* of : cells_)
    for (Index k = 0; k < of->size(); ++k) volume_ += of->volume(k);
  std::vector<char> known(vertex_.size(), 0);
  for (Index c = 0; c < mesh.cells().size(); ++c) {
    const auto nodes = mesh.cells()[c];
    const CellType type = mesh.cells().types[static_cast<std::size_t>(c)];
    const auto vertices = static_cast<std::size_t>(info(type).vertices);
    for (std::size_t v = 0; v < vertices; ++v) vertex_[ordinal(nodes[v])] = 1;
    std::size_t middle = vertices;
    for (const auto& [a, b] : mid_edges(type)) {
      const NodeId node = nodes[middle++];
      if (std::exchange(known[ordinal(node)], 1) == 0)
        middles_.push_back({node, nodes[static_cast<std::size_t>(a)], nodes[static_cast<std::size_t>(b)]});
    }
  }
}

void MeshPotential::place_mid_nodes(std::span<double> moved) const {
  const auto d = static_cast<std::size_t>(dim_);
  for (const Middle& m : middles_)
    for (std::size_t c = 0; c < d; ++c)
      moved[ordinal(m.node) * d + c] = 0.5 * (moved[ordinal(m.first) * d + c] + moved[ordinal(m.second) * d + c]);
}

MeshPotential::Value MeshPotential::operator()(std::span<const double> moved, std::span<const double> u,
                                               const ShapeBarrier& barrier) const {
  return dim_ == 1   ? value<1>(moved, u, barrier)
         : dim_ == 2 ? value<2>(moved, u, barrier)
                     : value<3>(moved, u, barrier);
}

void MeshPotential::each_cell(std::span<const double> moved, std::span<const double> u, const ShapeBarrier& barrier,
                              const std::function<void(const CellDerivatives&)>& use) const {
  dim_ == 1   ? visit<1>(moved, u, barrier, use)
  : dim_ == 2 ? visit<2>(moved, u, barrier, use)
              : visit<3>(moved, u, barrier, use);
}

std::vector<double> MeshPotential::densities(std::span<const double> u) const {
  std::vector<double> of(static_cast<std::size_t>(mesh_.cells().size()), 0.0);
  for (const ElasticCells* cells : cells_)
    for (Index k = 0; k < cells->size(); ++k)
      of[ordinal(cells->cell(k))] = std::abs(cells->energy(k, u, 0.0)) / cells->volume(k);
  return of;
}

bool MeshPotential::keeps_cells(std::span<const double> moved, std::span<const double> next, double part) const {
  return dim_ == 1   ? keeps<1>(moved, next, part)
         : dim_ == 2 ? keeps<2>(moved, next, part)
                     : keeps<3>(moved, next, part);
}

template <int D>
bool MeshPotential::keeps(std::span<const double> moved, std::span<const double> next, double part) const {
  const std::vector<double> none(moved.size(), 0.0);
  for (const ElasticCells* cells : cells_)
    for (Index k = 0; k < cells->size(); ++k) {
      const Points<D> points(mesh_, *cells, k);
      for (Index q = 0; q < points.count(); ++q) {
        const auto p = points[q];
        if (!p) continue;
        const Configuration<D> before = configuration<D>(*p, cells->stencil(k), points.vertices(), moved, none),
                               after = configuration<D>(*p, cells->stencil(k), points.vertices(), next, none);
        if (!(after.det_A > part * before.det_A) || !(shape_of(after) > part * shape_of(before))) return false;
      }
    }
  return true;
}

template <int D>
MeshPotential::Value MeshPotential::value(std::span<const double> moved, std::span<const double> u,
                                          const ShapeBarrier& barrier) const {
  Value sum;
  CompensatedSum total, barriers;
  for (const ElasticCells* cells : cells_) {
    for (Index k = 0; k < cells->size(); ++k) {
      const auto nodes = cells->stencil(k);
      const Points<D> points(mesh_, *cells, k);
      double strain = 0.0, volume = 0.0;
      for (Index q = 0; q < points.count(); ++q) {
        const auto p = points[q];
        if (!p) continue;
        const Configuration<D> c = configuration<D>(*p, nodes, points.vertices(), moved, u);
        if (!(c.det_A > 0.0) || (p->volume > 0.0 && !(c.det_F > 0.0))) {
          sum.admissible = false;
          return sum;
        }
        if (p->volume > 0.0)
          strain += p->volume * c.det_A *
                    std::visit([&](const auto& law) { return law.template energy<double, D>(c.H); }, cells->material());
        const double shape = shape_of(c);
        sum.least_shape = std::min(sum.least_shape, shape);
        barriers += p->barrier * barrier.weight * scale_of(barrier, cells->cell(k)) *
                    (barrier_of(shape / barrier.least_shape)[0] + barrier_of(c.det_A / barrier.least_size)[0]);
        volume += p->volume * c.det_A;
      }
      sum.strain += std::abs(strain);
      total += strain;
      const auto& b = loads_.of_cells[ordinal(cells->cell(k))];
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t i = 0; i < D; ++i)
          total += -cells->mass(k, a) * volume / points.volume() * b[i] * u[ordinal(nodes[a]) * D + i];
    }
  }
  for (std::size_t i = 0; i < u.size(); ++i) total += -loads_.force[i] * u[i];
  sum.potential = total.value();
  sum.barrier = barriers.value();
  return sum;
}

template <int D>
void MeshPotential::visit(std::span<const double> moved, std::span<const double> u, const ShapeBarrier& barrier,
                          const std::function<void(const CellDerivatives&)>& use) const {
  CellDerivatives out{};
  std::vector<double> weights;  // m_Ka b over the first volume
  for (const ElasticCells* cells : cells_)
    for (Index k = 0; k < cells->size(); ++k) {
      const auto nodes = cells->stencil(k);
      const Points<D> points(mesh_, *cells, k);
      const std::size_t V = points.vertices(), N = nodes.size(), size = (V + N) * D;
      out.nodes = nodes;
      out.vertices = V;
      out.gradient.assign(size, 0.0);
      out.hessian.assign(size * size, 0.0);
      out.metric.assign(V * V, 0.0);
      out.barrier_gradient.assign(V * D, 0.0);
      out.barrier_acts = false;
      const auto& b = loads_.of_cells[ordinal(cells->cell(k))];
      const double scale = scale_of(barrier, cells->cell(k));
      double fall = 0.0;  // sum of the weights . u
      weights.clear();
      for (std::size_t a = 0; a < N; ++a)
        for (std::size_t i = 0; i < D; ++i) {
          weights.push_back(cells->mass(k, a) / points.volume() * b[i]);
          fall += weights.back() * u[ordinal(nodes[a]) * D + i];
        }
      for (Index q = 0; q < points.count(); ++q) {
        const auto point = points[q];
        if (!point) continue;
        const Configuration<D> c = configuration<D>(*point, nodes, V, moved, u);
        DerivativesAtPoint<D> here(*point, c, out);
        if (point->volume > 0.0) {
          const double W = here.add_strain(cells->material());
          here.add_fall(fall, weights);
          here.add_metric(std::abs(W) + scale);
        }
        here.add_barrier(barrier, scale);
      }
      use(out);
    }
}

}  // namespace tempi
