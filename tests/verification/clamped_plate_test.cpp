// SPDX-License-Identifier: Apache-2.0
// The first frequency of a clamped circular plate, omega = 10.2158 sqrt(D / (rho h)) / a^2, by hinges and clamped
// edges: on equilateral triangles it comes out right, on others it is off by what docs/shells.md says.
#include <gtest/gtest.h>

#include <Eigen/SparseCholesky>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "support/shells.hpp"

namespace tempi {
namespace {

constexpr double clamped_circle = 10.2158, clamped_square = 35.985;  // squares of the plate's wave numbers

// Of a flat shell with D = rho h = 1 whose outer edges are clamped and held.
double first_frequency(const Mesh& mesh) {
  const auto nodes = static_cast<std::size_t>(mesh.node_count());
  const std::vector<double> D(static_cast<std::size_t>(mesh.cells().size()), 1.0), rest(3 * nodes, 0.0);
  std::map<std::pair<NodeId, NodeId>, int> triangles_at;
  for (Index c = 0; c < mesh.cells().size(); ++c)
    for (std::size_t k = 0; k < 3; ++k) {
      const NodeId a = mesh.cells()[c][k], b = mesh.cells()[c][(k + 1) % 3];
      ++triangles_at[std::minmax(a, b)];
    }
  std::vector<char> held(nodes, 0);
  for (const auto& [edge, count] : triangles_at)
    if (count == 1) held[ordinal(edge.first)] = held[ordinal(edge.second)] = 1;
  std::vector<NodeId> rim;
  std::vector<int> row(nodes, -1);
  int rows = 0;
  for (std::size_t a = 0; a < nodes; ++a) {
    if (held[a] != 0) rim.push_back(make_id<NodeId>(static_cast<Index>(a)));
    if (held[a] == 0) row[a] = rows++;
  }
  const auto membrane = make_membrane(mesh, test::all_cells(mesh), {SaintVenantKirchhoff{{1.0, 1.0}}, 1.0, 1.0});
  Eigen::VectorXd mass = Eigen::VectorXd::Zero(rows);
  for (Index k = 0; k < membrane->size(); ++k)
    for (std::size_t a = 0; a < 3; ++a)
      if (const int i = row[ordinal(membrane->stencil(k)[a])]; i >= 0) mass(i) += membrane->mass(k, a);
  std::vector<Eigen::Triplet<double>> entries;
  const auto hinges = make_hinges(mesh, D), clamps = make_clamped_edges(mesh, D, std::vector<std::vector<NodeId>>{rim});
  for (const ShellBending* part : {hinges.get(), clamps.get()})
    for (Index k = 0; k < part->size(); ++k) {
      const auto stencil = part->stencil(k);
      const std::size_t n = 3 * stencil.size();
      std::vector<double> H(n * n, 0.0);
      part->add_hessian(k, rest, 0.0, H);
      for (std::size_t a = 0; a < stencil.size(); ++a)
        for (std::size_t b = 0; b < stencil.size(); ++b)
          if (row[ordinal(stencil[a])] >= 0 && row[ordinal(stencil[b])] >= 0)
            entries.emplace_back(row[ordinal(stencil[a])], row[ordinal(stencil[b])], H[(3 * a + 2) * n + 3 * b + 2]);
    }
  Eigen::SparseMatrix<double> K(rows, rows);
  K.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> inverse(K);
  Eigen::VectorXd x = Eigen::VectorXd::Ones(rows);
  double squared = 0.0;
  for (int i = 0; i < 40; ++i) {  // by inverse iteration
    const Eigen::VectorXd y = inverse.solve(mass.cwiseProduct(x));
    squared = x.dot(mass.cwiseProduct(x)) / x.dot(mass.cwiseProduct(y));
    x = y.normalized();
  }
  return std::sqrt(squared);
}

// Equilateral triangles with edges of 1/n, those within the unit circle.
Mesh equilateral_disc(int n) {
  const double edge = 1.0 / n, height = 0.5 * std::sqrt(3.0) * edge;
  std::vector<double> points;
  std::vector<std::vector<int>> cells;
  std::map<std::pair<int, int>, int> known;
  const auto place = [&](int i, int j) { return std::array{edge * (i + 0.5 * j), height * j, 0.0}; };
  const auto inside = [&](int i, int j) {
    const auto x = place(i, j);
    return x[0] * x[0] + x[1] * x[1] < 1.0 + 1e-9;
  };
  const auto node = [&](int i, int j) {
    const auto [found, is_new] = known.emplace(std::pair(i, j), static_cast<int>(points.size()) / 3);
    const auto x = place(i, j);
    if (is_new) points.insert(points.end(), x.begin(), x.end());
    return found->second;
  };
  for (int j = -2 * n; j <= 2 * n; ++j)
    for (int i = -3 * n; i <= 3 * n; ++i) {
      if (!inside(i + 1, j) || !inside(i, j + 1)) continue;
      if (inside(i, j)) cells.push_back({node(i, j), node(i + 1, j), node(i, j + 1)});
      if (inside(i + 1, j + 1)) cells.push_back({node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)});
    }
  return test::mesh_of(3, std::move(points), CellType::shell3, cells);
}

// 6 k nodes on ring k of n: round, and nowhere quite equilateral.
Mesh disc_of_rings(int n) {
  std::vector<double> points = {0.0, 0.0, 0.0};
  std::vector<std::vector<int>> cells;
  for (int k = 1; k <= n; ++k)
    for (int i = 0; i < 6 * k; ++i) {
      const double angle = std::numbers::pi * i / (3.0 * k), r = static_cast<double>(k) / n;
      points.insert(points.end(), {r * std::cos(angle), r * std::sin(angle), 0.0});
    }
  const auto node = [](int k, int i) { return k == 0 ? 0 : 1 + 3 * k * (k - 1) + i % (6 * k); };
  for (int k = 1; k <= n; ++k)
    for (int sector = 0; sector < 6; ++sector)
      for (int i = 0; i < k; ++i) {
        const int in = sector * (k - 1) + i, out = sector * k + i;
        cells.push_back({node(k - 1, in), node(k, out), node(k, out + 1)});
        if (i + 1 < k) cells.push_back({node(k - 1, in), node(k, out + 1), node(k - 1, in + 1)});
      }
  return test::mesh_of(3, std::move(points), CellType::shell3, cells);
}

Mesh square(int n, double jitter) {
  return test::shell_of(test::triangle_mesh(CellType::triangle3, n, jitter, 3), [](double x, double y) {
    return std::array{x, y, 0.0};
  });
}

// The rim of equilateral triangles is ragged, which is all of their error: it falls as the edges do.
TEST(ClampedPlate, has_its_frequency_on_equilateral_triangles) {
  double before = 1.0;
  for (const int n : {20, 40, 80}) {
    const double error = first_frequency(equilateral_disc(n)) / clamped_circle - 1.0;
    EXPECT_GT(error, 0.0);
    EXPECT_LT(error, 0.65 * before) << n;
    before = error;
  }
  EXPECT_LT(before, 0.014);
}

// What docs/shells.md says of other meshes: they do not converge to the plate. k = D/2 instead of D/6 would be 1.73.
TEST(ClampedPlate, is_off_by_a_few_percent_on_other_meshes) {
  EXPECT_NEAR(first_frequency(disc_of_rings(20)) / clamped_circle, 0.970, 0.001);
  EXPECT_NEAR(first_frequency(disc_of_rings(40)) / clamped_circle, 0.973, 0.001);
  EXPECT_NEAR(first_frequency(square(40, 0.0)) / clamped_square, 1.025, 0.001);
  EXPECT_NEAR(first_frequency(square(40, 0.15)) / clamped_square, 1.041, 0.002);
}

}  // namespace
}  // namespace tempi
