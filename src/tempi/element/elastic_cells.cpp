// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/elastic_cells.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tempi/core/error.hpp"
#include "tempi/core/largest_eigenvalue.hpp"
#include "tempi/element/cell_kernels.hpp"
#include "tempi/element/packed_batch.hpp"
#include "tempi/mesh/elements.hpp"
#include "tempi/mesh/quality.hpp"
#include "tempi/potential/stable_step.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi {
namespace {

// dX/dxi at one reference point: column j is the tangent along xi_j.
template <class Element>
Mat<double, Element::dim> jacobian(const Mesh& mesh, std::span<const NodeId> nodes, const typename Element::Point& xi) {
  const auto dN = Element::derivative(xi);
  const auto X0 = mesh.point(nodes[0]);
  Mat<double, Element::dim> J;
  for (std::size_t a = 1; a < Element::nodes; ++a) {
    const auto X = mesh.point(nodes[a]);
    for (std::size_t i = 0; i < Element::dim; ++i)
      for (std::size_t j = 0; j < Element::dim; ++j)
        J(static_cast<int>(i), static_cast<int>(j)) += (X[i] - X0[i]) * dN[a][j];
  }
  return J;
}

static_assert(std::is_same_v<Material, std::variant<NeoHookean, SaintVenantKirchhoff, LinearElastic>>,
              "CellMaterial lists the alternatives of Material in their order");

// `straight`: all quadrature points of a cell share one Jacobian.
template <class Element, class Model, bool straight>
class Cells final : public ElasticCells {
  static constexpr int D = Element::dim;
  static constexpr std::size_t N = Element::nodes;
  static constexpr std::size_t Q = Element::stiffness_rule.size();
  static constexpr std::size_t P = straight ? 1 : Q;  // points with a geometry of their own
  // Straight cells have the geometry of their vertices: however mid-edge nodes are rounded, no numbering matters.
  using Simplex = std::conditional_t<D == 1, Line2, std::conditional_t<D == 2, Triangle3, Tetrahedron4>>;
  using Local = std::array<std::array<double, D>, N>;

  struct PointGeometry {
    Mat<double, D> inverse;  // dxi_j/dX_J
    double det;              // of dX/dxi
  };

 public:
  Cells(const Mesh& mesh, std::vector<CellId> cells, const Model& model, double density)
      : mesh_(mesh), cells_(std::move(cells)), material_(model), model_(model), density_(density) {
    geometry_.reserve(cells_.size() * P);
    if constexpr (!straight) masses_.reserve(cells_.size() * N);
    for (const CellId cell : cells_) add_geometry(cell);
  }

  Index size() const override { return static_cast<Index>(cells_.size()); }
  int dim() const override { return D; }
  CellId cell(Index k) const override { return cells_[static_cast<std::size_t>(k)]; }
  std::span<const NodeId> stencil(Index k) const override { return mesh_.cells()[index(cell(k))]; }
  double mass(Index k, std::size_t a) const override {
    if constexpr (straight)
      return density_ * volume(k) * Element::hrz[a];
    else
      return masses_[static_cast<std::size_t>(k) * N + a];
  }
  double density() const override { return density_; }
  const Material& material() const override { return material_; }
  std::string describe(Index k) const override { return mesh_.describe(cell(k)); }

  double volume(Index k) const override {
    if constexpr (straight) {
      constexpr double reference = reference_volume();
      return reference * point(k, 0).det;
    } else {
      const auto first = masses_.begin() + k * static_cast<Index>(N);
      return std::accumulate(first, first + N, 0.0) / density_;
    }
  }

  double energy(Index k, std::span<const double> u, double) const override {
    const Local e = edges(k, u);
    double V = 0.0;
    for (std::size_t q = 0; q < Q; ++q) V += volume(k, q) * model_.template energy<double, D>(gradient(k, q, e));
    return V;
  }

  double add_gradient(Index k, std::span<const double> u, double, std::span<double> g) const override {
    const Local e = edges(k, u);
    Local force{};  // of the nodes but the first, whose force is minus their sum
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t q = 0; q < Q; ++q) {
      const PointGeometry& at = point(k, q);
      const Stress<double, D> stress = model_.template stress<double, D>(gradient(k, q, e));
      // A NaN must win over every number, so that the caller sees it.
      if (!(stress.det_F >= smallest)) smallest = stress.det_F;
      const Mat<double, D> B = volume(k, q) * (stress.P * transpose(at.inverse));
      for (std::size_t a = 1; a < N; ++a)
        for (std::size_t i = 0; i < D; ++i)
          for (std::size_t j = 0; j < D; ++j)
            force[a][i] += B(static_cast<int>(i), static_cast<int>(j)) * derivatives[q][a][j];
    }
    for (std::size_t a = 1; a < N; ++a)
      for (std::size_t i = 0; i < D; ++i) {
        g[a * D + i] += force[a][i];
        g[i] -= force[a][i];
      }
    return smallest;
  }

  void add_hessian(Index k, std::span<const double> u, double, std::span<double> H) const override {
    const Local e = edges(k, u);
    for (std::size_t q = 0; q < Q; ++q) {
      const Tangent<double, D> A = model_.template tangent<double, D>(gradient(k, q, e));
      add_stiffness(A, at_point(k, static_cast<Index>(q)).dN, volume(k, q), H);
    }
  }

  Index point_count() const override { return static_cast<Index>(Q); }
  CellPoint at_point(Index k, Index q) const override {
    const auto i = static_cast<std::size_t>(q);
    const PointGeometry& geometry = point(k, i);
    CellPoint at{volume(k, i)};
    for (std::size_t a = 0; a < N; ++a)
      for (int J = 0; J < D; ++J)
        for (int j = 0; j < D; ++j)
          at.dN[a][static_cast<std::size_t>(J)] +=
              derivatives[i][a][static_cast<std::size_t>(j)] * geometry.inverse(j, J);
    return at;
  }

  PointStress stress_at(Index k, Index q, std::span<const double> u) const override {
    const Mat<double, D> H = gradient(k, static_cast<std::size_t>(q), edges(k, u));
    const Mat<double, D> stress = model_.template stress<double, D>(H).P;
    PointStress at{model_.template energy<double, D>(H)};
    for (int i = 0; i < D; ++i)
      for (int J = 0; J < D; ++J) at.P[static_cast<std::size_t>(i)][static_cast<std::size_t>(J)] = stress(i, J);
    return at;
  }

  double stable_step(Index k, std::span<const double> u, std::span<const double> shares) const override {
    if constexpr (Q * D >= N) {
      return LocalPotential::stable_step(k, u, shares);
    } else {
      return stable_step_one_point(k, u, shares);
    }
  }

  PackedGeometry pack(std::span<const Index> elements, std::span<const std::int32_t> place) const override {
    const auto W = static_cast<std::size_t>(pack_width());
    const std::size_t packs = (elements.size() + W - 1) / W;
    PackedGeometry packed{*cell_shape(Element::type, straight), AlignedVector<double>(packs * W * P * (D * D + 1), 0.0),
                          packed_places(*this, elements, place)};
    Index k = 0;
    for (std::size_t i = 0; i < packs * W; ++i) {
      const bool none = i >= elements.size() || elements[i] < 0;
      if (!none) k = elements[i];
      if (none) continue;  // no volume, no force
      for (std::size_t p = 0; p < P; ++p) {
        double* lane = &packed.geometry[(i / W * P + p) * (D * D + 1) * W + i % W];
        for (std::size_t c = 0; c < D * D; ++c) lane[c * W] = point(k, p).inverse.a[c];
        lane[D * D * W] = point(k, p).det;
      }
    }
    return packed;
  }

  std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const override {
    PackedGeometry packed = pack(terms, place);
    return std::make_unique<PackedBatch>(cell_kernel(packed.shape, static_cast<CellMaterial>(material_.index())),
                                         pack_width(), D, static_cast<Index>(N * D), model_.lame,
                                         std::move(packed.geometry), std::move(packed.places));
  }

  std::array<double, 6> cauchy_stress(Index k, std::span<const double> u) const override {
    const Local e = edges(k, u);
    std::array<double, 6> mean{};
    double total = 0.0;
    for (std::size_t q = 0; q < Q; ++q) {
      const Mat<double, D> in_plane = gradient(k, q, e);
      Mat<double, 3> H;
      for (int i = 0; i < D; ++i)
        for (int J = 0; J < D; ++J) H(i, J) = in_plane(i, J);
      const Mat<double, 3> s = tempi::cauchy_stress(model_, H, model_.template stress<double, 3>(H));
      const double w = volume(k, q);
      const std::array<double, 6> values = {s(0, 0), s(1, 1), s(2, 2), s(0, 1), s(1, 2), s(0, 2)};
      for (std::size_t c = 0; c < 6; ++c) mean[c] += w * values[c];
      total += w;
    }
    for (double& value : mean) value /= total;
    return mean;
  }

 private:
  static constexpr std::array<std::array<std::array<double, D>, N>, Q> derivatives = [] {
    std::array<std::array<std::array<double, D>, N>, Q> all{};
    for (std::size_t q = 0; q < Q; ++q) all[q] = Element::derivative(Element::stiffness_rule[q].xi);
    return all;
  }();

  const PointGeometry& point(Index k, std::size_t q) const {
    return geometry_[static_cast<std::size_t>(k) * P + (straight ? 0 : q)];
  }
  double volume(Index k, std::size_t q) const { return Element::stiffness_rule[q].weight * point(k, q).det; }

  // Displacements relative to the first node: a common translation leaves no rounding behind.
  Local edges(Index k, std::span<const double> u) const {
    const auto nodes = stencil(k);
    Local e{};
    const double* first = u.data() + ordinal(nodes[0]) * D;
    for (std::size_t a = 1; a < N; ++a) {
      const double* ua = u.data() + ordinal(nodes[a]) * D;
      for (std::size_t i = 0; i < D; ++i) e[a][i] = ua[i] - first[i];
    }
    return e;
  }

  // H = du/dX at one quadrature point.
  Mat<double, D> gradient(Index k, std::size_t q, const Local& e) const {
    Mat<double, D> G;
    for (std::size_t a = 1; a < N; ++a)
      for (std::size_t i = 0; i < D; ++i)
        for (std::size_t j = 0; j < D; ++j)
          G(static_cast<int>(i), static_cast<int>(j)) += e[a][i] * derivatives[q][a][j];
    return G * point(k, q).inverse;
  }

  static void add_stiffness(const Tangent<double, D>& A, const std::array<std::array<double, 3>, 10>& dN, double volume,
                            std::span<double> H) {
    constexpr std::size_t n = N * D;
    for (std::size_t a = 0; a < N; ++a)
      for (int i = 0; i < D; ++i) {
        std::array<double, D * D> row{};  // dN_a/dX_J A_iJkL
        for (int J = 0; J < D; ++J)
          for (int p = 0; p < D * D; ++p)
            row[static_cast<std::size_t>(p)] += volume * dN[a][static_cast<std::size_t>(J)] * A(i * D + J, p);
        for (std::size_t b = 0; b < N; ++b)
          for (std::size_t k = 0; k < D; ++k) {
            double s = 0.0;
            for (std::size_t L = 0; L < D; ++L) s += row[k * D + L] * dN[b][L];
            H[(a * D + static_cast<std::size_t>(i)) * n + b * D + k] += s;
          }
      }
  }

  // One quadrature point: the nonzero eigenvalues of M^{-1} G^T A G are those of A (G M^{-1} G^T), and
  // G M^{-1} G^T = I (x) L L^T, so the symmetric (I (x) L)^T A (I (x) L) of order D^2 serves.
  double stable_step_one_point(Index k, std::span<const double> u, std::span<const double> shares) const {
    const PointGeometry& at = point(k, 0);
    Eigen::Matrix<double, D, D> metric = Eigen::Matrix<double, D, D>::Zero();
    for (std::size_t a = 0; a < N; ++a) {
      Eigen::Matrix<double, D, 1> d = Eigen::Matrix<double, D, 1>::Zero();
      for (int J = 0; J < D; ++J)
        for (int j = 0; j < D; ++j) d(J) += derivatives[0][a][static_cast<std::size_t>(j)] * at.inverse(j, J);
      metric += d * d.transpose() / shares[a];
    }
    const Eigen::Matrix<double, D, D> L = metric.llt().matrixL();
    const Tangent<double, D> A = model_.template tangent<double, D>(gradient(k, 0, edges(k, u)));
    Eigen::Matrix<double, D * D, D * D> S;
    for (int i = 0; i < D; ++i)
      for (int m = 0; m < D; ++m) {
        Eigen::Matrix<double, D, D> block;
        for (int J = 0; J < D; ++J)
          for (int K = 0; K < D; ++K) block(J, K) = A(i * D + J, m * D + K);
        S.template block<D, D>(i * D, m * D) = volume(k, 0) * (L.transpose() * block * L);
      }
    return step_of_eigenvalue(largest_eigenvalue(S));
  }

  void add_geometry(CellId cell) {
    const auto nodes = mesh_.cells()[index(cell)];
    const double edge = longest_edge(mesh_, cell);
    const double flat = 1e-14 * std::pow(edge, D);  // below: no digit of the volume is left
    for (std::size_t q = 0; q < P; ++q) {
      const auto& at = Element::stiffness_rule[q];
      const Mat<double, D> J = jacobian<std::conditional_t<straight, Simplex, Element>>(mesh_, nodes, at.xi);
      const double det = determinant(J);
      if (!(det > flat))
        throw InputError(fmt::format(
            "{} is {} (its Jacobian determinant is {:.6g}). Correct the mesh: number the cell's nodes the other way "
            "round, or remove or remesh it.",
            mesh_.describe(cell), det < -flat ? "inverted" : "of zero volume", det));
      geometry_.push_back({transpose((1.0 / det) * cofactor(J)), det});
    }
    if constexpr (!straight) add_masses(cell, nodes);
  }

  static constexpr double reference_volume() {
    double sum = 0.0;
    for (const auto& at : Element::stiffness_rule) sum += at.weight;
    return sum;
  }

  void add_masses(CellId cell, std::span<const NodeId> nodes) {
    static const auto rule = collapsed_gauss_rule<D>(5);
    std::array<double, N> diagonal{};
    double cell_volume = 0.0, sum = 0.0;
    for (const auto& at : rule) {
      const double det = determinant(jacobian<Element>(mesh_, nodes, at.xi));
      if (!(det > 0.0))
        throw InputError(
            fmt::format("{} is folded (its Jacobian determinant is {:.6g} inside the cell). Move its "
                        "mid-edge nodes towards the middle of their edges, or remesh.",
                        mesh_.describe(cell), det));
      const auto shape = Element::shape(at.xi);
      cell_volume += at.weight * det;
      for (std::size_t a = 0; a < N; ++a) diagonal[a] += at.weight * det * shape[a] * shape[a];
    }
    for (const double d : diagonal) sum += d;
    for (const double d : diagonal) masses_.push_back(density_ * cell_volume * d / sum);
  }

  const Mesh& mesh_;
  std::vector<CellId> cells_;
  Material material_;
  Model model_;
  double density_;
  std::vector<PointGeometry> geometry_;
  std::vector<double> masses_;  // of curved cells
};

}  // namespace

ElasticCells::PointStress ElasticCells::stress_at(Index, Index, std::span<const double>) const {
  throw InputError("shells have no configurational forces here: their bending has none.");
}

std::array<double, 6> ElasticCells::green_strain(Index k, std::span<const double> u) const {
  const auto d = static_cast<std::size_t>(dim());
  const auto nodes = stencil(k);
  std::array<double, 6> mean{};
  double total = 0.0;
  for (Index q = 0; q < point_count(); ++q) {
    const CellPoint at = at_point(k, q);
    std::array<std::array<double, 3>, 3> F{{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t i = 0; i < d; ++i)
        for (std::size_t J = 0; J < d; ++J) F[i][J] += u[ordinal(nodes[a]) * d + i] * at.dN[a][J];
    for (std::size_t c = 0; c < 6; ++c) {
      const auto [J, K] = symmetric_components[c];
      double C = J == K ? -1.0 : 0.0;
      for (std::size_t i = 0; i < 3; ++i) C += F[i][J] * F[i][K];
      mean[c] += at.volume * 0.5 * C;
    }
    total += at.volume;
  }
  for (double& value : mean) value /= total;
  return mean;
}

std::unique_ptr<ElasticCells> make_elastic_cells(const Mesh& mesh, CellType type, std::vector<CellId> cells,
                                                 const Material& material, double density) {
  if (!(density > 0.0) || !std::isfinite(density))
    throw InputError(fmt::format("density = {} kg/m^3 (must be > 0).", density));
  const bool straight = std::ranges::all_of(cells, [&](CellId cell) { return is_straight(mesh, cell); });
  const auto wanted = cell_shape(type, straight);
  std::unique_ptr<ElasticCells> made;
  any_cell_element([&]<class E>(E, CellShape shape) {
    if (shape != wanted) return false;
    std::visit(
        [&]<class Model>(const Model& model) {
          made =
              std::make_unique<Cells<typename E::Element, Model, E::straight>>(mesh, std::move(cells), model, density);
        },
        material);
    return true;
  });
  if (!made)
    throw InputError(
        fmt::format("there is no element for the cell type {} (use 2-node lines, triangles or "
                    "tetrahedra; shells have a [[material]] with model = \"shell\").",
                    info(type).name));
  return made;
}

}  // namespace tempi
