// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/damping.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tempi/element/cell_kernels.hpp"
#include "tempi/force/bonds.hpp"
#include "tempi/force/damper.hpp"
#include "tempi/potential/wells.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi {
namespace {

class Drag final : public Damper {
 public:
  Drag(int dim, std::vector<NodalDrag> drags) : dim_(static_cast<std::size_t>(dim)), drags_(std::move(drags)) {
    for (const NodalDrag& drag : drags_) checked_coefficient("coefficient", drag.coefficient, "kg/s");
  }

  Index size() const override { return static_cast<Index>(drags_.size()); }
  std::span<const NodeId> stencil(Index k) const override { return {&drags_[static_cast<std::size_t>(k)].node, 1}; }
  void add_impulse(Index k, std::span<const double>, std::span<const double> v, double, double dt,
                   std::span<double> p) const override {
    const auto& [node, c] = drags_[static_cast<std::size_t>(k)];
    for (std::size_t i = 0; i < dim_; ++i) p[i] -= dt * c * v[ordinal(node) * dim_ + i];
  }
  bool each_drag(Index k, const std::function<void(std::size_t, double)>& visit) const override {
    visit(0, drags_[static_cast<std::size_t>(k)].coefficient);
    return true;
  }
  void add_damping(Index k, std::span<const double>, double, std::span<double> C) const override {
    for (std::size_t i = 0; i < dim_; ++i) C[i * (dim_ + 1)] += drags_[static_cast<std::size_t>(k)].coefficient;
  }

 private:
  std::size_t dim_;
  std::vector<NodalDrag> drags_;
};

class ViscousBatch final : public PackedDampers {
 public:
  ViscousBatch(const ElasticCells& cells, double lambda, double mu, std::span<const Index> elements,
               std::span<const std::int32_t> place, std::span<const std::array<bool, 3>> held)
      : ViscousBatch(cells, lambda, mu, elements, cells.pack(elements, place), held) {}

  double resist(Index first, Index last, const Sweep& sweep, std::span<NodeLine> nodes,
                std::span<double> kept) const override {
    const Viscous viscous{lambda_,        mu_,           sweep.relax,       sweep.step,
                          sweep.backward, packs_.data(), sweep.held.data(), sweep.withheld.data()};
    return kernel_({geometry_.data(), places_.data(), {}, {}}, viscous, first, last, nodes.data(),
                   kept.empty() ? nullptr : kept.data());
  }

 private:
  ViscousBatch(const ElasticCells& cells, double lambda, double mu, std::span<const Index> elements,
               PackedGeometry packed, std::span<const std::array<bool, 3>> held)
      : PackedDampers(static_cast<std::size_t>(cells.dim()), cells.stencil(0).size(), std::move(packed.places)),
        lambda_(lambda),
        mu_(mu),
        geometry_(std::move(packed.geometry)),
        kernel_(cell_resistance(packed.shape)) {
    invert_geometry();
    const std::size_t of_pack = nodes_ * width_;
    packs_.assign(places_.size() / of_pack, ViscousPack::free);
    for (std::size_t i = 0; i < packs_.size() * width_; ++i)
      if (i >= elements.size() || elements[i] < 0) packs_[i / width_] = ViscousPack::filled_up;
    for (std::size_t i = 0; i < places_.size() && !held.empty(); ++i) {
      const auto& components = held[static_cast<std::size_t>(places_[i])];
      const auto count = static_cast<std::size_t>(std::ranges::count(std::span(components).first(dim_), true));
      ViscousPack& pack = packs_[i / of_pack];
      if (count == 0) continue;
      const bool whole = count == dim_ && (pack == ViscousPack::free || pack == ViscousPack::at_held_nodes);
      pack = whole ? ViscousPack::at_held_nodes : ViscousPack::at_support;
    }
  }

  // dxi/dX in the geometry becomes dX/dxi.
  void invert_geometry() {
    const std::size_t dim = dim_, size = dim * dim + 1, points = geometry_.size() / (size * width_);
    for (std::size_t p = 0; p < points; ++p) {
      double* pack = &geometry_[p * size * width_];
      for (std::size_t lane = 0; lane < width_; ++lane) {
        if (pack[dim * dim * width_ + lane] == 0.0) continue;  // fills up the pack
        Eigen::Matrix3d m = Eigen::Matrix3d::Identity();
        const auto each = [&](auto&& visit) {
          for (std::size_t c = 0; c < dim * dim; ++c)
            visit(m(static_cast<Index>(c / dim), static_cast<Index>(c % dim)), pack[c * width_ + lane]);
        };
        each([](double& to, double from) { to = from; });
        m = m.inverse().eval();
        each([](double from, double& to) { to = from; });
      }
    }
  }

  double lambda_, mu_;
  AlignedVector<double> geometry_;
  CellResistance kernel_;
  std::vector<ViscousPack> packs_;
};

// Kelvin-Voigt with drag in proportion to mass. Formulas are those of space; what lies beyond dim does not move.
class CellDamping final : public Damper {
  using Matrix = Eigen::Matrix3d;
  using Vector = Eigen::Vector3d;

 public:
  CellDamping(const ElasticCells& cells, double alpha, double lambda, double mu)
      : cells_(cells), dim_(static_cast<std::size_t>(cells.dim())), alpha_(alpha), lambda_(lambda), mu_(mu) {}

  Index size() const override { return cells_.size(); }
  std::span<const NodeId> stencil(Index k) const override { return cells_.stencil(k); }

  void add_impulse(Index k, std::span<const double> u, std::span<const double> v, double, double dt,
                   std::span<double> p) const override {
    const auto nodes = stencil(k);
    for (Index q = 0; viscous() && q < cells_.point_count(); ++q) {
      const CellPoint at = spatial(cells_.at_point(k, q), nodes, u);
      const Matrix l = gradient(nodes, at, v), d = 0.5 * (l + l.transpose());
      const Matrix T = lambda_ * d.trace() * Matrix::Identity() + 2.0 * mu_ * d;
      for (std::size_t a = 1; a < nodes.size(); ++a) {
        const Vector force = (dt * at.volume) * (T * derivative(at, a));
        for (std::size_t i = 0; i < dim_; ++i) {
          p[a * dim_ + i] -= force(static_cast<Index>(i));
          p[i] += force(static_cast<Index>(i));
        }
      }
    }
    for (std::size_t a = 0; alpha_ > 0.0 && a < nodes.size(); ++a)
      for (std::size_t i = 0; i < dim_; ++i)
        p[a * dim_ + i] -= dt * alpha_ * cells_.mass(k, a) * v[ordinal(nodes[a]) * dim_ + i];
  }

  bool each_drag(Index k, const std::function<void(std::size_t, double)>& visit) const override {
    for (std::size_t a = 0; alpha_ > 0.0 && a < stencil(k).size(); ++a) visit(a, alpha_ * cells_.mass(k, a));
    return !viscous();
  }
  std::unique_ptr<DampingBatch> damping_batch(int /*dim*/, std::span<const Index> elements,
                                              std::span<const std::int32_t> place,
                                              std::span<const std::array<bool, 3>> held) const override {
    return std::make_unique<ViscousBatch>(cells_, lambda_, mu_, elements, place, held);
  }

  // With g_a = dN_a/dx:  C_ab = V (lambda g_a g_b^T + mu (g_a . g_b 1 + g_b g_a^T)).
  void add_damping(Index k, std::span<const double> u, double, std::span<double> C) const override {
    const auto nodes = stencil(k);
    const std::size_t n = nodes.size() * dim_;
    for (Index q = 0; viscous() && q < cells_.point_count(); ++q) {
      const CellPoint at = spatial(cells_.at_point(k, q), nodes, u);
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t c = 0; c < nodes.size(); ++c) {
          const Vector ga = derivative(at, a), gc = derivative(at, c);
          const Matrix block =
              lambda_ * ga * gc.transpose() + mu_ * (ga.dot(gc) * Matrix::Identity() + gc * ga.transpose());
          for (std::size_t i = 0; i < dim_; ++i)
            for (std::size_t j = 0; j < dim_; ++j)
              C[(a * dim_ + i) * n + c * dim_ + j] += at.volume * block(static_cast<Index>(i), static_cast<Index>(j));
        }
    }
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t i = a * dim_; i < (a + 1) * dim_; ++i) C[i * (n + 1)] += alpha_ * cells_.mass(k, a);
  }

 private:
  bool viscous() const { return lambda_ != 0.0 || mu_ != 0.0; }
  static Vector derivative(const CellPoint& at, std::size_t a) { return Eigen::Map<const Vector>(at.dN[a].data()); }

  // With dN_a/dx = F^{-T} dN_a/dX in place of dN_a/dX.
  CellPoint spatial(CellPoint at, std::span<const NodeId> nodes, std::span<const double> u) const {
    const Matrix F = Matrix::Identity() + gradient(nodes, at, u);
    const double J = F.determinant();
    Matrix cofactors;
    for (int j = 0; j < 3; ++j) cofactors.col(j) = F.col((j + 1) % 3).cross(F.col((j + 2) % 3));
    for (std::size_t a = 0; a < nodes.size(); ++a)
      Eigen::Map<Vector>(at.dN[a].data()) = cofactors * derivative(at, a) / (std::abs(J) < flattest ? flattest : J);
    return at;
  }

  // d/dX (d/dx) of nodal vectors, less those of the first node: a common translation leaves no rounding behind.
  Matrix gradient(std::span<const NodeId> nodes, const CellPoint& at, std::span<const double> values) const {
    Matrix G = Matrix::Zero();
    const double* first = &values[ordinal(nodes[0]) * dim_];
    for (std::size_t a = 1; a < nodes.size(); ++a) {
      const double* value = &values[ordinal(nodes[a]) * dim_];
      for (std::size_t i = 0; i < dim_; ++i)
        G.row(static_cast<Index>(i)) += (value[i] - first[i]) * derivative(at, a).transpose();
    }
    return G;
  }

  const ElasticCells& cells_;
  std::size_t dim_;
  double alpha_, lambda_, mu_;
};

class StiffnessDamping : public Damper {
 public:
  StiffnessDamping(const LocalPotential& potential, double beta)
      : potential_(potential), beta_(checked_coefficient("beta", beta, "s")) {}

  Index size() const override { return potential_.size(); }
  std::span<const NodeId> stencil(Index k) const override { return potential_.stencil(k); }

  void add_impulse(Index k, std::span<const double> u, std::span<const double> v, double t, double dt,
                   std::span<double> p) const override {
    const Matrix K = stiffness(k, u, t);
    const auto nodes = stencil(k);
    const auto d = static_cast<std::size_t>(potential_.dim());
    for (Index i = 0; i < K.rows(); ++i)
      for (std::size_t j = 0; j < nodes.size() * d; ++j)
        p[static_cast<std::size_t>(i)] -=
            dt * beta_ * K(i, static_cast<Index>(j)) * v[ordinal(nodes[j / d]) * d + j % d];
  }
  void add_damping(Index k, std::span<const double> u, double t, std::span<double> C) const override {
    const Matrix K = stiffness(k, u, t);
    for (Index i = 0; i < K.size(); ++i) C[static_cast<std::size_t>(i)] += beta_ * K.data()[i];  // symmetric
  }

 protected:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 30, 30>;

  double beta() const { return beta_; }
  Matrix no_stiffness(Index k) const {
    const auto n = static_cast<Index>(stencil(k).size()) * potential_.dim();
    return Matrix::Zero(n, n);
  }
  virtual Matrix stiffness(Index k, std::span<const double> u, double t) const {  // K_+
    Matrix K = no_stiffness(k);
    potential_.add_hessian(k, u, t, {K.data(), static_cast<std::size_t>(K.size())});
    if (K.isDiagonal(0.0)) return K.cwiseMax(0.0);
    const Eigen::SelfAdjointEigenSolver<Matrix> modes(K);
    if (modes.eigenvalues()(0) >= 0.0) return K;
    return modes.eigenvectors() * modes.eigenvalues().cwiseMax(0.0).asDiagonal() * modes.eigenvectors().transpose();
  }

 private:
  const LocalPotential& potential_;
  double beta_;
};

bool is_round(const Well& well, int dim) {
  const auto stiffness = std::span(well.stiffness).first(static_cast<std::size_t>(dim));
  return std::ranges::all_of(stiffness, [&](double s) { return s == stiffness[0]; });
}

class PairStiffnessDamping final : public StiffnessDamping {
 public:
  PairStiffnessDamping(const PairPotential& pairs, double beta) : StiffnessDamping(pairs, beta), pairs_(pairs) {}

  std::unique_ptr<DampingBatch> damping_batch(int dim, std::span<const Index> elements,
                                              std::span<const std::int32_t> place,
                                              std::span<const std::array<bool, 3>> held) const override {
    auto packed = pairs_.packs(elements);
    if (!packed) return Force::damping_batch(dim, elements, place, held);
    const BondResistance kernel = packed->kernel.resist;
    return make_bond_batch(*this, dim, std::move(*packed), kernel, beta(), elements, place, held);
  }

 private:
  Matrix stiffness(Index k, std::span<const double> u, double) const override {
    Matrix K = no_stiffness(k);
    pairs_.add_positive_hessian(k, u, {K.data(), static_cast<std::size_t>(K.size())});
    return K;
  }

  const PairPotential& pairs_;
};

}  // namespace

std::unique_ptr<Force> make_drag(int dim, std::vector<NodalDrag> drags) {
  return std::make_unique<Drag>(dim, std::move(drags));
}

std::unique_ptr<Force> make_rayleigh(const ElasticCells& cells, const Rayleigh& rayleigh) {
  const auto [alpha, beta] = rayleigh;
  const Lame lame = lame_of(cells.material());
  checked_coefficient("beta", beta, "s");
  return std::make_unique<CellDamping>(cells, checked_coefficient("alpha", alpha, "1/s"), beta * lame.lambda,
                                       beta * lame.mu);
}

std::unique_ptr<Force> make_stiffness_damping(const LocalPotential& potential, double beta) {
  if (const auto* pairs = dynamic_cast<const PairPotential*>(&potential))
    return std::make_unique<PairStiffnessDamping>(*pairs, beta);
  const auto* wells = dynamic_cast<const WellPotential*>(&potential);
  if (wells != nullptr && is_round(wells->well(), wells->dim())) {
    std::vector<NodalDrag> drags;
    for (Index k = 0; k < wells->size(); ++k)
      drags.push_back({wells->stencil(k)[0], checked_coefficient("beta", beta, "s") * wells->well().stiffness[0]});
    return make_drag(wells->dim(), std::move(drags));
  }
  return std::make_unique<StiffnessDamping>(potential, beta);
}

std::unique_ptr<Force> make_kelvin_voigt(const ElasticCells& cells, const Viscosity& viscosity) {
  const double bulk = checked_coefficient("bulk viscosity", viscosity.bulk, "Pa s");
  const double shear = checked_coefficient("shear viscosity", viscosity.shear, "Pa s");
  return std::make_unique<CellDamping>(cells, 0.0, bulk - 2.0 / 3.0 * shear, shear);
}

}  // namespace tempi
