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
  EXPECT_EQ(s.path_integrals[0].rings(), 1);
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

}  // namespace
}  // namespace tempi
