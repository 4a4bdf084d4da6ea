// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/msh_writer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "support/meshes.hpp"
#include "tempi/core/error.hpp"
#include "tempi/io/read_mesh.hpp"

namespace tempi {
namespace {

// Cells, facets and nodes in groups that overlap, one without a name.
Mesh with_groups(const Mesh& plain, CellType facet) {
  MeshData data;
  data.dim = plain.dim();
  data.points.assign(plain.points().begin(), plain.points().end());
  data.cells = plain.cells();
  for (Index a = 0; a < plain.node_count(); ++a) data.point_labels.push_back(3 * a + 7);
  for (const CellFacet f : boundary_facets(plain)) data.facets.push_back(facet, facet_nodes(plain, f), 1);
  const auto cells_from = [&](Index first, Index count) {
    std::vector<CellId> ids;
    for (Index c = first; c < first + count; ++c) ids.push_back(make_id<CellId>(c));
    return ids;
  };
  std::vector<FacetId> all, some;
  for (Index f = 0; f < data.facets.size(); ++f) (f % 3 == 0 ? some : all).push_back(make_id<FacetId>(f));
  all.insert(all.end(), some.begin(), some.end());
  std::ranges::sort(all);
  data.groups.resize(5);
  data.groups[0].name = "body";
  data.groups[0].tag = 4;
  data.groups[0].cells = cells_from(0, plain.cells().size());
  data.groups[1].name = "soft part";
  data.groups[1].tag = 9;
  data.groups[1].cells = cells_from(1, 3);
  data.groups[2].tag = 17;
  data.groups[2].facets = some;
  data.groups[3].name = "outside";
  data.groups[3].facets = all;
  data.groups[4].name = "points";
  data.groups[4].nodes = {make_id<NodeId>(0), make_id<NodeId>(3)};
  return Mesh(std::move(data));
}

TEST(MshWriter, WhatIsReadAgainIsTheMeshWithItsGroups) {
#ifndef TEMPI_WITH_GMSH
  GTEST_SKIP() << "built without Gmsh";
#endif
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "written.msh";
  for (const test::MeshCase& of : test::mesh_cases()) {
    SCOPED_TRACE(of.name);
    const Mesh plain = of.make();
    if (plain.dim() == 1) continue;
    const CellType type = facet_type(plain, boundary_facets(plain).front());
    const Mesh mesh = with_groups(plain, type);
    std::vector<double> points(mesh.points().begin(), mesh.points().end());
    for (double& x : points) x = 1.25 * x + 1e-3;
    write_msh(file, mesh, points);
    const Mesh back = read_mesh(file);
    ASSERT_EQ(back.dim(), mesh.dim());
    ASSERT_EQ(back.node_count(), mesh.node_count());
    ASSERT_EQ(back.cells().size(), mesh.cells().size());
    ASSERT_EQ(back.facets().size(), mesh.facets().size() + 2);  // and two points
    std::map<Index, NodeId> by_label;
    for (Index a = 0; a < back.node_count(); ++a) by_label[back.point_label(make_id<NodeId>(a))] = make_id<NodeId>(a);
    const auto d = static_cast<std::size_t>(mesh.dim());
    for (Index a = 0; a < mesh.node_count(); ++a) {
      const NodeId there = by_label.at(mesh.point_label(make_id<NodeId>(a)));
      for (std::size_t c = 0; c < d; ++c) EXPECT_EQ(back.point(there)[c], points[static_cast<std::size_t>(a) * d + c]);
    }
    // Cells by the labels of their nodes, in their order.
    const auto labels_of = [](const Mesh& of_mesh, const CellArray& array, Index i) {
      std::vector<Index> labels;
      for (const NodeId a : array[i]) labels.push_back(of_mesh.point_label(a));
      return labels;
    };
    const auto cells_of = [&](const Mesh& of_mesh, const std::string& name) {
      std::set<std::vector<Index>> found;
      for (const CellId c : test::group(of_mesh, name).cells)
        found.insert(labels_of(of_mesh, of_mesh.cells(), index(c)));
      return found;
    };
    const auto facets_in = [&](const Mesh& of_mesh, const auto& is_it) {
      std::set<std::vector<Index>> found;
      for (const Group& g : of_mesh.groups())
        if (is_it(g))
          for (const FacetId f : g.facets) found.insert(labels_of(of_mesh, of_mesh.facets(), index(f)));
      return found;
    };
    for (const char* name : {"body", "soft part"}) EXPECT_EQ(cells_of(back, name), cells_of(mesh, name)) << name;
    const auto outside = [](const Group& g) { return g.name == "outside"; };
    const auto seventeen = [](const Group& g) { return g.tag == 17 && !g.facets.empty(); };
    EXPECT_EQ(facets_in(back, outside), facets_in(mesh, outside));
    EXPECT_EQ(facets_in(back, seventeen), facets_in(mesh, seventeen));
    EXPECT_FALSE(facets_in(mesh, seventeen).empty());
    const auto points_group = [](const Group& g) { return g.name == "points"; };
    EXPECT_EQ(facets_in(back, points_group), (std::set<std::vector<Index>>{{7}, {16}}));
  }
  std::filesystem::remove(file);
}

TEST(MshWriter, TellsWhereItCannotWrite) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 1);
  EXPECT_THROW(write_msh("/nowhere/at/all.msh", mesh, mesh.points()), OutputError);
}

}  // namespace
}  // namespace tempi
