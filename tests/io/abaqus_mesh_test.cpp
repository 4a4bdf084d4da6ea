// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/abaqus_mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "io/curved_block.hpp"
#include "tempi/core/error.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {
namespace {

using test::write_file;

MeshData read(const std::string& text) { return read_abaqus(write_file("mesh.inp", text)); }

// What follows the file's name in the message: ":line: problem".
std::string message_of(const std::string& text) {
  const auto file = write_file("mesh.inp", text);
  try {
    read_abaqus(file);
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(file.string())) << message;
    return message.substr(std::min(message.size(), file.string().size()));
  }
  return "no error";
}

void expect_message(const std::string& text, const std::string& expected) {
  const std::string message = message_of(text);
  EXPECT_TRUE(message.starts_with(expected)) << message << "\nexpected: " << expected;
}

const Group& group(const MeshData& mesh, const std::string& name) {
  const auto found = std::ranges::find(mesh.groups, name, &Group::name);
  if (found == mesh.groups.end()) throw std::runtime_error("no group " + name);
  return *found;
}

template <class Id>
std::vector<Index> indices(const std::vector<Id>& ids) {
  std::vector<Index> result;
  for (const Id id : ids) result.push_back(index(id));
  return result;
}

std::vector<Index> facet_labels(const MeshData& mesh, FacetId f) {
  std::vector<Index> labels;
  for (const NodeId a : mesh.facets[index(f)]) labels.push_back(mesh.point_labels[static_cast<std::size_t>(index(a))]);
  return labels;
}

// Lines 1 to 8: a square of two triangles.
const std::string square =
    "*Node, nset=All\n"
    "1, 0, 0\n"
    "2, 1, 0\n"
    "3, 1, 1\n"
    "4, 0, 1\n"
    "*Element, type=CPE3, elset=Plate\n"
    "10, 1, 2, 3\n"
    "11, 1, 3, 4\n";

// Lines 1 to 8: two tetrahedra.
const std::string tetrahedra =
    "*NODE\n"
    "1, 0, 0, 0\n"
    "2, 1, 0, 0\n"
    "3, 0, 1, 0\n"
    "4, 0, 0, 1\n"
    "5, 1, 1, 1\n"
    "*ELEMENT, TYPE=C3D4\n"
    "1, 1, 2, 3, 4\n"
    "2, 2, 3, 4, 5\n";

TEST(AbaqusMesh, coordinates_that_are_left_out_are_zero) {
  const MeshData mesh = read("*NODE\n1\n2, 1\n3, , 1\n*ELEMENT, TYPE=CPE3\n1, 1, 2, 3\n");
  EXPECT_EQ((std::vector<double>{0, 0, 1, 0, 0, 1}), mesh.points);
}

TEST(AbaqusMesh, triangles_and_bars_on_solids_are_facets_as_gmsh_writes_them) {
  const std::string solid = "*NODE\n1\n2, 1\n3, 0, 1\n4, 0, 0, 1\n";
  const MeshData mesh = read(solid +
                             "*ELEMENT, type=T3D2, ELSET=Line1\n8, 1, 2\n*ELEMENT, type=CPS3, ELSET=Surface1\n"
                             "7, 1, 3, 2\n*ELEMENT, type=C3D4, ELSET=Volume1\n1, 1, 2, 3, 4\n");
  EXPECT_EQ(3, mesh.dim);
  EXPECT_EQ(1, mesh.cells.size());
  EXPECT_EQ(2, mesh.facets.size());
  expect_message(solid + "*ELEMENT, type=CPS3\n7, 1, 3, 2\n", ":6: elements of type CPS3 are supported on the surface");
}

TEST(AbaqusMesh, nodes_elements_and_their_sets_are_read) {
  const MeshData mesh = read("** a comment\n\n" + square);
  EXPECT_EQ(mesh.dim, 2);
  EXPECT_EQ(mesh.points, (std::vector<double>{0, 0, 1, 0, 1, 1, 0, 1}));
  EXPECT_EQ(mesh.cells.labels, (std::vector<Index>{10, 11}));
  EXPECT_EQ(indices(group(mesh, "Plate").cells), (std::vector<Index>{0, 1}));
  EXPECT_EQ(indices(group(mesh, "All").nodes), (std::vector<Index>{0, 1, 2, 3}));
}

TEST(AbaqusMesh, points_and_cells_come_in_ascending_order_of_their_labels) {
  const MeshData mesh = read("*NODE\n9, 0, 1\n3, 0, 0\n7, 1, 0\n*ELEMENT, TYPE=CPE3\n5, 3, 7, 9\n2, 7, 9, 3\n");
  EXPECT_EQ(mesh.point_labels, (std::vector<Index>{3, 7, 9}));
  EXPECT_EQ(mesh.points, (std::vector<double>{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(mesh.cells.labels, (std::vector<Index>{2, 5}));
  EXPECT_EQ(index(mesh.cells[0][0]), 1);
}

TEST(AbaqusMesh, windows_lines_fortran_numbers_blanks_and_keyword_continuation_are_understood) {
  const MeshData mesh = read(
      "* node ,\r\n NSET = \"My Set\"\r\n1, 0.5D+1, , 3.\r\n2,+1.e0,0,0,\r\n3,0,1.d0,0\r\n"
      "*ELEMENT,TYPE = cpe3\r\n1,1,2,3\r\n");
  EXPECT_EQ(mesh.points, (std::vector<double>{5, 0, 1, 0, 0, 1}));
  EXPECT_EQ(group(mesh, "My Set").nodes.size(), 3u);
}

TEST(AbaqusMesh, an_element_may_go_on_over_several_lines) {
  test::CurvedBlock block;
  const MeshData mesh = read(test::as_inp(block));
  EXPECT_EQ(mesh.cells.size(), 48);
  EXPECT_EQ(mesh.cells.types[0], CellType::tetrahedron10);
  EXPECT_EQ(mesh.facets.size(), 8);
}

TEST(AbaqusMesh, plane_elements_beside_tetrahedra_are_facets) {
  const MeshData mesh = read(tetrahedra + "*ELEMENT, TYPE=CPE3, ELSET=skin\n7, 1, 3, 2\n");
  EXPECT_EQ(mesh.dim, 3);
  EXPECT_EQ(mesh.facets.labels, std::vector<Index>{7});
  EXPECT_EQ(indices(group(mesh, "skin").facets), std::vector<Index>{0});
}

TEST(AbaqusMesh, unknown_keywords_are_skipped_with_their_data) {
  EXPECT_EQ(read(square + "*Material, name=Steel\n*Elastic\n210e9, 0.3\n*Step\n1, one, two\n*End Step\n").cells.size(),
            2);
}

TEST(AbaqusMesh, generate_lists_first_last_and_step) {
  const MeshData mesh = read(square + "*NSET, NSET=odd, GENERATE\n1, 3, 2\n*ELSET, ELSET=both, GENERATE\n10, 11\n");
  EXPECT_EQ(indices(group(mesh, "odd").nodes), (std::vector<Index>{0, 2}));
  EXPECT_EQ(indices(group(mesh, "both").cells), (std::vector<Index>{0, 1}));
}

TEST(AbaqusMesh, generate_refuses_what_never_ends) {
  expect_message(square + "*NSET, NSET=odd, GENERATE\n1, 3, 0\n", ":10: GENERATE from 1 to 3 in steps of 0");
  expect_message(square + "*NSET, NSET=odd, GENERATE\n3, 1\n", ":10: GENERATE from 3 to 1");
  expect_message(square + "*NSET, NSET=odd, GENERATE\n3, 999999999\n", ":10: node 5 is not defined.");
  expect_message(square + "*NSET, NSET=odd, GENERATE\n3\n", ":10: GENERATE takes");
}

TEST(AbaqusMesh, sets_may_contain_sets_whatever_the_case_of_the_name) {
  const MeshData mesh = read(square + "*NSET, NSET=outer\nINNER, 4\n*NSET, NSET=Inner\n1, 2\n*ELSET, ELSET=e\nPLATE\n");
  EXPECT_EQ(indices(group(mesh, "outer").nodes), (std::vector<Index>{0, 1, 3}));
  EXPECT_EQ(indices(group(mesh, "e").cells), (std::vector<Index>{0, 1}));
}

TEST(AbaqusMesh, a_set_that_is_named_twice_grows_and_lists_nothing_twice) {
  const MeshData mesh = read(square + "*NSET, NSET=Edge\n1, 2, 2\n*NSET, NSET=EDGE\n2, 3\n");
  EXPECT_EQ(indices(group(mesh, "Edge").nodes), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(mesh.groups.size(), 3u);
}

TEST(AbaqusMesh, the_nodes_of_an_element_set_can_be_a_node_set) {
  const MeshData mesh = read(square + "*ELSET, ELSET=low\n10\n*NSET, NSET=lownodes, ELSET=low\n");
  EXPECT_EQ(indices(group(mesh, "lownodes").nodes), (std::vector<Index>{0, 1, 2}));
}

TEST(AbaqusMesh, sets_of_nodes_elements_and_faces_with_one_name_are_one_group) {
  const MeshData mesh = read(square + "*NSET, NSET=a\n4\n*ELSET, ELSET=A\n10\n*SURFACE, NAME=a\n11, S3\n");
  const Group& a = group(mesh, "a");
  EXPECT_EQ(a.nodes.size() + a.cells.size() + a.facets.size(), 3u);
}

TEST(AbaqusMesh, faces_of_triangles_are_numbered_along_the_boundary) {
  const MeshData mesh = read(square + "*SURFACE, TYPE=ELEMENT, NAME=s\n10, S1\n10, S2\n10, S3\n");
  const Group& s = group(mesh, "s");
  ASSERT_EQ(s.facets.size(), 3u);
  EXPECT_EQ(facet_labels(mesh, s.facets[0]), (std::vector<Index>{1, 2}));
  EXPECT_EQ(facet_labels(mesh, s.facets[1]), (std::vector<Index>{2, 3}));
  EXPECT_EQ(facet_labels(mesh, s.facets[2]), (std::vector<Index>{3, 1}));
  EXPECT_EQ(mesh.facets.labels, (std::vector<Index>{0, 0, 0}));
}

TEST(AbaqusMesh, faces_of_tetrahedra_are_123_142_243_341) {
  const MeshData mesh = read(tetrahedra + "*SURFACE, NAME=s\n1, S1\n1, S2\n1, S3\n1, S4\n");
  const std::vector<std::vector<Index>> expected = {{1, 2, 3}, {1, 2, 4}, {2, 3, 4}, {1, 3, 4}};
  const Group& s = group(mesh, "s");
  ASSERT_EQ(s.facets.size(), 4u);
  for (std::size_t f = 0; f < 4; ++f) {
    std::vector<Index> labels = facet_labels(mesh, s.facets[f]);
    std::ranges::sort(labels);
    EXPECT_EQ(labels, expected[f]);
  }
}

TEST(AbaqusMesh, a_face_in_two_surfaces_is_one_facet_and_sets_stand_for_all_their_elements) {
  const MeshData mesh = read(square + "*SURFACE, NAME=s\nPlate, S1\n*SURFACE, NAME=t\n10, s1\n");
  EXPECT_EQ(mesh.facets.size(), 2);
  EXPECT_EQ(indices(group(mesh, "s").facets), (std::vector<Index>{0, 1}));
  EXPECT_EQ(indices(group(mesh, "t").facets), std::vector<Index>{0});
}

TEST(AbaqusMesh, a_quadratic_face_has_its_middle_nodes) {
  const MeshData mesh = read(
      "*NODE\n1,0,0\n2,2,0\n3,0,2\n4,1,0\n5,1,1\n6,0,1\n*ELEMENT,TYPE=CPE6M\n1,1,2,3,4,5,6\n"
      "*SURFACE,NAME=s\n1,S2\n");
  ASSERT_EQ(mesh.facets.types[0], CellType::line3);
  EXPECT_EQ(facet_labels(mesh, make_id<FacetId>(0)), (std::vector<Index>{2, 3, 5}));
}

TEST(AbaqusMesh, a_listed_node_of_no_cell_is_remembered_by_its_group) {
  const Mesh mesh(read("*NODE\n99, 5, 5\n" + square + "*NSET, NSET=far\n1, 99\n"));
  const auto far = std::ranges::find(mesh.groups(), "far", &Group::name);
  EXPECT_EQ(far->nodes.size(), 1u);
  EXPECT_EQ(far->lost, std::vector<Index>{99});
}

// ---- parts and instances ----

const std::string assembly = "*Part, name=P\n" + square + "*Nset, nset=Set-1\n1\n*End Part\n*Assembly, name=A\n" +
                             "*Instance, name=P-1, part=P\n*End Instance\n";

TEST(AbaqusMesh, a_part_with_one_instance_is_read_and_its_hidden_sets_are_qualified) {
  const MeshData mesh =
      read(assembly + "*Nset, nset=Set-1, instance=P-1\n2, 3\n*Nset, nset=q\nP-1.Set-1, p-1.4\n*End Assembly\n");
  EXPECT_EQ(indices(group(mesh, "P-1.Set-1").nodes), std::vector<Index>{0});
  EXPECT_EQ(indices(group(mesh, "Set-1").nodes), (std::vector<Index>{1, 2}));
  EXPECT_EQ(indices(group(mesh, "q").nodes), (std::vector<Index>{0, 3}));
  EXPECT_EQ(group(mesh, "Plate").cells.size(), 2u);
}

TEST(AbaqusMesh, what_an_assembly_can_do_beyond_one_instance_is_refused) {
  expect_message(assembly + "*Instance, name=P-2, part=P\n", ":16: a second *INSTANCE");
  expect_message("*PART, NAME=a\n*END PART\n*PART, NAME=b\n", ":3: a second *PART");
  expect_message("*ASSEMBLY\n*INSTANCE, NAME=i\n0., 0., 1.\n", ":3: the instance is translated");
  expect_message(assembly + "*Node\n1, 0, 0, 0\n", ":16: nodes of the assembly");
}

// ---- what is refused ----

TEST(AbaqusMesh, an_unsupported_element_type_is_refused_with_the_supported_ones) {
  expect_message(square + "*ELEMENT, TYPE=C3D8\n",
                 ":9: element type C3D8 is not supported (C3D4, C3D10, C3D10M, CPE3, CPE6, CPE6M are). Mesh with");
  expect_message(square + "*ELEMENT, TYPE=DC2D3\n", ":9: element type DC2D3 is not supported");
  expect_message("*ELEMENT\n", ":1: element type (none)");
}

TEST(AbaqusMesh, labels_that_are_used_twice_are_refused_with_both_lines) {
  expect_message(square + "*NODE\n3, 7, 7\n", ":10: node 3 is already defined in line 4.");
  expect_message(square + "*ELEMENT, TYPE=CPE3\n11, 1, 2, 3\n", ":10: element 11 is already defined in line 8.");
}

TEST(AbaqusMesh, names_and_labels_that_do_not_exist_are_refused_with_their_line) {
  expect_message(square + "*ELEMENT, TYPE=CPE3\n12, 1, 2, 9\n", ":10: element 12 names node 9, which is not defined.");
  expect_message(square + "*NSET, NSET=n\n1,\n77\n", ":11: node 77 is not defined.");
  expect_message(square + "*ELSET, ELSET=n\n1\n", ":10: element 1 is not defined.");
  expect_message(square + "*NSET, NSET=n\nPlate\n", ":10: node set 'Plate' is not defined.");
  expect_message(square + "*SURFACE, NAME=s\nplates, S1\n", ":10: element set 'plates' is not defined.");
  expect_message(square + "*NSET\n1\n", ":9: *NSET has no name.");
}

TEST(AbaqusMesh, a_set_that_contains_itself_is_refused) {
  expect_message(square + "*NSET, NSET=a\nb\n*NSET, NSET=b\na\n", ":1");
  EXPECT_NE(message_of(square + "*NSET, NSET=a\na\n").find("set 'a' contains itself"), std::string::npos);
}

TEST(AbaqusMesh, faces_that_do_not_exist_are_refused) {
  expect_message(square + "*SURFACE, NAME=s\n10, S4\n", ":10: surface 's' names face S4 of element 10 (it has 3).");
  expect_message(square + "*SURFACE, NAME=s\n10, SPOS\n", ":10: face 'SPOS' of surface 's' is not supported");
  expect_message(square + "*SURFACE, NAME=s\n10\n", ":10: face '' of surface 's'");
  expect_message(tetrahedra + "*ELEMENT, TYPE=CPE3\n7, 1, 3, 2\n*SURFACE, NAME=s\n7, S1\n",
                 ":13: surface 's' names element 7");
}

TEST(AbaqusMesh, lines_that_are_not_what_they_should_be_are_refused) {
  expect_message("*NODE\n1, 0, zero\n", ":2: 'zero' is not a number.");
  expect_message("*NODE\n1.5, 0, 0\n", ":2: '1.5' is not a whole number.");
  expect_message("*NODE\n0, 0, 0\n", ":2: label 0 (must be > 0 and below 1e9).");
  expect_message("*ELEMENT, TYPE=CPE3\n1, 1, 2\n*NODE\n", ":2: element 1 has 2 nodes (a 3-node triangle has 3).");
  expect_message("*ELEMENT, TYPE=CPE3\n1, 1, 2, 3, 4\n", ":2: element 1 has 4 nodes");
}

TEST(AbaqusMesh, keywords_that_would_change_the_mesh_are_refused) {
  expect_message("*INCLUDE, INPUT=mesh.inp\n", ":1: *INCLUDE is not supported.");
  expect_message("\n*SYSTEM\n", ":2: *SYSTEM is not supported.");
  expect_message("*NGEN\n", ":1: *NGEN is not supported.");
  expect_message("*NODE, INPUT=nodes.inp\n", ":1: *NODE with INPUT is not supported.");
  expect_message("*NODE, SYSTEM=C\n", ":1: *NODE with SYSTEM is not supported.");
}

TEST(AbaqusMesh, a_file_without_elements_is_refused) {
  expect_message("*HEADING\nnothing\n", ":2: the file has no elements");
}

}  // namespace
}  // namespace tempi
