// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/contact_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/cases.hpp"

namespace tempi {
namespace {

using test::CaseFolder;
using test::expect_words;
using test::refusal;

// Two spheres of 1 kg that come together at 2 m/s.
std::string spheres(const std::string& sections, const std::string& integrator = "") {
  return "[particles]\nmass = 1.0\nradius = 0.1\nposition = [[0, 0, 0], [1, 0, 0]]\nvelocity = [[1, 0, 0], [-1, 0, "
         "0]]\n"
         "[[potential]]\ntype = \"uniform-field\"\nacceleration = [0, 0, 0]\n[integrator]\nstep = 0.01\n" +
         integrator + "[run]\nend_time = 1.0\n" + sections;
}

TEST(PenaltyLimit, is_that_of_the_lightest_node) {
  const std::vector<NodeId> nodes = {NodeId{0}, NodeId{2}};
  const std::vector<double> masses = {4.0, 0.1, 2.0};
  EXPECT_DOUBLE_EQ(penalty_limit(nodes, masses, 1e-4), 2.0 * std::sqrt(1e-4 * 2.0));
}

TEST(ChooseLayers, takes_what_is_given_and_chooses_the_rest_from_the_motion) {
  const CaseFolder folder;
  const Simulation s =
      folder.build(spheres("[[contact]]\ndistance = 0.02\nexponent = 2\nfriction = 0.3\nenergy_restitution = 0.5\n"));
  ASSERT_EQ(s.model->layers().size(), 1u);
  const LayeredContact& contact = *s.model->layers().front();
  EXPECT_EQ(contact.law().outer, 0.02);
  EXPECT_DOUBLE_EQ(contact.law().inner, 0.002);  // a tenth
  EXPECT_EQ(contact.law().exponent, 2.0);
  EXPECT_EQ(contact.options().friction, 0.3);
  EXPECT_EQ(contact.options().restitution, 0.5);
  EXPECT_GE(contact.options().speed, 1.0);  // neither is slower
  EXPECT_GT(contact.law().stiffness, 0.0);
  EXPECT_EQ(contact.surface().vertices().size(), 2u);
}

TEST(ChooseLayers, counts_on_the_speed_of_prescribed_motions) {
  const CaseFolder folder;
  const auto speed = [&](const std::string& fix) {
    const Simulation s = folder.build(
        "[particles]\nmass = 1.0\nradius = 0.1\nposition = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]\n[[potential]]\ntype = "
        "\"uniform-field\"\nacceleration = [0, 0, 0]\n[integrator]\nstep = 0.01\n[run]\nend_time = 1.0\n[[contact]]\n"
        "distance = 0.02\nstiffness = 1e6\n" +
        fix);
    return s.model->layers().front()->options().speed;
  };
  EXPECT_EQ(speed(""), 0.0);
  EXPECT_EQ(speed("[[fix]]\nwhere = \"X < 0.5\"\n"), 0.0);  // at rest
  EXPECT_NEAR(speed("[[fix]]\nwhere = \"X < 0.5\"\ndisplacement = [\"3*t^2/2\", \"0\", \"0\"]\n"), 3.0, 1e-4);
  EXPECT_NEAR(speed("[[fix]]\nwhere = \"X < 1.5\"\ndisplacement = [\"(0.5 - X)*t\", \"0\", \"0\"]\n"), 1.0, 1e-6);
}

TEST(ChooseLayers, refuses_what_does_not_fit_where_it_stands) {
  const CaseFolder folder;
  const auto refused = [&](const std::string& sections, const std::string& integrator = "") {
    return refusal([&] { folder.build(spheres(sections, integrator)); });
  };
  expect_words(refused("[[contact]]\nfriction = 0.1\n"), {"case.toml", "needs a distance"});
  expect_words(refused("[[contact]]\ndistance = 0.02\npenalty = 1e-6\n"), {"penalty belongs to law = \"faces\""});
  expect_words(refused("[[contact]]\nlaw = \"faces\"\npenalty = 1e-6\n"), {"only particles"});
  expect_words(refused("[[contact]]\ndistance = 0.02\n", "method = \"newmark\"\n"), {"avi on a lattice"});
  expect_words(refused("[[contact]]\ndistance = 0.9\n"), {"nearer than distance"});
}

TEST(ChooseWall, refuses_shapes_that_cannot_be) {
  const CaseFolder folder;
  const auto refused = [&](const std::string& wall) {
    return refusal([&] { folder.build(spheres("[[contact]]\ndistance = 0.02\n[[wall]]\n" + wall)); });
  };
  expect_words(refused("type = \"plane\"\npoint = [0, 0, -1]\n"), {"case.toml", "plane", "needs", "normal"});
  expect_words(refused("type = \"plane\"\npoint = [0, 0, -1]\nnormal = [0, 0, 1]\nradius = 1\n"),
               {"radius belongs to"});
  expect_words(refused("type = \"plane\"\npoint = [0, -1]\nnormal = [0, 0, 1]\n"), {"point has 2 components"});
  expect_words(refused("type = \"plane\"\npoint = [0, 0, 1]\nnormal = [0, 0, 1]\n"), {"beyond the wall"});
  EXPECT_EQ(refused("type = \"plane\"\npoint = [0, 0, -1]\nnormal = [0, 0, 1]\n"), "");
}

}  // namespace
}  // namespace tempi
