// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/quality.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>

#include "tempi/core/fingerprint.hpp"

namespace tempi {

double inradius(const Mesh& mesh, CellId cell) {
  const auto nodes = mesh.cells()[index(cell)];
  const int dim = info(mesh.cells().types[ordinal(cell)]).dim;
  std::array<Eigen::Vector3d, 4> X;
  for (std::size_t v = 0; v < static_cast<std::size_t>(dim) + 1; ++v) {
    X[v].setZero();
    for (int c = 0; c < mesh.dim(); ++c) X[v](c) = mesh.point(nodes[v])[static_cast<std::size_t>(c)];
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

double longest_edge(const Mesh& mesh, CellId cell) {
  const auto nodes = mesh.cells()[index(cell)];
  const auto vertices = static_cast<std::size_t>(info(mesh.cells().types[ordinal(cell)]).vertices);
  double longest = 0.0;
  for (std::size_t a = 0; a < vertices; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      double d2 = 0.0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(mesh.dim()); ++i) {
        const double d = mesh.point(nodes[a])[i] - mesh.point(nodes[b])[i];
        d2 += d * d;
      }
      longest = std::max(longest, std::sqrt(d2));
    }
  return longest;
}

bool is_straight(const Mesh& mesh, CellId cell) {
  constexpr double rounding = 1e-12;  // of the longest edge: coordinates written with 13 digits or more
  const CellType type = mesh.cells().types[ordinal(cell)];
  const auto edges = mid_edges(type);
  if (edges.empty()) return true;
  const auto nodes = mesh.cells()[index(cell)];
  const double tolerance = rounding * longest_edge(mesh, cell);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto a = mesh.point(nodes[static_cast<std::size_t>(edges[e][0])]);
    const auto b = mesh.point(nodes[static_cast<std::size_t>(edges[e][1])]);
    const auto middle = mesh.point(nodes[static_cast<std::size_t>(info(type).vertices) + e]);
    for (std::size_t i = 0; i < middle.size(); ++i)
      if (std::abs(middle[i] - 0.5 * (a[i] + b[i])) > tolerance) return false;
  }
  return true;
}

std::uint64_t fingerprint(const Mesh& mesh) {
  std::uint64_t hash = fingerprint(std::as_bytes(mesh.points()));
  hash = fingerprint(std::as_bytes(std::span(mesh.cells().nodes)), hash);
  return fingerprint(std::as_bytes(std::span(mesh.cells().types)), hash);
}

}  // namespace tempi
