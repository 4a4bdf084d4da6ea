// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/facets.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <set>

#include "support/meshes.hpp"

namespace tempi {
namespace {

using Vector = Eigen::Vector3d;

Vector point(const Mesh& mesh, NodeId a) {
  Vector X = Vector::Zero();
  for (int c = 0; c < mesh.dim(); ++c) X(c) = mesh.point(a)[static_cast<std::size_t>(c)];
  return X;
}

// Area vector of the straight facet through the vertices: right of the direction of travel in 2-D, right-handed in 3-D.
Vector area_vector(const Mesh& mesh, CellFacet f) {
  const auto n = facet_nodes(mesh, f);
  if (mesh.dim() == 1) return {f.local == 0 ? -1.0 : 1.0, 0.0, 0.0};
  const Vector d = point(mesh, n[1]) - point(mesh, n[0]);
  if (mesh.dim() == 2) return {d.y(), -d.x(), 0.0};
  return 0.5 * d.cross(point(mesh, n[2]) - point(mesh, n[0]));
}

Vector middle(const Mesh& mesh, CellFacet f) {
  const auto n = facet_nodes(mesh, f);
  const int vertices = info(facet_type(mesh, f)).vertices;
  Vector sum = Vector::Zero();
  for (int v = 0; v < vertices; ++v) sum += point(mesh, n[static_cast<std::size_t>(v)]);
  return sum / vertices;
}

int facet_count(const Mesh& mesh, Index c) {
  return static_cast<int>(local_facets(mesh.cells().types[static_cast<std::size_t>(c)]).size());
}

std::set<NodeId> vertices_of(const Mesh& mesh, CellFacet f) {
  const auto n = facet_nodes(mesh, f);
  return {n.begin(), n.begin() + info(facet_type(mesh, f)).vertices};
}

class EveryMesh : public testing::TestWithParam<test::MeshCase> {};
INSTANTIATE_TEST_SUITE_P(Facets, EveryMesh, testing::ValuesIn(test::mesh_cases()),
                         [](const auto& param) { return param.param.name; });

TEST_P(EveryMesh, facet_normals_point_out_of_their_cell) {
  const Mesh mesh = GetParam().make();
  for (Index c = 0; c < mesh.cells().size(); ++c) {
    EXPECT_EQ(facet_count(mesh, c), mesh.dim() + 1);
    const auto centroid = mesh.centroid(make_id<CellId>(c));
    Vector inside = Vector::Zero();
    for (int i = 0; i < mesh.dim(); ++i) inside(i) = centroid[static_cast<std::size_t>(i)];
    for (int f = 0; f < facet_count(mesh, c); ++f) {
      const CellFacet facet{make_id<CellId>(c), f};
      EXPECT_GT(area_vector(mesh, facet).dot(middle(mesh, facet) - inside), 0.0) << "cell " << c << " facet " << f;
    }
  }
}

TEST_P(EveryMesh, area_vectors_of_a_cell_and_of_the_body_sum_to_zero) {
  const Mesh mesh = GetParam().make();
  for (Index c = 0; c < mesh.cells().size(); ++c) {
    Vector sum = Vector::Zero();
    for (int f = 0; f < facet_count(mesh, c); ++f) sum += area_vector(mesh, {make_id<CellId>(c), f});
    EXPECT_LT(sum.norm(), 1e-15);
  }
  Vector sum = Vector::Zero();
  for (const CellFacet f : boundary_facets(mesh)) sum += area_vector(mesh, f);
  EXPECT_LT(sum.norm(), 1e-14);
}

// The mid-edge nodes of a facet are those of its cell on the same edges.
TEST_P(EveryMesh, mid_edge_nodes_of_a_facet_lie_on_its_own_edges) {
  const Mesh mesh = GetParam().make();
  for (Index c = 0; c < mesh.cells().size(); ++c) {
    const auto cell_edges = mid_edges(mesh.cells().types[static_cast<std::size_t>(c)]);
    const auto nodes = mesh.cells()[c];
    std::map<std::set<NodeId>, NodeId> middle_of;
    for (std::size_t e = 0; e < cell_edges.size(); ++e)
      middle_of[{nodes[static_cast<std::size_t>(cell_edges[e][0])],
                 nodes[static_cast<std::size_t>(cell_edges[e][1])]}] =
          nodes[static_cast<std::size_t>(mesh.dim()) + 1 + e];
    for (int f = 0; f < facet_count(mesh, c); ++f) {
      const CellFacet facet{make_id<CellId>(c), f};
      const auto n = facet_nodes(mesh, facet);
      const auto edges = mid_edges(facet_type(mesh, facet));
      const auto first = static_cast<std::size_t>(info(facet_type(mesh, facet)).vertices);
      EXPECT_EQ(n.size(), first + edges.size());
      for (std::size_t e = 0; e < edges.size(); ++e) {
        const std::set<NodeId> ends = {n[static_cast<std::size_t>(edges[e][0])],
                                       n[static_cast<std::size_t>(edges[e][1])]};
        EXPECT_EQ(n[first + e], middle_of.at(ends));
      }
    }
  }
}

TEST_P(EveryMesh, boundary_facets_are_those_of_one_cell_only) {
  const Mesh mesh = GetParam().make();
  std::vector<CellFacet> all, expected;
  for (Index c = 0; c < mesh.cells().size(); ++c)
    for (int f = 0; f < facet_count(mesh, c); ++f) all.push_back({make_id<CellId>(c), f});
  for (const CellFacet& f : all) {
    const auto shared =
        std::ranges::count_if(all, [&](const CellFacet& g) { return vertices_of(mesh, f) == vertices_of(mesh, g); });
    ASSERT_LE(shared, 2);
    if (shared == 1) expected.push_back(f);
  }
  EXPECT_EQ(boundary_facets(mesh), expected);
}

TEST_P(EveryMesh, finder_gives_the_one_cell_of_a_boundary_facet) {
  const Mesh mesh = GetParam().make();
  const FacetFinder find(mesh);
  const auto boundary = boundary_facets(mesh);
  ASSERT_EQ(static_cast<std::size_t>(mesh.facets().size()), boundary.size());
  for (std::size_t f = 0; f < boundary.size(); ++f)
    EXPECT_EQ(find(make_id<FacetId>(static_cast<Index>(f))), std::vector{boundary[f]});
}

TEST(FacetFinder, gives_both_cells_of_an_inner_facet_in_order_and_none_where_there_is_none) {
  MeshData data;
  data.dim = 2;
  data.points = {0, 0, 1, 0, 1, 1, 0, 1};
  data.point_labels = {1, 2, 3, 4};
  const std::array<NodeId, 3> upper = {NodeId{0}, NodeId{2}, NodeId{3}}, lower = {NodeId{0}, NodeId{1}, NodeId{2}};
  data.cells.push_back(CellType::triangle3, upper, 1);
  data.cells.push_back(CellType::triangle3, lower, 2);
  const std::array<NodeId, 2> diagonal = {NodeId{2}, NodeId{0}}, across = {NodeId{1}, NodeId{3}};
  data.facets.push_back(CellType::line2, diagonal, 3);
  data.facets.push_back(CellType::line2, across, 4);
  const Mesh mesh(data);
  const FacetFinder find(mesh);
  EXPECT_EQ(find(FacetId{0}), (std::vector<CellFacet>{{CellId{0}, 0}, {CellId{1}, 2}}));
  EXPECT_TRUE(find(FacetId{1}).empty());
}

}  // namespace
}  // namespace tempi
