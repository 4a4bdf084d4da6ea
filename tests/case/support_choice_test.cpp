// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/support_choice.hpp"

#include <gtest/gtest.h>

#include "support/cases.hpp"
#include "support/meshes.hpp"

namespace tempi {
namespace {

using test::expect_words;
using test::refusal;

FixInput fix(const char* group, std::vector<std::string> components = {}, std::vector<FormulaText> displacement = {}) {
  FixInput in;
  in.nodes.name = group;
  in.components = std::move(components);
  in.displacement = std::move(displacement);
  in.place = "case.toml:5", in.components_place = "case.toml:6", in.displacement_place = "case.toml:7";
  return in;
}

struct ChooseSupports : testing::Test {
  Mesh mesh = test::triangle_mesh(CellType::triangle3, 2);
  Constants constants = {{"speed", 2.0}};
  Supports choose(const std::vector<FixInput>& fixes) const { return choose_supports(fixes, mesh, constants); }
};

TEST_F(ChooseSupports, holds_the_components_that_are_named) {
  const Supports s = choose({fix("left", {"y"})});
  ASSERT_EQ(s.held_nodes().size(), 3u);
  for (const NodeId a : s.held_nodes()) {
    EXPECT_EQ(s.support_of(a, 0), Supports::none);
    EXPECT_EQ(s.support_of(a, 1), 0);
    EXPECT_EQ(mesh.point(a)[0], 0.0);
  }
}

TEST_F(ChooseSupports, moves_them_by_formulas_with_the_case_s_constants) {
  const Supports s = choose({fix("left", {"x"}, {{std::string("speed*t*Y"), ""}})});
  for (const NodeId a : s.held_nodes()) {
    EXPECT_DOUBLE_EQ(*s.displacement(a, 0, 3.0), 6.0 * mesh.point(a)[1]);
    EXPECT_NEAR(s.velocity(a, 0, 3.0, 1e-3), 2.0 * mesh.point(a)[1], 1e-9);
  }
}

TEST_F(ChooseSupports, numbers_those_of_one_group_so_that_reactions_stay_apart) {
  const Supports s = choose({fix("left", {"x"}), fix("left", {"y"})});
  EXPECT_EQ(s[0].name, "left");
  EXPECT_EQ(s[1].name, "left 2");
  FixInput named = fix("left", {"y"});
  named.name = "left";
  expect_words(refusal([&] { choose({fix("left", {"x"}), named}); }), {"two supports named 'left'"});
}

TEST_F(ChooseSupports, refuses_what_does_not_fit_where_it_stands) {
  expect_words(refusal([&] { choose({fix("left", {"z"})}); }), {"case.toml:6", "\"z\" does not exist", "x and y"});
  expect_words(refusal([&] { choose({fix("left", {"x", "x"})}); }), {"case.toml:6", "twice"});
  expect_words(refusal([&] { choose({fix("left", {}, {{1.0, ""}})}); }), {"case.toml:7", "1 expression for 2"});
  expect_words(refusal([&] { choose({fix("")}); }), {"case.toml:5", "needs a group"});
  expect_words(refusal([&] { choose({fix("lefd")}); }), {"lefd", "left"});
}

}  // namespace
}  // namespace tempi
