// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/potential.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tempi {
namespace {

// Stencils of the library's terms have at most 10 nodes in 3-D: storage on the stack.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 30, 30>;

Matrix hessian(const Potential& potential, Index k, std::span<const double> u) {
  const auto n = static_cast<Index>(potential.stencil(k).size()) * potential.dim();
  Matrix H = Matrix::Zero(n, n);
  potential.add_hessian(k, u, 0.0, {H.data(), static_cast<std::size_t>(n * n)});
  return H;
}

double mass_of_row(const Potential& potential, Index k, Index row) {
  return potential.mass_share(k)[static_cast<std::size_t>(row / potential.dim())];
}

}  // namespace

double Potential::stable_step(Index k, std::span<const double> u) const {
  Matrix H = hessian(*this, k, u);
  for (Index i = 0; i < H.rows(); ++i)
    for (Index j = 0; j < H.cols(); ++j) H(i, j) /= std::sqrt(mass_of_row(*this, k, i) * mass_of_row(*this, k, j));
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(H, Eigen::EigenvaluesOnly);
  const double largest = solver.eigenvalues()(H.rows() - 1);
  if (std::isnan(largest)) return largest;
  return largest > 0.0 ? 2.0 / std::sqrt(largest) : std::numeric_limits<double>::infinity();
}

bool Potential::step_is_stable(Index k, std::span<const double> u, double step) const {
  constexpr double rounding = 1e-9;  // a step at its limit to rounding counts as stable
  const Matrix H = hessian(*this, k, u);
  Matrix A = -H;
  for (Index i = 0; i < A.rows(); ++i) A(i, i) += 4.0 * (1.0 + rounding) / (step * step) * mass_of_row(*this, k, i);
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
