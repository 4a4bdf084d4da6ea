// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/many_body_sum.hpp"

#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "tempi/core/largest_eigenvalue.hpp"
#include "tempi/potential/stable_step.hpp"

namespace tempi {
namespace {

// M^{-1/2} H M^{-1/2} of the sum, by its own numbers of its nodes.
Eigen::SparseMatrix<double> scaled_hessian(const ManyBodySum& sum, std::span<const double> u,
                                           std::span<const double> shares) {
  const auto stencil = sum.stencil(0);
  const auto d = static_cast<std::size_t>(sum.dim());
  std::vector<Index> local(u.size() / d, -1);
  for (std::size_t a = 0; a < stencil.size(); ++a) local[ordinal(stencil[a])] = static_cast<Index>(a);
  std::vector<Eigen::Triplet<double>> entries;
  sum.each_hessian_piece(0, u, 0.0, [&](std::span<const NodeId> nodes, std::span<const double> H) {
    const std::size_t n = nodes.size() * d;
    const auto node = [&](std::size_t i) { return local[ordinal(nodes[i / d])]; };
    const auto row = [&](std::size_t i) { return static_cast<int>(node(i) * sum.dim() + static_cast<int>(i % d)); };
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
      const double before = std::exchange(ritz, largest_eigenvalue_of_tridiagonal(alpha.head(j + 1), beta.head(j)));
      if (done || (j > 8 && std::abs(ritz - before) < 1e-4 * std::abs(ritz))) break;
    }
    Q.col(j + 1) = w / beta(j);
  }
  return ritz;
}

// No eigenvalue of M^{-1/2} H M^{-1/2} is larger: the largest sum of absolute values along a row, piece by piece
// (Gershgorin). NaN where H is no number.
double eigenvalue_bound(const ManyBodySum& sum, std::span<const double> u, std::span<const double> shares) {
  thread_local std::vector<double> rows, inverse_root;  // by components and nodes of the model; called at every recheck
  const auto stencil = sum.stencil(0);
  const auto d = static_cast<std::size_t>(sum.dim());
  rows.assign(u.size(), 0.0);
  inverse_root.resize(u.size() / d);
  for (std::size_t a = 0; a < stencil.size(); ++a) inverse_root[ordinal(stencil[a])] = 1.0 / std::sqrt(shares[a]);
  const auto add = [d](std::span<const NodeId> nodes, std::span<const double> H) {
    const std::size_t n = nodes.size() * d;
    for (std::size_t i = 0; i < n; ++i) {
      const auto a = ordinal(nodes[i / d]);
      double& row = rows[a * d + i % d];
      for (std::size_t j = 0; j < n; ++j)
        row += std::abs(H[i * n + j]) * inverse_root[a] * inverse_root[ordinal(nodes[j / d])];
    }
  };
  sum.each_hessian_piece(0, u, 0.0, add);
  double most = 0.0;
  for (const double row : rows) most = row > most || std::isnan(row) ? row : most;
  return most;
}

}  // namespace

double ManyBodySum::stable_step(Index, std::span<const double> u, std::span<const double> shares) const {
  return step_of_eigenvalue(largest_eigenvalue(scaled_hessian(*this, u, shares)));
}

bool ManyBodySum::step_is_stable(Index k, std::span<const double> u, std::span<const double> shares,
                                 double step) const {
  const double bound = eigenvalue_bound(*this, u, shares);
  return bound * step * step <= 4.0 ||
         (!std::isnan(bound) && step <= stable_step(k, u, shares) * (1.0 + step_rounding));
}

}  // namespace tempi
