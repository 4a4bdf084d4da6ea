// SPDX-License-Identifier: Apache-2.0
#include "tempi/adaption/sliding_nodes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/meshes.hpp"

namespace tempi {
namespace {

struct Asked {
  std::vector<int> kind;
  std::vector<std::vector<int>> asked;
  std::vector<char> held;
  explicit Asked(const Mesh& mesh)
      : kind(static_cast<std::size_t>(mesh.cells().size()), 0),
        asked(static_cast<std::size_t>(mesh.node_count())),
        held(static_cast<std::size_t>(mesh.node_count()), 0) {}
  SlidingNodes of(const Mesh& mesh) const { return sliding_nodes(mesh, kind, asked, held); }
};

NodeId node_at(const Mesh& mesh, std::vector<double> X) {
  for (Index a = 0; a < mesh.node_count(); ++a) {
    double off = 0.0;
    for (std::size_t c = 0; c < X.size(); ++c) off += std::abs(mesh.point(make_id<NodeId>(a))[c] - X[c]);
    if (off < 1e-9) return make_id<NodeId>(a);
  }
  ADD_FAILURE();
  return {};
}

int count(const SlidingNodes& s, NodeId a) { return s.of_node[ordinal(a)].count; }

TEST(SlidingNodes, InAPlaneStayAtCornersAndSlideAlongSides) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle6, 4);
  const Asked plain(mesh);
  const SlidingNodes s = plain.of(mesh);
  EXPECT_EQ(s.free, 9);
  EXPECT_EQ(s.sliding, 12);
  EXPECT_EQ(s.held, 4);
  EXPECT_EQ(count(s, node_at(mesh, {0.125, 0.0})), 0);  // in the middle of an edge: it goes along
  const NodeId bottom = node_at(mesh, {0.25, 0.0});
  EXPECT_NEAR(std::abs(s.of_node[ordinal(bottom)].along[0][0]), 1.0, 1e-15);
}

TEST(SlidingNodes, InSpaceSlideInFacesAndAlongEdges) {
  const Mesh mesh = test::tetrahedron_mesh(CellType::tetrahedron4, 4);
  const SlidingNodes s = Asked(mesh).of(mesh);
  EXPECT_EQ(s.free, 27);
  EXPECT_EQ(s.sliding, 6 * 9 + 12 * 3);
  EXPECT_EQ(s.held, 8);
  EXPECT_EQ(count(s, node_at(mesh, {0.25, 0.5, 0.0})), 2);
  const NodeId edge = node_at(mesh, {0.0, 1.0, 0.25});
  EXPECT_EQ(count(s, edge), 1);
  EXPECT_NEAR(std::abs(s.of_node[ordinal(edge)].along[0][2]), 1.0, 1e-15);
}

TEST(SlidingNodes, StayWhereSupportsEndAndWhereTwoKindsMeetTheSurface) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 4);
  Asked half(mesh);
  for (Index a = 0; a < mesh.node_count(); ++a)
    if (const auto X = mesh.point(make_id<NodeId>(a)); X[1] < 1e-9 && X[0] < 0.6)
      half.asked[static_cast<std::size_t>(a)] = {7};
  SlidingNodes s = half.of(mesh);
  EXPECT_EQ(count(s, node_at(mesh, {0.25, 0.0})), 1);  // inside the support
  EXPECT_EQ(count(s, node_at(mesh, {0.5, 0.0})), 0);   // its end
  EXPECT_EQ(count(s, node_at(mesh, {0.75, 0.0})), 1);

  Asked two(mesh);
  for (Index c = 0; c < mesh.cells().size(); ++c)
    two.kind[static_cast<std::size_t>(c)] = mesh.centroid(make_id<CellId>(c))[0] < 0.5 ? 0 : 1;
  s = two.of(mesh);
  EXPECT_EQ(count(s, node_at(mesh, {0.5, 0.5})), 1);  // on the interface, along it
  EXPECT_NEAR(std::abs(s.of_node[ordinal(node_at(mesh, {0.5, 0.5}))].along[0][1]), 1.0, 1e-15);
  EXPECT_EQ(count(s, node_at(mesh, {0.5, 0.0})), 0);
  EXPECT_EQ(count(s, node_at(mesh, {0.25, 0.5})), 2);

  Asked inside(mesh);
  inside.asked[ordinal(node_at(mesh, {0.5, 0.5}))] = {3};
  inside.held[ordinal(node_at(mesh, {0.25, 0.5}))] = 1;
  s = inside.of(mesh);
  EXPECT_EQ(count(s, node_at(mesh, {0.5, 0.5})), 0);
  EXPECT_EQ(count(s, node_at(mesh, {0.25, 0.5})), 0);
}

// A slit between the nodes (1/4, 1/2) and (3/4, 1/2): its faces lie in one plane, back to back, and its ends stay.
TEST(SlidingNodes, TheTipOfACrackStays) {
  const Mesh whole = test::triangle_mesh(CellType::triangle3, 8);
  std::vector<double> points(whole.points().begin(), whole.points().end());
  std::vector<std::vector<int>> cells;
  std::vector<int> twin(static_cast<std::size_t>(whole.node_count()), -1);
  for (Index a = 0; a < whole.node_count(); ++a)
    if (const auto X = whole.point(make_id<NodeId>(a)); std::abs(X[1] - 0.5) < 1e-9 && std::abs(X[0] - 0.5) < 0.24) {
      twin[static_cast<std::size_t>(a)] = static_cast<int>(points.size() / 2);
      points.insert(points.end(), X.begin(), X.end());
    }
  for (Index c = 0; c < whole.cells().size(); ++c) {
    cells.emplace_back();
    for (const NodeId a : whole.cells()[c]) {
      const int other = twin[ordinal(a)];
      const bool above = whole.centroid(make_id<CellId>(c))[1] > 0.5;
      cells.back().push_back(other >= 0 && above ? other : static_cast<int>(index(a)));
    }
  }
  const Mesh mesh = test::mesh_of(2, points, CellType::triangle3, cells);
  const SlidingNodes s = Asked(mesh).of(mesh);
  EXPECT_EQ(count(s, node_at(mesh, {0.25, 0.5})), 0);
  EXPECT_EQ(count(s, node_at(mesh, {0.75, 0.5})), 0);
  EXPECT_EQ(count(s, node_at(mesh, {0.375, 0.5})), 1);  // of one face
  EXPECT_EQ(count(s, node_at(mesh, {0.875, 0.5})), 2);  // ahead of the tip
}

TEST(SlidingNodes, CurvedSidesStayAndGroupsKeepTheirEnds) {
  const Mesh bent = test::triangle_mesh(CellType::triangle6, 4, 0.0, 1, 0.05);
  EXPECT_LE(Asked(bent).of(bent).sliding, 3);  // what bending has left straight
  const Mesh plain = test::triangle_mesh(CellType::triangle3, 4);
  MeshData data;
  data.dim = 2;
  data.points.assign(plain.points().begin(), plain.points().end());
  data.cells = plain.cells();
  for (Index a = 0; a < plain.node_count(); ++a) data.point_labels.push_back(a + 1);
  const std::array<NodeId, 2> side = {node_at(plain, {0.25, 0.0}), node_at(plain, {0.5, 0.0})};
  data.facets.push_back(CellType::line2, side, 1);
  Group group;
  group.name = "part";
  group.facets = {make_id<FacetId>(0)};
  data.groups = {group};
  const Mesh named(std::move(data));
  const SlidingNodes s = Asked(named).of(named);
  EXPECT_EQ(count(s, side[0]), 0);
  EXPECT_EQ(count(s, side[1]), 0);
  EXPECT_EQ(count(s, node_at(named, {0.75, 0.0})), 1);
}

}  // namespace
}  // namespace tempi
