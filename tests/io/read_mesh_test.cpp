// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/read_mesh.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "io/curved_block.hpp"
#include "support/meshes.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"
#include "tempi/model/steps.hpp"

#ifdef TEMPI_WITH_GMSH
#include <clocale>
#include <csignal>
#include <iostream>
#endif

namespace tempi {
namespace {

using test::CurvedBlock;
using test::Element;
using test::write_file;

std::string message_of(const std::filesystem::path& file, const MeshOptions& options = {}) {
  try {
    read_mesh(file, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ReadMesh, a_missing_file_is_named) {
  EXPECT_EQ(message_of("nowhere/plate.inp"),
            "mesh file 'nowhere/plate.inp' does not exist. Check the name and the folder.");
}

TEST(ReadMesh, a_folder_is_no_mesh_file) {
  const auto file = write_file("a.inp", "");
  const auto folder = file.parent_path() / "folder.inp";
  std::filesystem::create_directories(folder);
  EXPECT_NE(message_of(folder).find("is not a file"), std::string::npos);
}

TEST(ReadMesh, an_unknown_extension_is_refused_with_the_known_ones) {
  EXPECT_NE(message_of("plate.xyz").find("'.xyz' (supported: .msh "), std::string::npos);
  EXPECT_NE(message_of("skin.stl").find("surface without an inside"), std::string::npos);
}

TEST(ReadMesh, options_out_of_range_are_refused) {
  EXPECT_EQ(message_of("a.geo", {.order = 3}), "mesh order = 3 (must be 1 or 2). Correct it.");
  EXPECT_NE(message_of("a.geo", {.size = -1.0}).find("mesh size = -1 m"), std::string::npos);
  EXPECT_NE(message_of("a.geo", {.size = std::nan("")}).find("mesh size"), std::string::npos);
}

#ifndef TEMPI_WITH_GMSH

TEST(ReadMesh, without_gmsh_the_message_says_how_to_get_it) {
  EXPECT_NE(message_of(write_file("a.msh", "")).find("-DTEMPI_WITH_GMSH=ON"), std::string::npos);
}

#else

const Group* find_group(const Mesh& mesh, const std::string& name, int tag, int dim) {
  for (const Group& g : mesh.groups()) {
    const bool has = dim == mesh.dim() ? !g.cells.empty() : !g.facets.empty();
    if (has && (name.empty() || g.name.empty() ? g.tag == tag : g.name == name)) return &g;
  }
  return nullptr;
}

// ---- one block, all formats ----

struct Format {
  std::string file;
  std::function<std::string(const CurvedBlock&)> write;
  bool has_labels = true;  // Gmsh numbers the elements of some formats itself
  bool has_groups = true;
};

void PrintTo(const Format& format, std::ostream* out) { *out << format.file; }

std::vector<Format> formats() {
  return {{"block2.msh", test::as_msh2},
          {"block2b.msh", test::as_binary_msh2},
          {"block4.msh", test::as_msh4},
          {"block4b.msh", test::as_binary_msh4},
          {"block.bdf", test::as_bdf},
          {"block.nas", test::as_bdf},
          {"block.vtk", test::as_vtk, false, false},
          {"block.mesh", test::as_medit, false},
          {"block.unv", test::as_unv},
          {"block.inp", test::as_inp}};
}

class ReadMeshFormat : public testing::TestWithParam<Format> {};

INSTANTIATE_TEST_SUITE_P(All, ReadMeshFormat, testing::ValuesIn(formats()), [](const auto& format) {
  std::string name = format.param.file;
  std::ranges::replace(name, '.', '_');
  return name;
});

void expect_same_elements(const CellArray& read, const std::vector<Element>& written, bool has_labels) {
  ASSERT_EQ(read.size(), static_cast<Index>(written.size()));
  for (std::size_t i = 0; i < written.size(); ++i) {
    std::vector<int> nodes;
    for (const NodeId a : read[static_cast<Index>(i)]) nodes.push_back(static_cast<int>(index(a)) + 1);
    EXPECT_EQ(nodes, written[i].nodes) << "element " << written[i].label;
    if (has_labels) {
      EXPECT_EQ(read.labels[i], written[i].label);
    }
  }
}

TEST_P(ReadMeshFormat, the_curved_block_arrives_as_written) {
  const CurvedBlock block;
  const Mesh mesh = read_mesh(write_file("x" + GetParam().file, GetParam().write(block)));
  ASSERT_EQ(mesh.dim(), 3);
  ASSERT_EQ(mesh.node_count(), static_cast<Index>(block.points.size()));
  for (std::size_t a = 0; a < block.points.size(); ++a) {
    EXPECT_EQ(mesh.point_label(make_id<NodeId>(static_cast<Index>(a))), static_cast<Index>(a + 1));
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(mesh.points()[3 * a + k], block.points[a][k], 1e-14) << "point " << a + 1;
  }
  expect_same_elements(mesh.cells(), block.cells, GetParam().has_labels);
  expect_same_elements(mesh.facets(), block.facets, GetParam().has_labels);
}

// Kinetic and potential energy after a short asynchronous run from a twisted start.
Energies energies_after_a_run(const Mesh& mesh) {
  const auto model = test::make_model(mesh, NeoHookean{{2.0, 1.0}}, 1.5);
  State state = reference_state(*model);
  for (std::size_t a = 0; a < state.clock.size(); ++a) {
    const auto X = mesh.points().subspan(3 * a, 3);
    state.displacement[3 * a] = 0.05 * X[1] * X[2];
    state.displacement[3 * a + 1] = -0.04 * X[0] * X[2];
    state.velocity[3 * a + 2] = 0.1 * X[0];
  }
  std::vector<double> steps = stable_steps(*model, state.displacement);
  for (double& step : steps) step *= 0.3;
  AviExplicit integrator(*model, steps);
  const double end_time = 20.0 * *std::ranges::min_element(steps);
  integrator.advance_to(state, end_time);
  return energies(*model, integrator.synchronized(state, end_time));
}

// All coordinates of the block are multiples of 1/64, so every format holds them exactly.
TEST_P(ReadMeshFormat, the_curved_block_has_the_same_energies_in_every_format) {
  const CurvedBlock block;
  const Energies here = energies_after_a_run(read_mesh(write_file("e" + GetParam().file, GetParam().write(block))));
  const Energies there = energies_after_a_run(read_mesh(write_file("e_reference.inp", test::as_inp(block))));
  EXPECT_NEAR(here.kinetic, there.kinetic, 1e-12 * there.kinetic);
  EXPECT_NEAR(here.potential, there.potential, 1e-12 * there.potential);
  EXPECT_GT(there.potential, 0.0);
}

TEST_P(ReadMeshFormat, the_groups_of_the_block_hold_what_was_put_into_them) {
  const CurvedBlock block;
  const Mesh mesh = read_mesh(write_file("x" + GetParam().file, GetParam().write(block)));
  if (!GetParam().has_groups) {  // cell data are not read: all cells are one group
    EXPECT_EQ(find_group(mesh, "", 1, 3)->cells.size(), block.cells.size());
    return;
  }
  for (const auto& [tag, name] : {std::pair(1, "near"), std::pair(3, "far")}) {
    const Group* group = find_group(mesh, name, tag, 3);
    ASSERT_NE(group, nullptr) << name;
    std::vector<CellId> expected;
    for (std::size_t c = 0; c < block.cells.size(); ++c)
      if (block.cells[c].tag == tag) expected.push_back(make_id<CellId>(static_cast<Index>(c)));
    EXPECT_EQ(group->cells, expected) << name;
  }
  const Group* left = find_group(mesh, "left", 2, 2);
  ASSERT_NE(left, nullptr);
  EXPECT_EQ(left->facets.size(), block.facets.size());
}

// ---- the order of mid-edge nodes ----

void swap_last(Element& cell) { std::swap(cell.nodes[8], cell.nodes[9]); }

TEST_P(ReadMeshFormat, a_file_that_is_wholly_in_the_other_node_order_is_put_right) {
  CurvedBlock block;
  const CurvedBlock right = block;
  for (Element& cell : block.cells) swap_last(cell);
  const Mesh mesh = read_mesh(write_file("x" + GetParam().file, GetParam().write(block)));
  expect_same_elements(mesh.cells(), right.cells, GetParam().has_labels);
}

TEST_P(ReadMeshFormat, triangles_with_middle_nodes_opposite_their_vertices_are_put_right) {
  CurvedBlock block;
  const CurvedBlock right = block;
  for (Element& facet : block.facets) std::rotate(facet.nodes.begin() + 3, facet.nodes.begin() + 4, facet.nodes.end());
  const Mesh mesh = read_mesh(write_file("x" + GetParam().file, GetParam().write(block)));
  expect_same_elements(mesh.facets(), right.facets, GetParam().has_labels);
}

TEST_P(ReadMeshFormat, one_cell_in_another_node_order_than_the_rest_is_an_error) {
  CurvedBlock block;
  swap_last(block.cells[16]);
  const auto file = write_file("x" + GetParam().file, GetParam().write(block));
  const std::string message = message_of(file);
  EXPECT_NE(message.find(file.string() + ": 10-node tetrahedron "), std::string::npos) << message;
  EXPECT_NE(message.find("in another order than the other cells"), std::string::npos) << message;
  if (GetParam().has_labels) {
    EXPECT_NE(message.find("tetrahedron 17 at ("), std::string::npos) << message;
  }
}

TEST_P(ReadMeshFormat, a_cell_that_no_node_order_fits_is_an_error) {
  CurvedBlock block;
  std::swap(block.cells[16].nodes[4], block.cells[16].nodes[9]);
  const std::string message = message_of(write_file("x" + GetParam().file, GetParam().write(block)));
  EXPECT_NE(message.find("no known node order fits"), std::string::npos) << message;
}

// ---- groups and labels of .msh ----

std::string msh2(const std::string& nodes, int node_count, const std::string& elements, int element_count,
                 const std::string& names = "") {
  return fmt::format("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n{}$Nodes\n{}\n{}$EndNodes\n$Elements\n{}\n{}$EndElements\n",
                     names, node_count, nodes, element_count, elements);
}

const std::string square = "40 0 1 0\n10 0 0 0\n20 1 0 0\n30 1 1 0\n";

TEST(ReadMesh, points_and_cells_come_in_ascending_order_of_their_labels) {
  const Mesh mesh = read_mesh(write_file("a.msh", msh2(square, 4, "9 2 2 0 1 10 30 40\n4 2 2 0 2 10 20 30\n", 2)));
  EXPECT_EQ(mesh.cells().labels, (std::vector<Index>{4, 9}));
  EXPECT_EQ(mesh.point_label(make_id<NodeId>(3)), 40);
  EXPECT_EQ(mesh.point(make_id<NodeId>(3))[1], 1.0);
  ASSERT_EQ(mesh.groups().size(), 2u);  // no physical groups: the entities
  EXPECT_EQ(mesh.groups()[0].tag, 1);
  EXPECT_EQ(mesh.groups()[0].cells, std::vector<CellId>{make_id<CellId>(1)});
}

TEST(ReadMesh, an_element_written_once_per_physical_group_is_one_element_in_both) {
  const std::string names = "$PhysicalNames\n3\n2 5 \"plate\"\n2 6 \"hot\"\n1 7 \"hot\"\n$EndPhysicalNames\n";
  const std::string elements =
      "1 2 2 5 1 10 20 30\n2 2 2 5 1 10 30 40\n3 2 2 6 1 10 20 30\n4 1 2 7 1 10 20\n5 1 2 0 2 20 30\n";
  const Mesh mesh = read_mesh(write_file("a.msh", msh2(square, 4, elements, 5, names)));
  EXPECT_EQ(mesh.cells().labels, (std::vector<Index>{1, 2}));
  EXPECT_EQ(mesh.facets().labels, (std::vector<Index>{4, 5}));
  ASSERT_EQ(mesh.groups().size(), 2u);
  EXPECT_EQ(mesh.groups()[0].name, "plate");
  EXPECT_EQ(mesh.groups()[0].cells.size(), 2u);
  EXPECT_EQ(mesh.groups()[1].name, "hot");  // one group for both dimensions
  EXPECT_EQ(mesh.groups()[1].cells, std::vector<CellId>{make_id<CellId>(0)});
  EXPECT_EQ(mesh.groups()[1].facets, std::vector<FacetId>{make_id<FacetId>(0)});
}

TEST(ReadMesh, an_entity_in_two_physical_groups_is_listed_by_both) {
  const std::string text =
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 5 \"plate\"\n$EndPhysicalNames\n$Entities\n0 0 1 0\n"
      "3 0 0 0 1 1 0 2 5 6 0\n$EndEntities\n$Nodes\n1 4 1 4\n2 3 0 4\n1\n2\n3\n4\n0 0 2\n1 0 2\n1 1 2\n0 1 "
      "2\n$EndNodes\n"
      "$Elements\n1 2 1 2\n2 3 2 2\n1 1 2 3\n2 1 3 4\n$EndElements\n";
  const Mesh mesh = read_mesh(write_file("a.msh", text));
  ASSERT_EQ(mesh.groups().size(), 2u);
  EXPECT_EQ(mesh.groups()[0].name, "plate");
  EXPECT_EQ(mesh.groups()[1].name, "");
  EXPECT_EQ(mesh.groups()[1].tag, 6);
  EXPECT_EQ(mesh.groups()[0].cells.size(), 2u);
  EXPECT_EQ(mesh.groups()[1].cells.size(), 2u);
}

TEST(ReadMesh, a_physical_point_on_no_cell_is_remembered_by_its_group) {
  const std::string names = "$PhysicalNames\n1\n0 8 \"target\"\n$EndPhysicalNames\n";
  const std::string elements = "1 2 2 5 1 10 20 30\n2 15 2 8 1 10\n3 15 2 8 2 50\n";
  const Mesh mesh = read_mesh(write_file("a.msh", msh2(square + "50 7 7 0\n", 5, elements, 3, names)));
  const Group* target = find_group(mesh, "target", 8, 0);
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(target->facets.size(), 1u);
  EXPECT_EQ(target->lost, std::vector<Index>{50});
  EXPECT_EQ(mesh.warnings().size(), 1u);
}

TEST(ReadMesh, named_groups_of_a_universal_file_are_groups) {
  std::string text = test::as_unv(CurvedBlock());
  text += "    -1\n  2477\n";
  text += fmt::format("{:10}{:10}{:10}{:10}{:10}{:10}{:10}{:10}\npair\n", 1, 0, 0, 0, 0, 0, 0, 2);
  text += fmt::format("{:10}{:10}{:10}{:10}{:10}{:10}{:10}{:10}\n    -1\n", 8, 1, 0, 0, 8, 2, 0, 0);
  const Mesh mesh = read_mesh(write_file("a.unv", text));
  EXPECT_EQ(mesh.cells().size(), 48);
  ASSERT_EQ(mesh.groups().size(), 1u);
  const Group* group = find_group(mesh, "pair", -1, 3);
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->cells, (std::vector<CellId>{make_id<CellId>(0), make_id<CellId>(1)}));
}

// ---- what is refused ----

TEST(ReadMesh, quadrangles_are_refused_with_type_count_label_and_advice) {
  const std::string message = message_of(write_file("a.msh", msh2(square, 4, "7 3 2 0 1 10 20 30 40\n", 1)));
  EXPECT_NE(message.find("1 element of type Quadrilateral 4 (the first is 7;"), std::string::npos) << message;
  EXPECT_NE(message.find("Mesh.RecombineAll = 0"), std::string::npos) << message;
}

TEST(ReadMesh, two_points_with_one_label_are_refused) {
  const std::string message =
      message_of(write_file("a.msh", msh2(square + "30 2 2 0\n", 5, "7 2 2 0 1 10 20 30\n", 1)));
  EXPECT_NE(message.find("two points have the label 30"), std::string::npos) << message;
}

TEST(ReadMesh, two_elements_with_one_label_are_refused) {
  const auto file = write_file("a.msh", msh2(square, 4, "7 2 2 0 1 10 20 30\n7 2 2 0 1 10 30 40\n", 2));
  EXPECT_NE(message_of(file).find("of 2 elements only 1 differ"), std::string::npos) << message_of(file);
}

TEST(ReadMesh, a_file_that_ends_early_is_refused_with_gmshs_own_words) {
  std::string text = test::as_msh4(CurvedBlock());
  text.resize(text.size() - 500);
  const auto file = write_file("a.msh", text);
  EXPECT_EQ(message_of(file), file.string() +
                                  ": Gmsh cannot read or mesh it (Could not read elements). Open the file in "
                                  "Gmsh to see where.");
}

TEST(ReadMesh, a_file_without_elements_is_refused) {
  EXPECT_NE(message_of(write_file("a.mesh", "nothing\n")).find("no lines, triangles or tetrahedra"), std::string::npos);
}

TEST(ReadMesh, triangles_out_of_a_plane_are_refused) {
  const std::string message =
      message_of(write_file("a.msh", msh2("1 0 0 0\n2 1 0 0\n3 1 1 0.5\n", 3, "7 2 2 0 1 1 2 3\n", 1)));
  EXPECT_NE(message.find("plane z = constant (z runs from 0 to 0.5)"), std::string::npos) << message;
}

TEST(ReadMesh, lines_along_x_are_a_mesh_of_one_dimension) {
  const std::string nodes = "1 0 2 3\n2 1 2 3\n3 1.5 2 3\n";
  const Mesh mesh = read_mesh(write_file("a.msh", msh2(nodes, 3, "1 1 2 0 1 1 2\n2 1 2 0 1 2 3\n3 15 2 9 1 1\n", 3)));
  EXPECT_EQ(mesh.dim(), 1);
  EXPECT_EQ(std::vector<double>(mesh.points().begin(), mesh.points().end()), (std::vector<double>{0, 1, 1.5}));
  EXPECT_EQ(mesh.facets().size(), 1);
}

TEST(ReadMesh, lines_off_the_x_direction_and_lines_with_three_nodes_are_refused) {
  const std::string nodes = "1 0 0 0\n2 1 1 0\n3 0.5 0.5 0\n";
  EXPECT_NE(message_of(write_file("a.msh", msh2(nodes, 3, "1 1 2 0 1 1 2\n", 1))).find("along x (y runs from 0 to 1)"),
            std::string::npos);
  EXPECT_NE(message_of(write_file("b.msh", msh2(nodes, 3, "1 8 2 0 1 1 2 3\n", 1))).find("3-node line as cells"),
            std::string::npos);
}

TEST(ReadMesh, clockwise_triangles_of_a_mesh_file_are_left_alone) {
  const Mesh mesh = read_mesh(write_file("a.msh", msh2(square, 4, "1 2 2 0 1 10 30 20\n", 1)));
  EXPECT_EQ(mesh.point_label(mesh.cells()[0][1]), 30);
}

TEST(ReadMesh, an_extension_in_mixed_case_is_refused_where_gmsh_does_not_know_it) {
  const std::string text = test::as_bdf(CurvedBlock());
  EXPECT_EQ(read_mesh(write_file("a.BDF", text)).cells().size(), 48);
  EXPECT_NE(message_of(write_file("a.Bdf", text)).find("Rename the file"), std::string::npos);
}

// ---- geometries ----

double longest_edge(const Mesh& mesh) {
  double longest = 0.0;
  for (Index c = 0; c < mesh.cells().size(); ++c)
    for (const NodeId a : mesh.cells()[c])
      for (const NodeId b : mesh.cells()[c]) {
        double square_length = 0.0;
        for (std::size_t k = 0; k < mesh.point(a).size(); ++k)
          square_length += std::pow(mesh.point(a)[k] - mesh.point(b)[k], 2);
        longest = std::max(longest, std::sqrt(square_length));
      }
  return longest;
}

double area(const Mesh& mesh) {
  double sum = 0.0;
  for (Index c = 0; c < mesh.cells().size(); ++c) {
    const auto n = mesh.cells()[c];
    const auto a = mesh.point(n[0]), b = mesh.point(n[1]), d = mesh.point(n[2]);
    sum += 0.5 * ((b[0] - a[0]) * (d[1] - a[1]) - (d[0] - a[0]) * (b[1] - a[1]));
  }
  return sum;
}

const std::string rectangles = R"(
Point(1) = {0, 0, 0, 9}; Point(2) = {1, 0, 0, 9}; Point(3) = {1, 1, 0, 9}; Point(4) = {0, 1, 0, 9};
Point(5) = {2, 0, 0, 9}; Point(6) = {2, 1, 0, 9};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Line(5) = {2, 5}; Line(6) = {5, 6}; Line(7) = {6, 3};
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};
Curve Loop(2) = {2, -7, -6, -5}; Plane Surface(2) = {2};
)";

TEST(ReadMesh, a_geometry_without_physical_groups_is_meshed_and_its_clockwise_surfaces_are_reversed) {
  const Mesh mesh = read_mesh(write_file("a.geo", rectangles), {.size = 0.25});
  EXPECT_EQ(mesh.dim(), 2);
  EXPECT_NEAR(area(mesh), 2.0, 1e-12);
  EXPECT_NE(find_group(mesh, "", 2, 2), nullptr);
}

TEST(ReadMesh, a_geometry_with_some_physical_groups_loses_no_cells) {
  const Mesh mesh = read_mesh(write_file("a.geo", rectangles + "Physical Surface(\"right\") = {2};"), {.size = 0.25});
  EXPECT_NEAR(area(mesh), 2.0, 1e-12);
  ASSERT_EQ(mesh.groups().size(), 1u);
  EXPECT_EQ(mesh.groups()[0].name, "right");
  EXPECT_LT(static_cast<Index>(mesh.groups()[0].cells.size()), mesh.cells().size());
}

TEST(ReadMesh, the_size_governs_the_edges) {
  const auto file = write_file("a.geo", rectangles);
  for (const double size : {0.4, 0.2, 0.1}) {
    const double longest = longest_edge(read_mesh(file, {.size = size}));
    EXPECT_GT(longest, 0.9 * size);
    EXPECT_LT(longest, 1.6 * size);
  }
}

TEST(ReadMesh, options_of_one_read_do_not_reach_the_next) {
  const auto file = write_file("a.geo", rectangles);
  const Index cells = read_mesh(file).cells().size();
  read_mesh(file, {.order = 2, .size = 0.1});
  const Mesh again = read_mesh(file);
  EXPECT_EQ(again.cells().size(), cells);
  EXPECT_EQ(again.cells().types[0], CellType::triangle3);
}

const std::string quarter_disk = R"(
Point(1) = {0, 0, 0}; Point(2) = {1, 0, 0}; Point(3) = {0, 1, 0}; Point(4) = {0.2, 0, 0}; Point(5) = {0, 0.2, 0};
Circle(1) = {2, 1, 3}; Line(2) = {3, 5}; Line(3) = {5, 4}; Line(4) = {4, 2};
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1}; Physical Curve("rim") = {1};
)";

TEST(ReadMesh, order_2_puts_the_mid_edge_nodes_of_triangles_on_the_true_geometry) {
  const Mesh mesh = read_mesh(write_file("a.geo", quarter_disk), {.order = 2, .size = 0.5});
  EXPECT_EQ(mesh.cells().types[0], CellType::triangle6);
  const Group* rim = find_group(mesh, "rim", 0, 1);
  ASSERT_NE(rim, nullptr);
  for (const FacetId f : rim->facets)
    for (const NodeId a : mesh.facets()[index(f)])
      EXPECT_NEAR(std::hypot(mesh.point(a)[0], mesh.point(a)[1]), 1.0, 1e-6);
}

TEST(ReadMesh, construction_points_of_a_geometry_are_left_out_without_a_warning) {
  const Mesh mesh = read_mesh(write_file("a.geo", quarter_disk), {.size = 0.5});
  EXPECT_TRUE(mesh.warnings().empty());
}

TEST(ReadMesh, a_construction_point_in_a_physical_group_is_remembered_as_lost) {
  const Mesh mesh = read_mesh(write_file("a.geo", quarter_disk + "Physical Point(\"centre\") = {1};"), {.size = 0.5});
  EXPECT_EQ(mesh.warnings().size(), 1u);
  const auto centre = std::ranges::find(mesh.groups(), "centre", &Group::name);
  ASSERT_NE(centre, mesh.groups().end());
  EXPECT_EQ(centre->lost, std::vector<Index>{1});
}

const std::string cylinder =
    "SetFactory(\"OpenCASCADE\"); Cylinder(1) = {0, 0, 0, 0, 0, 1, 0.5}; Physical Surface(\"skin\") = {1};\n";

TEST(ReadMesh, order_2_gives_curved_tetrahedra) {
  const Mesh mesh = read_mesh(write_file("a.geo", cylinder), {.order = 2, .size = 0.4});
  EXPECT_EQ(mesh.cells().types[0], CellType::tetrahedron10);
  const Group* skin = find_group(mesh, "skin", 0, 2);
  ASSERT_NE(skin, nullptr);
  for (const FacetId f : skin->facets)
    for (const NodeId a : mesh.facets()[index(f)])
      EXPECT_NEAR(std::hypot(mesh.point(a)[0], mesh.point(a)[1]), 0.5, 1e-6);
}

TEST(ReadMesh, an_error_in_a_geometry_names_its_line_and_leaves_the_next_read_alone) {
  EXPECT_NE(message_of(write_file("bad.geo", "Point(1) = {0, 0, 0;\n")).find("line 1: syntax error"),
            std::string::npos);
  EXPECT_NO_THROW(read_mesh(write_file("good.geo", rectangles)));
}

TEST(ReadMesh, recombined_triangles_are_refused_with_advice) {
  const std::string message = message_of(write_file("a.geo", rectangles + "Recombine Surface {1};"), {.size = 0.5});
  EXPECT_NE(message.find("no Recombine"), std::string::npos) << message;
}

TEST(ReadMesh, a_geometry_with_nothing_to_mesh_is_refused) {
  EXPECT_NE(message_of(write_file("a.geo", "Point(1) = {0, 0, 0};")).find("nothing to mesh"), std::string::npos);
}

// ---- manners ----

TEST(ReadMesh, locale_signals_folder_and_output_are_left_as_they_were) {
  const auto handler = [](int) {};
  std::signal(SIGINT, handler);
  const std::string before = std::setlocale(LC_ALL, nullptr);
  if (std::setlocale(LC_NUMERIC, "C.UTF-8") == nullptr) GTEST_SKIP() << "no second locale here";
  const auto folder = std::filesystem::current_path();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  read_mesh(write_file("a.geo", cylinder));
  message_of(write_file("bad.geo", "Point(1) = {0, 0, 0;\n"));
  message_of(write_file("bad.step", "nothing\n"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  std::cout << "";
  EXPECT_TRUE(std::cout.good());
  EXPECT_STREQ(std::setlocale(LC_NUMERIC, nullptr), "C.UTF-8");
  EXPECT_EQ(std::filesystem::current_path(), folder);
  EXPECT_EQ(std::signal(SIGINT, SIG_DFL), static_cast<void (*)(int)>(handler));
  std::setlocale(LC_ALL, before.c_str());
}

#endif

}  // namespace
}  // namespace tempi
