// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/mesh.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/meshes.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

// Two triangles over points 1 to 5; points 2 and 5 (labels 12, 15) belong to none.
MeshData with_unused_points() {
  MeshData data;
  data.dim = 2;
  data.points = {0, 0, 9, 9, 1, 0, 1, 1, 8, 8, 0, 1};
  data.point_labels = {11, 12, 13, 14, 15, 16};
  const std::array<NodeId, 3> lower = {NodeId{0}, NodeId{2}, NodeId{3}}, upper = {NodeId{0}, NodeId{3}, NodeId{5}};
  data.cells.push_back(CellType::triangle3, lower, 101);
  data.cells.push_back(CellType::triangle3, upper, 102);
  const std::array<NodeId, 2> loose = {NodeId{1}, NodeId{2}}, bottom = {NodeId{0}, NodeId{2}};
  data.facets.push_back(CellType::line2, loose, 201);
  data.facets.push_back(CellType::line2, bottom, 202);
  data.groups = {{"edges", 1, {}, {FacetId{1}, FacetId{0}}, {}, {}},
                 {"points", 2, {}, {}, {NodeId{5}, NodeId{4}, NodeId{0}, NodeId{5}}, {}},
                 {"cells", 3, {CellId{1}, CellId{0}}, {}, {}, {}}};
  return data;
}

std::string message_of(MeshData data) {
  try {
    const Mesh mesh(std::move(data));
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Mesh, drops_points_that_no_cell_uses_and_keeps_the_others_in_order) {
  const Mesh mesh(with_unused_points());
  EXPECT_EQ(mesh.node_count(), 4);
  EXPECT_EQ((std::vector<double>(mesh.points().begin(), mesh.points().end())),
            (std::vector<double>{0, 0, 1, 0, 1, 1, 0, 1}));
  const std::array<Index, 4> labels = {11, 13, 14, 16};
  for (Index a = 0; a < 4; ++a) EXPECT_EQ(mesh.point_label(make_id<NodeId>(a)), labels[static_cast<std::size_t>(a)]);
  EXPECT_EQ(mesh.cells().nodes,
            (std::vector<NodeId>{NodeId{0}, NodeId{1}, NodeId{2}, NodeId{0}, NodeId{2}, NodeId{3}}));
}

TEST(Mesh, drops_facets_on_dropped_points_and_renumbers_groups) {
  const Mesh mesh(with_unused_points());
  ASSERT_EQ(mesh.facets().size(), 1);
  EXPECT_EQ(mesh.facets().labels[0], 202);
  EXPECT_EQ(mesh.facets().nodes, (std::vector<NodeId>{NodeId{0}, NodeId{1}}));
  EXPECT_EQ(test::group(mesh, "edges").facets, std::vector{FacetId{0}});
  EXPECT_EQ(test::group(mesh, "points").nodes, (std::vector<NodeId>{NodeId{0}, NodeId{3}}));
  EXPECT_EQ(test::group(mesh, "cells").cells, (std::vector<CellId>{CellId{0}, CellId{1}}));
}

TEST(Mesh, groups_remember_the_points_they_lost) {
  const Mesh mesh(with_unused_points());
  EXPECT_EQ(test::group(mesh, "edges").lost, std::vector<Index>{12});
  EXPECT_EQ(test::group(mesh, "points").lost, std::vector<Index>{15});
  EXPECT_TRUE(test::group(mesh, "cells").lost.empty());
}

TEST(Mesh, warns_once_of_dropped_points_and_names_the_first) {
  const Mesh mesh(with_unused_points());
  ASSERT_EQ(mesh.warnings().size(), 1u);
  EXPECT_NE(mesh.warnings()[0].find("2 points belong to no cell and are dropped"), std::string::npos);
  EXPECT_NE(mesh.warnings()[0].find("point 12"), std::string::npos);
  EXPECT_TRUE(test::triangle_mesh(CellType::triangle6, 2).warnings().empty());
}

TEST(Mesh, sorts_groups_also_when_nothing_is_dropped) {
  MeshData data;
  data.dim = 1;
  data.points = {0, 1, 2};
  data.point_labels = {1, 2, 3};
  for (const int i : {0, 1}) data.cells.push_back(CellType::line2, std::array{NodeId{i}, NodeId{i + 1}}, i + 1);
  data.groups = {{"all", 1, {CellId{1}, CellId{0}}, {}, {NodeId{2}, NodeId{0}, NodeId{2}}, {}}};
  const Mesh mesh(data);
  EXPECT_EQ(mesh.groups()[0].cells, (std::vector<CellId>{CellId{0}, CellId{1}}));
  EXPECT_EQ(mesh.groups()[0].nodes, (std::vector<NodeId>{NodeId{0}, NodeId{2}}));
}

TEST(Mesh, without_cells_is_refused) {
  MeshData data;
  data.dim = 2;
  data.points = {0, 0};
  data.point_labels = {1};
  EXPECT_NE(message_of(data).find("no cells"), std::string::npos);
}

TEST(Mesh, a_cell_or_facet_naming_a_missing_point_is_refused_by_label) {
  MeshData data = with_unused_points();
  data.cells.nodes[1] = NodeId{6};
  EXPECT_NE(message_of(data).find("101"), std::string::npos);
  data = with_unused_points();
  data.facets.nodes[0] = NodeId{-1};
  EXPECT_NE(message_of(data).find("201"), std::string::npos);
}

TEST(Mesh, a_coordinate_that_is_not_finite_is_refused_by_label) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    MeshData data = with_unused_points();
    data.points[7] = bad;
    EXPECT_NE(message_of(data).find("point 14"), std::string::npos);
  }
}

TEST(Mesh, scaled_multiplies_every_coordinate_and_nothing_else) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle6, 2, 0.1, 5);
  const Mesh large = mesh.scaled(4.0);
  for (std::size_t i = 0; i < mesh.points().size(); ++i) EXPECT_EQ(large.points()[i], 4.0 * mesh.points()[i]);
  EXPECT_EQ(large.cells().nodes, mesh.cells().nodes);
  EXPECT_EQ(large.groups().size(), mesh.groups().size());
}

TEST(Mesh, centroid_is_the_mean_of_the_vertices_whatever_the_mid_nodes_do) {
  const Mesh straight = test::tetrahedron_mesh(CellType::tetrahedron4, 1, 0.1, 3);
  for (Index c = 0; c < straight.cells().size(); ++c)
    for (std::size_t i = 0; i < 3; ++i) {
      double mean = 0.0;
      for (const NodeId a : straight.cells()[c]) mean += straight.point(a)[i] / 4.0;
      EXPECT_NEAR(straight.centroid(make_id<CellId>(c))[i], mean, 1e-15);
    }
  const Mesh curved = test::tetrahedron_mesh(CellType::tetrahedron10, 1, 0.0, 3, 0.05);
  const Mesh plain = test::tetrahedron_mesh(CellType::tetrahedron4, 1);
  EXPECT_EQ(curved.centroid(CellId{2}), plain.centroid(CellId{2}));
}

TEST(NodeCells, lists_for_every_node_the_cells_that_name_it_in_order) {
  for (const auto& mesh_case : test::mesh_cases()) {
    const Mesh mesh = mesh_case.make();
    const NodeCells around = node_cells(mesh);
    for (Index a = 0; a < mesh.node_count(); ++a) {
      std::vector<CellId> expected;
      for (Index c = 0; c < mesh.cells().size(); ++c)
        if (std::ranges::find(mesh.cells()[c], make_id<NodeId>(a)) != mesh.cells()[c].end())
          expected.push_back(make_id<CellId>(c));
      const auto found = around[make_id<NodeId>(a)];
      EXPECT_EQ((std::vector<CellId>(found.begin(), found.end())), expected) << mesh_case.name << " node " << a;
    }
  }
}

}  // namespace
}  // namespace tempi
