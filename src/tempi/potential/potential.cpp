// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/potential.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SparseCore>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tempi {
namespace {

// Stencils of terms that are not in pieces have at most 10 nodes in 3-D: storage on the stack.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 30, 30>;

Matrix hessian(const Potential& potential, Index k, std::span<const double> u) {
  const auto n = static_cast<Index>(potential.stencil(k).size()) * potential.dim();
  Matrix H = Matrix::Zero(n, n);
  potential.add_hessian(k, u, 0.0, {H.data(), static_cast<std::size_t>(n * n)});
  return H;
}

// M^{-1/2} H M^{-1/2} of a term in pieces, by its own numbers of its nodes.
Eigen::SparseMatrix<double> scaled_hessian(const Potential& potential, Index k, std::span<const double> u,
                                           std::span<const double> shares) {
  const auto stencil = potential.stencil(k);
  const auto d = static_cast<std::size_t>(potential.dim());
  std::vector<Index> local(u.size() / d, -1);
  for (std::size_t a = 0; a < stencil.size(); ++a)
    local[static_cast<std::size_t>(index(stencil[a]))] = static_cast<Index>(a);
  std::vector<Eigen::Triplet<double>> entries;
  potential.each_hessian_piece(k, u, 0.0, [&](std::span<const NodeId> nodes, std::span<const double> H) {
    const std::size_t n = nodes.size() * d;
    const auto node = [&](std::size_t i) { return local[static_cast<std::size_t>(index(nodes[i / d]))]; };
    const auto row = [&](std::size_t i) {
      return static_cast<int>(node(i) * potential.dim() + static_cast<int>(i % d));
    };
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const double m = shares[static_cast<std::size_t>(node(i))] * shares[static_cast<std::size_t>(node(j))];
        if (H[i * n + j] != 0.0) entries.emplace_back(row(i), row(j), H[i * n + j] / std::sqrt(m));
      }
  });
  const auto n = static_cast<Index>(stencil.size() * d);
  Eigen::SparseMatrix<double> A(n, n);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

// The largest eigenvalue of A, to 1e-3 or better: Lanczos with full reorthogonalisation until its Ritz value stands
// still. It approaches from below.
double largest_eigenvalue(const Eigen::SparseMatrix<double>& A) {
  constexpr Index most = 120;
  const Index n = A.cols();
  Eigen::MatrixXd Q(n, std::min(n, most) + 1);
  Eigen::VectorXd w(n);
  std::uint64_t random = 1;
  for (double& x : w) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<double>(random >> 11) * 0x1.0p-53 - 0.5;
  }
  Q.col(0) = w.normalized();
  Eigen::VectorXd alpha(most), beta(most);
  double ritz = 0.0;
  for (Index j = 0; j < std::min(n, most); ++j) {
    w = A * Q.col(j);
    alpha(j) = Q.col(j).dot(w);
    for (int twice = 0; twice < 2; ++twice) w -= Q.leftCols(j + 1) * (Q.leftCols(j + 1).transpose() * w);
    beta(j) = w.norm();
    const bool done = !(beta(j) > 1e-13 * alpha.head(j + 1).cwiseAbs().maxCoeff());
    if (j % 8 == 7 || done || j + 1 == std::min(n, most)) {
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
      solver.computeFromTridiagonal(alpha.head(j + 1), beta.head(j), Eigen::EigenvaluesOnly);
      const double before = std::exchange(ritz, solver.eigenvalues()(j));
      if (done || (j > 8 && std::abs(ritz - before) < 1e-4 * std::abs(ritz))) break;
    }
    Q.col(j + 1) = w / beta(j);
  }
  return ritz;
}

// No eigenvalue of M^{-1} H is larger, where each piece is a pair (a, b) of the Hessian block B: x^T H x is the sum of
// (x_a - x_b)^T B (x_a - x_b) <= |B| (1/m_a + 1/m_b) (m_a x_a^2 + m_b x_b^2). NaN where H is no number, infinite for
// other pieces.
double eigenvalue_bound(const Potential& potential, Index k, std::span<const double> u,
                        std::span<const double> shares) {
  const auto stencil = potential.stencil(k);
  const auto d = static_cast<std::size_t>(potential.dim());
  std::vector<std::size_t> local(u.size() / d);
  for (std::size_t a = 0; a < stencil.size(); ++a) local[static_cast<std::size_t>(index(stencil[a]))] = a;
  std::vector<double> sum(stencil.size(), 0.0);
  double most = 0.0;
  potential.each_hessian_piece(k, u, 0.0, [&](std::span<const NodeId> nodes, std::span<const double> H) {
    if (nodes.size() != 2) most = std::numeric_limits<double>::infinity();
    double size = 0.0;  // of the first node's block, by rows
    for (std::size_t i = 0; i < d; ++i) {
      double row = 0.0;
      for (std::size_t j = 0; j < d; ++j) row += std::abs(H[i * nodes.size() * d + j]);
      size = row > size || std::isnan(row) ? row : size;
    }
    const std::size_t a = local[static_cast<std::size_t>(index(nodes[0]))],
                      b = local[static_cast<std::size_t>(index(nodes[nodes.size() - 1]))];
    const double both = size * (1.0 / shares[a] + 1.0 / shares[b]);
    for (const std::size_t node : {a, b}) sum[node] += both;
  });
  for (const double s : sum) most = s > most || std::isnan(s) ? s : most;
  return most;
}

// One term after the other. Positions go through an array as add_gradient wants it; parts struck at the same time
// share no node, so they write different places of it.
class TermLoop final : public Batch {
 public:
  TermLoop(const Potential& potential, std::span<const Index> terms, std::span<const std::int32_t> place)
      : potential_(potential),
        terms_(terms.begin(), terms.end()),
        place_(place.begin(), place.end()),
        u_(place.size() * static_cast<std::size_t>(potential.dim())) {
    for (const Index k : terms_)
      row_ = std::max(row_, static_cast<Index>(potential.stencil(k).size()) * potential.dim());
  }

  bool strike(Index first, Index last, double step, double t, std::span<NodeLine> nodes) const override {
    const auto d = static_cast<std::size_t>(potential_.dim());
    bool admissible = true;
    std::array<double, 30> few;
    std::vector<double> many(row_ > 30 ? static_cast<std::size_t>(row_) : 0);
    const auto g = many.empty() ? std::span<double>(few) : std::span(many);
    for (Index i = first; i < last; ++i) {
      const Index k = terms_[static_cast<std::size_t>(i)];
      const auto stencil = potential_.stencil(k);
      place_nodes(stencil, nodes);
      std::ranges::fill(g, 0.0);
      const double smallest = potential_.add_gradient(k, u_, t, g);
      admissible = admissible && smallest > 0.0 && std::isfinite(smallest);
      for (std::size_t a = 0; a < stencil.size(); ++a)
        for (std::size_t c = 0; c < d; ++c) {
          NodeLine& node = nodes[line(stencil[a])];
          node.velocity[c] -= step * g[a * d + c] * node.inverse_mass;
        }
    }
    return admissible;
  }

  Index row() const override { return row_; }
  void measure(Index first, Index last, double t, std::span<const NodeLine> nodes, std::span<double> energies,
               std::span<double> gradients) const override {
    const auto d = static_cast<std::size_t>(potential_.dim());
    for (Index i = first; i < last; ++i) {
      const Index k = terms_[static_cast<std::size_t>(i)];
      const auto stencil = potential_.stencil(k);
      place_nodes(stencil, nodes);
      energies[static_cast<std::size_t>(i - first)] = potential_.energy(k, u_, t);
      const auto g = gradients.subspan(static_cast<std::size_t>((i - first) * row_), stencil.size() * d);
      std::ranges::fill(g, 0.0);
      potential_.add_gradient(k, u_, t, g);
    }
  }

 private:
  std::size_t line(NodeId a) const { return static_cast<std::size_t>(place_[static_cast<std::size_t>(index(a))]); }
  void place_nodes(std::span<const NodeId> stencil, std::span<const NodeLine> nodes) const {
    const auto d = static_cast<std::size_t>(potential_.dim());
    for (const NodeId a : stencil)
      std::copy_n(nodes[line(a)].displacement, d, &u_[static_cast<std::size_t>(index(a)) * d]);
  }

  const Potential& potential_;
  std::vector<Index> terms_;
  std::vector<std::int32_t> place_;
  Index row_ = 0;
  mutable std::vector<double> u_;
};

}  // namespace

std::unique_ptr<Batch> Potential::batch(std::span<const Index> terms, std::span<const std::int32_t> place) const {
  return std::make_unique<TermLoop>(*this, terms, place);
}

void Potential::each_hessian_piece(Index k, std::span<const double> u, double t, const VisitPiece& visit) const {
  const std::size_t n = stencil(k).size() * static_cast<std::size_t>(dim());
  std::vector<double> H(n * n, 0.0);
  add_hessian(k, u, t, H);
  visit(stencil(k), H);
}

std::string Potential::fault(Index k, std::span<const double>, double t, double admissibility) const {
  if (std::isfinite(admissibility))
    return fmt::format(
        "{} is inverted at t = {:.9g} s (J = det F = {:.6g}, must be > 0). Try smaller steps (safety or courant), a "
        "finer mesh where it deforms most, or a load or initial motion that is less abrupt.",
        describe(k), t, admissibility);
  return fmt::format(
      "{} has a position that is not finite at t = {:.9g} s (J = {}). The run has become unstable: try smaller steps "
      "(safety or courant), and look at the loads.",
      describe(k), t, admissibility);
}

double Potential::stable_step(Index k, std::span<const double> u, std::span<const double> shares) const {
  const auto of_eigenvalue = [](double largest) {
    if (std::isnan(largest)) return largest;
    return largest > 0.0 ? 2.0 / std::sqrt(largest) : std::numeric_limits<double>::infinity();
  };
  if (in_pieces()) return of_eigenvalue(largest_eigenvalue(scaled_hessian(*this, k, u, shares)));
  Matrix H = hessian(*this, k, u);
  const auto mass = [&](Index row) { return shares[static_cast<std::size_t>(row / dim())]; };
  for (Index i = 0; i < H.rows(); ++i)
    for (Index j = 0; j < H.cols(); ++j) H(i, j) /= std::sqrt(mass(i) * mass(j));
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(H, Eigen::EigenvaluesOnly);
  return of_eigenvalue(solver.eigenvalues()(H.rows() - 1));
}

bool Potential::step_is_stable(Index k, std::span<const double> u, std::span<const double> shares, double step) const {
  constexpr double rounding = 1e-9;  // a step at its limit to rounding counts as stable
  if (in_pieces()) {
    const double bound = eigenvalue_bound(*this, k, u, shares);
    return bound * step * step <= 4.0 || (!std::isnan(bound) && step <= stable_step(k, u, shares) * (1.0 + rounding));
  }
  const Matrix H = hessian(*this, k, u);
  Matrix A = -H;
  for (Index i = 0; i < A.rows(); ++i)
    A(i, i) += 4.0 * (1.0 + rounding) / (step * step) * shares[static_cast<std::size_t>(i / dim())];
  return H.allFinite() && Eigen::LLT<Matrix>(A).info() == Eigen::Success;
}

double check_gradient(const Potential& potential, Index k, std::span<const double> u, double t, double spacing) {
  const auto stencil = potential.stencil(k);
  const auto dim = static_cast<std::size_t>(potential.dim());
  std::vector<double> moved(u.begin(), u.end()), gradient(stencil.size() * dim, 0.0);
  potential.add_gradient(k, u, t, gradient);
  double worst = 0.0, scale = 0.0;
  for (std::size_t a = 0; a < stencil.size(); ++a)
    for (std::size_t c = 0; c < dim; ++c) {
      double& x = moved[static_cast<std::size_t>(index(stencil[a])) * dim + c];
      const double x0 = x;
      x = x0 + spacing;
      const double up = potential.energy(k, moved, t);
      x = x0 - spacing;
      const double down = potential.energy(k, moved, t);
      x = x0;
      const double difference = (up - down) / (2.0 * spacing);
      worst = std::max(worst, std::abs(difference - gradient[a * dim + c]));
      scale = std::max(scale, std::abs(difference));
    }
  return worst / (scale > 0.0 ? scale : 1.0);
}

}  // namespace tempi
