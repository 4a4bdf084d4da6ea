// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/straighten.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "tempi/mesh/elements.hpp"

namespace tempi {
namespace {

template <int D>
double determinant(const std::array<std::array<double, 3>, 3>& J) {
  if constexpr (D == 2) return J[0][0] * J[1][1] - J[0][1] * J[1][0];
  return J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) - J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
         J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
}

// The least Jacobian determinant of a cell over that of its vertices alone.
template <class Element>
double least_determinant(const MeshData& mesh, std::span<const NodeId> nodes) {
  constexpr auto D = static_cast<std::size_t>(Element::dim);
  const auto X = [&](std::size_t a, std::size_t c) { return mesh.points[ordinal(nodes[a]) * D + c]; };
  std::array<std::array<double, 3>, 3> J{};
  for (std::size_t v = 1; v <= D; ++v)
    for (std::size_t c = 0; c < D; ++c) J[v - 1][c] = X(v, c) - X(0, c);
  const double straight = determinant<Element::dim>(J);
  double least = 1.0;
  const auto look = [&](const typename Element::Point& at) {
    const auto dN = Element::derivative(at);
    J = {};
    for (std::size_t a = 0; a < static_cast<std::size_t>(Element::nodes); ++a)
      for (std::size_t r = 0; r < D; ++r)
        for (std::size_t c = 0; c < D; ++c) J[r][c] += dN[a][r] * X(a, c);
    least = std::min(least, determinant<Element::dim>(J) / straight);
  };
  std::array<typename Element::Point, D + 1> vertex{};
  for (std::size_t v = 1; v <= D; ++v) vertex[v][v - 1] = 1.0;
  for (std::size_t v = 0; v <= D; ++v) {
    look(vertex[v]);
    for (std::size_t w = 0; w < v; ++w) {
      typename Element::Point middle{};
      for (std::size_t c = 0; c < D; ++c) middle[c] = 0.5 * (vertex[v][c] + vertex[w][c]);
      look(middle);
    }
  }
  for (const auto& point : Element::stiffness_rule) look(point.xi);
  return least;
}

double least_determinant(const MeshData& mesh, Index k) {
  const auto nodes = mesh.cells[k];
  switch (mesh.cells.types[static_cast<std::size_t>(k)]) {
    case CellType::triangle6: return least_determinant<Triangle6>(mesh, nodes);
    case CellType::tetrahedron10: return least_determinant<Tetrahedron10>(mesh, nodes);
    default: return 1.0;
  }
}

}  // namespace

void straighten_folded(MeshData& mesh) {
  constexpr double enough = 0.05;
  const auto d = static_cast<std::size_t>(mesh.dim);
  std::vector<bool> straight(static_cast<std::size_t>(mesh.cells.size()), false);
  Index count = 0;
  for (bool again = true; again;) {
    again = false;
    for (Index k = 0; k < mesh.cells.size(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      if (straight[i] || least_determinant(mesh, k) > enough) continue;
      const auto nodes = mesh.cells[k];
      const auto edges = mid_edges(mesh.cells.types[i]);
      for (std::size_t e = 0; e < edges.size(); ++e) {
        const NodeId a = nodes[static_cast<std::size_t>(edges[e][0])], b = nodes[static_cast<std::size_t>(edges[e][1])];
        const NodeId middle = nodes[static_cast<std::size_t>(info(mesh.cells.types[i]).vertices) + e];
        for (std::size_t c = 0; c < d; ++c)
          mesh.points[ordinal(middle) * d + c] =
              0.5 * (mesh.points[ordinal(a) * d + c] + mesh.points[ordinal(b) * d + c]);
      }
      straight[i] = again = true;
      ++count;
    }
  }
  if (count > 0)
    mesh.warnings.push_back(fmt::format(
        "{} of {} cells of second order came out folded on the curved geometry and {} straight now (curved = false "
        "makes all of them so, a smaller size fewer).",
        count, mesh.cells.size(), count == 1 ? "is" : "are"));
}

}  // namespace tempi
