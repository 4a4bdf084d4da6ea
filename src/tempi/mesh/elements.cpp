// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/elements.hpp"

#include <Eigen/Eigenvalues>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

// Gauss-Legendre on [-1, 1] from the eigenvalues of the Jacobi matrix (Golub and Welsch).
std::vector<QuadraturePoint<1>> gauss(int n) {
  TEMPI_ASSERT(n >= 1);
  Eigen::MatrixXd jacobi = Eigen::MatrixXd::Zero(n, n);
  for (int k = 1; k < n; ++k) jacobi(k - 1, k) = jacobi(k, k - 1) = k / std::sqrt(4.0 * k * k - 1.0);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(jacobi);
  std::vector<QuadraturePoint<1>> rule;
  for (int k = 0; k < n; ++k) {
    const double v = solver.eigenvectors()(0, k);
    rule.push_back({{solver.eigenvalues()(k)}, 2.0 * v * v});
  }
  return rule;
}

}  // namespace

template <>
std::vector<QuadraturePoint<1>> collapsed_gauss_rule<1>(int n) {
  return gauss(n);
}

template <>
std::vector<QuadraturePoint<2>> collapsed_gauss_rule<2>(int n) {
  std::vector<QuadraturePoint<2>> rule;
  for (const auto& a : gauss(n))
    for (const auto& b : gauss(n)) {
      const double r = 0.5 * (1.0 + a.xi[0]), s = 0.5 * (1.0 + b.xi[0]) * (1.0 - r);
      rule.push_back({{r, s}, 0.25 * a.weight * b.weight * (1.0 - r)});
    }
  return rule;
}

template <>
std::vector<QuadraturePoint<3>> collapsed_gauss_rule<3>(int n) {
  std::vector<QuadraturePoint<3>> rule;
  for (const auto& a : gauss(n))
    for (const auto& p : collapsed_gauss_rule<2>(n)) {
      const double r = 0.5 * (1.0 + a.xi[0]), q = 1.0 - r;
      rule.push_back({{r, p.xi[0] * q, p.xi[1] * q}, 0.5 * a.weight * p.weight * q * q});
    }
  return rule;
}

}  // namespace tempi
