// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/selection.hpp"

#include <gtest/gtest.h>

#include "support/cases.hpp"
#include "support/meshes.hpp"

namespace tempi {
namespace {

using test::expect_words;
using test::refusal;

// A square of eight triangles, a group of each kind.
struct Selecting : testing::Test {
  Mesh mesh = [] {
    MeshData data;
    data.dim = 2;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) {
        data.points.insert(data.points.end(), {0.5 * i, 0.5 * j});
        data.point_labels.push_back(101 + 3 * j + i);
      }
    const auto cell = [&](int a, int b, int c) {
      data.cells.push_back(CellType::triangle3, std::array{NodeId{a}, NodeId{b}, NodeId{c}}, data.cells.size() + 1);
    };
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 2; ++i) {
        const int a = 3 * j + i;
        cell(a, a + 1, a + 4);
        cell(a, a + 4, a + 3);
      }
    data.facets.push_back(CellType::line2, std::array{NodeId{0}, NodeId{3}}, 51);  // outside, on the left
    data.facets.push_back(CellType::line2, std::array{NodeId{1}, NodeId{4}}, 52);  // between two cells
    data.groups.push_back({"corner", 7, {CellId{0}, CellId{1}}, {}, {}, {}});
    data.groups.push_back({"side", 0, {}, {FacetId{0}}, {}, {}});
    data.groups.push_back({"cut", 0, {}, {FacetId{1}}, {}, {}});
    data.groups.push_back({"below", 0, {}, {}, {NodeId{0}, NodeId{1}, NodeId{2}}, {}});
    data.groups.push_back({"", 12, {CellId{7}}, {}, {}, {}});
    return Mesh(std::move(data));
  }();
  Constants constants = {{"half", 0.5}};
  Selection selection{mesh, constants};

  static Selector named(const char* name) {
    Selector s;
    s.name = name;
    s.place = "case.toml:3";
    return s;
  }
  static Selector tagged(int tag) {
    Selector s;
    s.tag = tag;
    return s;
  }
  static Selector where(const char* text) {
    Selector s;
    s.where = text;
    s.place = "case.toml:4";
    return s;
  }
};

TEST_F(Selecting, finds_cells_by_name_tag_and_place) {
  using Cells = std::vector<CellId>;
  EXPECT_EQ(selection.cells(named("corner"), "x"), (Cells{CellId{0}, CellId{1}}));
  EXPECT_EQ(selection.cells(tagged(7), "x"), (Cells{CellId{0}, CellId{1}}));
  EXPECT_EQ(selection.cells(named("12"), "x"), Cells{CellId{7}});  // a number in quotes, of a group without a name
  EXPECT_EQ(selection.cells(where("X > half && Y > half && X > Y"), "x"), Cells{CellId{6}});
  EXPECT_EQ(selection.cells(Selector{}, "x").size(), 8u);
}

TEST_F(Selecting, finds_nodes_of_cells_facets_and_lists) {
  EXPECT_EQ(selection.nodes(named("corner")).size(), 4u);
  EXPECT_EQ(selection.nodes(named("side")), (std::vector{NodeId{0}, NodeId{3}}));
  EXPECT_EQ(selection.nodes(named("below")), (std::vector{NodeId{0}, NodeId{1}, NodeId{2}}));
  EXPECT_EQ(selection.nodes(where("X == 1")).size(), 3u);
  Selector by_label;
  by_label.particles = {105, 101};
  EXPECT_EQ(selection.nodes(by_label), (std::vector{NodeId{0}, NodeId{4}}));
}

TEST_F(Selecting, finds_facets_with_their_cells) {
  const auto refuse = Selection::Interior::refuse;
  const auto side = selection.facets(named("side"), "a pressure", refuse);
  ASSERT_EQ(side.size(), 1u);
  EXPECT_EQ(side[0].cell, CellId{1});
  EXPECT_EQ(selection.facets(named("below"), "a pressure", refuse).size(), 2u);
  EXPECT_EQ(selection.facets(where("X == 0"), "a pressure", refuse).size(), 2u);
  EXPECT_EQ(selection.facets(named("cut"), "a traction", Selection::Interior::take_first).size(), 1u);
  expect_words(refusal([&] { selection.facets(named("cut"), "a pressure", refuse); }),
               {"case.toml:3", "52", "two cells", "needs a side"});
}

TEST_F(Selecting, refuses_with_the_place_and_what_there_is) {
  expect_words(refusal([&] { selection.nodes(named("belov")); }),
               {"case.toml:3", "belov", "Did you mean 'below'", "corner (2 cells)", "side (1 facets)"});
  expect_words(refusal([&] { selection.cells(named("below"), "gravity"); }), {"no cells of dimension 2", "gravity"});
  expect_words(refusal([&] { selection.nodes(where("X > 3")); }), {"case.toml:4", "X > 3", "selects no nodes"});
  expect_words(refusal([&] { selection.nodes(where("1/X")); }), {"inf", "(0, 0)"});
  expect_words(refusal([&] { selection.cells(where("t > 0"), "x"); }), {"depends on the time"});
  Selector missing;
  missing.particles = {99};
  expect_words(refusal([&] { selection.nodes(missing); }), {"99", "101 to 109"});
}

}  // namespace
}  // namespace tempi
