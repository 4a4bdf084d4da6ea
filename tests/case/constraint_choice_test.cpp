// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/constraint_choice.hpp"

#include <gtest/gtest.h>

#include "support/cases.hpp"

namespace tempi {
namespace {

using test::expect_words;
using test::refusal;

struct ChooseConstraints : testing::Test {
  test::CaseFolder folder;
  const Model& held(const std::string& constraint, const std::string& extra = "") {
    simulation = std::make_unique<Simulation>(folder.build(
        "[particles]\nmass = 1.0\nposition = [[0, 0], [1, 0], [1, 1], [1, 1]]\n" + extra + "[[constraint]]\n" +
        constraint + "\n[integrator]\nmethod = \"rattle\"\nstep = 0.01\n[run]\nend_time = 1.0\n"));
    return *simulation->model;
  }
  std::unique_ptr<Simulation> simulation;
};

TEST_F(ChooseConstraints, makes_each_kind) {
  EXPECT_EQ(held("type = \"distance\"\npairs = [[0, 1], [1, 2]]").constraints().size(), 2u);
  EXPECT_EQ(held("type = \"distance\"\nparticles = [0, 1, 2]\nwithin = 1.1").constraints().size(), 2u);
  EXPECT_EQ(held("type = \"link\"\nanchor = [0, -1]\nparticles = [0]").constraints().front()->length(), 1.0);
  EXPECT_EQ(held("type = \"rigid-body\"\nparticles = [0, 1, 2]").constraints().size(), 3u);
  EXPECT_EQ(held("type = \"surface\"\nexpression = \"Y\"\nparticles = [0, 1]").constraints().size(), 2u);
}

TEST_F(ChooseConstraints, ties_coincident_nodes) {
  for (const char* which : {"pairs = [[2, 3]]", "within = 1e-9"}) {
    const Model& model = held(std::string("type = \"coincident\"\n") + which);
    ASSERT_EQ(model.constraints().size(), 2u);  // a component each
    EXPECT_TRUE(model.constraints().front()->is_internal());
    std::vector<double> u = {0, 0, 0, 0, 0, 0, 0.25, 0.5};
    EXPECT_EQ(std::abs(model.constraints()[0]->value(u)), 0.25);
    EXPECT_EQ(std::abs(model.constraints()[1]->value(u)), 0.5);
  }
  expect_words(refusal([&] { held("type = \"coincident\"\npairs = [[0, 1]]"); }), {"1 m apart along x"});
}

TEST_F(ChooseConstraints, refuses_what_does_not_fit) {
  expect_words(refusal([&] { held("type = \"distance\""); }), {"distance needs pairs or within"});
  expect_words(refusal([&] { held("type = \"link\""); }), {"link needs anchor"});
  expect_words(refusal([&] { held("type = \"link\"\nanchor = [0]"); }), {"anchor has 1 components"});
  expect_words(refusal([&] { held("type = \"surface\"\nlength = 1.0"); }), {"length belongs to the type distance"});
  expect_words(refusal([&] { held("type = \"rigid-body\"\nsize = 3"); }), {"4 nodes do not make bodies of 3"});
  expect_words(refusal([&] { held("type = \"distance\"\npairs = [[0, 1]]\nwithin = 2.0"); }), {"pairs are listed"});
  expect_words(refusal([&] { held("type = \"link\"\nanchor = [0, -1]\nparticles = [0]", "box = [9, 9]\n"); }),
               {"periodic box"});
}

}  // namespace
}  // namespace tempi
