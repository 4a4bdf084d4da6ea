// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/path_integral_choice.hpp"

#include <gtest/gtest.h>

#include "support/cases.hpp"

namespace tempi {
namespace {

using test::CaseFolder;
using test::expect_words;
using test::refusal;

const std::string tip = "[[path_integral]]\nname = \"tip\"\npoint = [1, 0]\ndirection = [1, 0]\nrings = 1\n";

TEST(ChoosePathIntegrals, finds_the_node_at_the_tip) {
  const CaseFolder folder;  // corner 2 is in the first of two triangles only
  const Simulation s = folder.build(folder.square("", tip));
  ASSERT_EQ(s.path_integrals.size(), 1u);
  EXPECT_EQ(s.path_integrals[0].regions(), 1);
  EXPECT_EQ(s.path_integrals[0].length(), 1.0);
  EXPECT_EQ(s.path_integrals[0].first_other_material(), 0);
}

TEST(ChoosePathIntegrals, refuses_what_is_no_tip_of_a_solid_where_it_stands) {
  const CaseFolder folder;
  const auto refused = [&](const std::string& sections) {
    return refusal([&] { folder.build(folder.square("", sections)); });
  };
  expect_words(refused(tip + tip), {"case.toml", "two path integrals named 'tip'"});
  expect_words(refused("[[path_integral]]\nname = \"tip\"\npoint = [0.9, 0]\ndirection = [1, 0]\nrings = 1\n"),
               {"no node at (0.9, 0)", "is at (1, 0)"});
  expect_words(refused("[[path_integral]]\nname = \"tip\"\npoint = [1, 0]\ndirection = [1, 0]\nrings = 4\n"),
               {"every node"});
  expect_words(refused("[[path_integral]]\nname = \"tip\"\ndirection = [1, 0]\n"), {"either a point or a group"});
  expect_words(refusal([&] { folder.build(folder.chain("step = 0.1", tip)); }), {"only particles"});
}

TEST(ChoosePathIntegrals, directions_may_be_formulas_and_other_kinds_have_keys_of_their_own) {
  const CaseFolder folder;
  const auto built = [&](const std::string& kind, const std::string& integrator = "method = \"static\"") {
    return folder.build(
        folder.square(integrator, "[[path_integral]]\nname = \"tip\"\npoint = [1, 0]\nrings = 1\n" + kind));
  };
  const auto refused = [&](const std::string& kind, const std::string& integrator = "method = \"static\"") {
    return refusal([&] { built(kind, integrator); });
  };
  EXPECT_EQ(built("direction = [\"X + 1\", \"0\"]\n").path_integrals.size(), 1u);
  EXPECT_EQ(built("kind = \"L\"\ncentre = [0, 0]\n").path_integrals.size(), 1u);
  EXPECT_EQ(built("kind = \"M\"\ncentre = [0, 0]\n").path_integrals.size(), 1u);
  expect_words(refused("direction = [\"X - 1\", \"0\"]\n"), {"no length"});
  expect_words(refused("kind = \"L\"\n"), {"needs centre"});
  expect_words(refused("kind = \"M\"\ncentre = [0, 0]\ndirection = [1, 0]\n"), {"direction does not belong"});
  expect_words(refused("kind = \"L\"\ncentre = [0, 0]\naxis = [0, 1]\n"), {"axis does not belong"});
  expect_words(refused("kind = \"L\"\ncentre = [0, 0, 1]\n"), {"centre has 3 components"});
  expect_words(refused("kind = \"M\"\ncentre = [0, 0]\n", ""), {"case.toml", "at rest", "static"});
  expect_words(refused("direction = [1, 0]\ncontours = [\"loop\"]\n"), {"either rings or"});
  const auto warnings = built("kind = \"M\"\ncentre = [0, 0]\n").warnings;
  ASSERT_EQ(warnings.size(), 2u);
  expect_words(warnings[0], {"second degree", "linear-elastic"});
  expect_words(warnings[1], {"one ring", "Take several"});
}

TEST(ChoosePathIntegrals, refuses_growth_through_another_material_and_warns_of_an_advance) {
  const CaseFolder folder;
  const auto text = [&](const std::string& kind) {
    return "[mesh]\nfile = \"square.inp\"\n[[material]]\ngroup = \"first\"\nlambda = 1.0\nmu = 1.0\ndensity = 1.0\n"
           "[[material]]\nwhere = \"X + 1 < Y + 1\"\nlambda = 2.0\nmu = 1.0\ndensity = 1.0\n"
           "[integrator]\nmethod = \"static\"\n[run]\nend_time = 1.0\n"
           "[[path_integral]]\nname = \"tip\"\npoint = [0, 0]\nrings = 1\n" +
           kind;
  };
  const Simulation s = folder.build(text("direction = [1, 0]\n"));
  ASSERT_EQ(s.warnings.size(), 2u);
  expect_words(s.warnings[1], {"from ring 1", "another material", "Trust none"});
  expect_words(refusal([&] { folder.build(text("kind = \"M\"\ncentre = [0, 0]\n")); }),
               {"case.toml", "another material", "M"});
}

}  // namespace
}  // namespace tempi
