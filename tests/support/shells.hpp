// SPDX-License-Identifier: Apache-2.0
// Shells built in memory.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "support/meshes.hpp"
#include "tempi/element/shell.hpp"

namespace tempi::test {

using Lift = std::function<std::array<double, 3>(double, double)>;  // of a place in the plane

// The same triangles in space.
inline Mesh shell_of(const Mesh& plane, const Lift& lift) {
  std::vector<double> points;
  for (Index a = 0; a < plane.node_count(); ++a) {
    const auto X = plane.point(make_id<NodeId>(a));
    const auto x = lift(X[0], X[1]);
    points.insert(points.end(), x.begin(), x.end());
  }
  std::vector<std::vector<int>> cells;
  for (Index c = 0; c < plane.cells().size(); ++c) {
    cells.emplace_back();
    for (const NodeId a : plane.cells()[c]) cells.back().push_back(static_cast<int>(index(a)));
  }
  return mesh_of(3, std::move(points), CellType::shell3, cells);
}

// A bent and turned square with jittered triangles.
inline Mesh curved_shell(int n, double jitter, unsigned seed) {
  return shell_of(triangle_mesh(CellType::triangle3, n, jitter, seed), [](double x, double y) {
    const double z = 0.3 * x * x - 0.2 * x * y + 0.1 * std::sin(3.0 * y);
    return std::array{0.8 * x - 0.6 * z, y + 0.1 * x, 0.6 * x + 0.8 * z};
  });
}

// Equilateral triangles with edges of length `edge`: rows of them over [0, columns] x [0, rows] edges.
inline Mesh equilateral_shell(int columns, int rows, double edge, const Lift& lift) {
  std::vector<double> points;
  std::vector<std::vector<int>> cells;
  const double height = 0.5 * std::sqrt(3.0) * edge;
  for (int j = 0; j <= rows; ++j)
    for (int i = 0; i <= columns; ++i) {
      const auto x = lift(edge * (i + 0.5 * (j % 2)), height * j);
      points.insert(points.end(), x.begin(), x.end());
    }
  const auto at = [&](int i, int j) { return j * (columns + 1) + i; };
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i)
      if (j % 2 == 0) {
        cells.push_back({at(i, j), at(i + 1, j), at(i, j + 1)});
        cells.push_back({at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
      } else {
        cells.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
        cells.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      }
  return mesh_of(3, std::move(points), CellType::shell3, cells);
}

inline std::vector<CellId> all_cells(const Mesh& mesh) {
  std::vector<CellId> cells;
  for (Index c = 0; c < mesh.cells().size(); ++c) cells.push_back(make_id<CellId>(c));
  return cells;
}

}  // namespace tempi::test
