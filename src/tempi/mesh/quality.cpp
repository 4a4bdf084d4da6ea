// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/quality.hpp"

#include <Eigen/Dense>
#include <array>

namespace tempi {

double inradius(const Mesh& mesh, CellId cell) {
  const auto nodes = mesh.cells()[index(cell)];
  const int dim = mesh.dim();
  std::array<Eigen::Vector3d, 4> X;
  for (std::size_t v = 0; v < static_cast<std::size_t>(dim) + 1; ++v) {
    X[v].setZero();
    for (int c = 0; c < dim; ++c) X[v](c) = mesh.point(nodes[v])[static_cast<std::size_t>(c)];
  }
  if (dim == 1) return 0.5 * (X[1] - X[0]).norm();
  const auto area = [](const Eigen::Vector3d& a, const Eigen::Vector3d& b, const Eigen::Vector3d& c) {
    return 0.5 * (b - a).cross(c - a).norm();
  };
  if (dim == 2) {
    const double perimeter = (X[1] - X[0]).norm() + (X[2] - X[1]).norm() + (X[0] - X[2]).norm();
    return 2.0 * area(X[0], X[1], X[2]) / perimeter;
  }
  const double volume = std::abs((X[1] - X[0]).cross(X[2] - X[0]).dot(X[3] - X[0])) / 6.0;
  const double surface =
      area(X[0], X[1], X[2]) + area(X[0], X[1], X[3]) + area(X[0], X[2], X[3]) + area(X[1], X[2], X[3]);
  return 3.0 * volume / surface;
}

std::uint64_t fingerprint(const Mesh& mesh) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](const auto& values) {
    for (const std::byte b : std::as_bytes(std::span(values)))
      hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001b3U;
  };
  add(mesh.points());
  add(mesh.cells().nodes);
  add(mesh.cells().types);
  return hash;
}

}  // namespace tempi
