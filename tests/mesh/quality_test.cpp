// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/quality.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "support/meshes.hpp"

namespace tempi {
namespace {

double inradius_of(int dim, CellType type, std::vector<double> points) {
  std::vector<int> nodes(points.size() / static_cast<std::size_t>(dim));
  for (std::size_t a = 0; a < nodes.size(); ++a) nodes[a] = static_cast<int>(a);
  return inradius(test::mesh_of(dim, std::move(points), type, {nodes}), CellId{0});
}

TEST(Inradius, of_a_line_is_half_its_length) { EXPECT_DOUBLE_EQ(inradius_of(1, CellType::line2, {-1.0, 2.0}), 1.5); }

TEST(Inradius, of_triangles_is_that_of_geometry) {
  EXPECT_DOUBLE_EQ(inradius_of(2, CellType::triangle3, {0, 0, 3, 0, 0, 4}), 1.0);
  EXPECT_DOUBLE_EQ(inradius_of(2, CellType::triangle3, {0, 0, 1, 0, 0.5, std::sqrt(0.75)}), 1.0 / std::sqrt(12.0));
}

TEST(Inradius, of_tetrahedra_is_that_of_geometry) {
  EXPECT_DOUBLE_EQ(inradius_of(3, CellType::tetrahedron4, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}),
                   1.0 / (3.0 + std::sqrt(3.0)));
  const double edge = std::sqrt(8.0);
  EXPECT_DOUBLE_EQ(inradius_of(3, CellType::tetrahedron4, {1, 1, 1, -1, -1, 1, -1, 1, -1, 1, -1, -1}),
                   edge / std::sqrt(24.0));
}

// The point with barycentric weights proportional to the opposite areas has this distance from every face.
TEST(Inradius, is_the_distance_of_the_incentre_from_every_face) {
  const Mesh mesh = test::tetrahedron_mesh(CellType::tetrahedron4, 2, 0.15, 21);
  for (Index c = 0; c < mesh.cells().size(); ++c) {
    std::array<Eigen::Vector3d, 4> X, normal;
    std::array<double, 4> area{};
    for (std::size_t v = 0; v < 4; ++v) {
      const auto p = mesh.point(mesh.cells()[c][v]);
      X[v] = {p[0], p[1], p[2]};
    }
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    double surface = 0.0;
    for (std::size_t v = 0; v < 4; ++v) {
      const Eigen::Vector3d n = (X[(v + 2) % 4] - X[(v + 1) % 4]).cross(X[(v + 3) % 4] - X[(v + 1) % 4]);
      area[v] = 0.5 * n.norm();
      normal[v] = n.normalized();
      centre += area[v] * X[v];
      surface += area[v];
    }
    centre /= surface;
    for (std::size_t v = 0; v < 4; ++v)
      EXPECT_NEAR(std::abs(normal[v].dot(centre - X[(v + 1) % 4])), inradius(mesh, make_id<CellId>(c)), 1e-15);
  }
}

TEST(Inradius, does_not_look_at_mid_edge_nodes_and_scales_with_the_mesh) {
  const Mesh curved = test::triangle_mesh(CellType::triangle6, 1, 0.0, 3, 0.06);
  const Mesh straight = test::triangle_mesh(CellType::triangle3, 1);
  EXPECT_EQ(inradius(curved, CellId{0}), inradius(straight, CellId{0}));
  EXPECT_DOUBLE_EQ(inradius(straight.scaled(3.0), CellId{1}), 3.0 * inradius(straight, CellId{1}));
}

TEST(Fingerprint, is_the_same_for_the_same_mesh_and_another_for_any_change) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 2, 0.1, 1);
  EXPECT_EQ(fingerprint(mesh), fingerprint(test::triangle_mesh(CellType::triangle3, 2, 0.1, 1)));
  EXPECT_NE(fingerprint(mesh), fingerprint(test::triangle_mesh(CellType::triangle3, 2, 0.1, 2)));
  EXPECT_NE(fingerprint(mesh), fingerprint(mesh.scaled(1.0 + 1e-15)));
  const std::vector<double> square = {0, 0, 1, 0, 1, 1, 0, 1};
  const auto of = [&](std::vector<std::vector<int>> cells) {
    return fingerprint(test::mesh_of(2, square, CellType::triangle3, cells));
  };
  EXPECT_NE(of({{0, 1, 2}, {0, 2, 3}}), of({{0, 2, 3}, {0, 1, 2}}));
  EXPECT_NE(of({{0, 1, 2}, {0, 2, 3}}), of({{0, 1, 3}, {1, 2, 3}}));
}

}  // namespace
}  // namespace tempi
