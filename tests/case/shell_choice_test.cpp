// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/shell_choice.hpp"

#include <gtest/gtest.h>

#include "support/cases.hpp"

namespace tempi {
namespace {

using test::CaseFolder;
using test::expect_words;
using test::refusal;

// A square of two triangles in space, or three that meet at an edge.
struct ChooseBending : testing::Test {
  CaseFolder folder;
  Simulation build(const std::string& sections, const std::string& third = "") const {
    folder.write(
        "sheet.inp",
        "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n5, 0.5, 0.5, 1\n*ELEMENT, TYPE=S3, ELSET=sheet\n1, 1, "
        "2, 3\n2, 1, 3, 4\n" +
            third + "*NSET, NSET=left\n1, 4\n*NSET, NSET=corner\n2\n");
    return folder.build(
        "[mesh]\nfile = \"sheet.inp\"\n[[material]]\nmodel = \"shell\"\nthickness = 0.01\nyoung = 1e6\n"
        "poisson = 0.3\ndensity = 1000\n[run]\nend_time = 1e-3\n" +
        sections);
  }
};

TEST_F(ChooseBending, makes_a_hinge_of_each_inner_edge_and_more_where_edges_are_clamped) {
  const Simulation free = build("");
  ASSERT_EQ(free.body.bending.size(), 1u);
  EXPECT_EQ(free.body.bending[0]->size(), 1);
  EXPECT_EQ(free.body.bending[0]->stencil(0).size(), 4u);
  const Simulation held = build("[[fix]]\ngroup = \"left\"\nclamped = true\n");
  ASSERT_EQ(held.body.bending.size(), 2u);
  EXPECT_EQ(held.body.bending[1]->size(), 1);
  EXPECT_EQ(held.body.bending[1]->stencil(0).size(), 3u);
}

TEST_F(ChooseBending, refuses_what_cannot_bend) {
  expect_words(refusal([&] { build("", "3, 1, 3, 5\n"); }), {"3 triangles share the edge"});
  expect_words(refusal([&] { build("[[fix]]\ngroup = \"corner\"\nclamped = true\n"); }),
               {"case.toml", "no outer edge of a shell"});
}

}  // namespace
}  // namespace tempi
