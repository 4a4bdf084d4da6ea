// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/domain_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/cases.hpp"

namespace tempi {
namespace {

using test::CaseFolder;
using test::expect_words;
using test::refusal;

const std::string two = "[[domain]]\nname = \"stiff\"\nparticles = [0, 1]\n[[domain]]\nparticles = [1, 2]\n";

TEST(PlanDomains, gives_each_term_its_domain_and_each_domain_what_its_elements_take) {
  const CaseFolder folder;
  const Simulation s = folder.build(folder.chain("method = \"multi-domain\"", two));
  ASSERT_TRUE(s.plan.domains);
  const DomainPlan& plan = *s.plan.domains;
  EXPECT_EQ(plan.domains.of_term, (std::vector<int>{0, 1}));
  EXPECT_EQ(plan.about[0].name, "stiff");
  EXPECT_EQ(plan.about[1].terms, 1);
  ASSERT_EQ(plan.domains.rules.size(), 2u);
  for (std::size_t d = 0; d < 2; ++d) {
    EXPECT_TRUE(plan.domains.rules[d].is_explicit());
    EXPECT_LE(plan.step / plan.domains.rules[d].substeps, 0.9 * plan.about[d].limit * (1.0 + 1e-12));
  }
  EXPECT_EQ(s.integrator->name(), "multi-domain");
}

TEST(PlanDomains, takes_substeps_and_rules_as_they_are_given) {
  const CaseFolder folder;
  const Simulation s = folder.build(folder.chain(
      "method = \"multi-domain\"\nstep = 0.1\nframework = \"hamiltonian\"",
      "[[domain]]\nparticles = [0, 1]\nalpha = 0.5\nsubsteps = 3\n[[domain]]\nparticles = [1, 2]\nintegrator = "
      "\"midpoint\"\nsubsteps = 2\n"));
  const DomainPlan& plan = *s.plan.domains;
  EXPECT_EQ(plan.step, 0.1);
  EXPECT_EQ(plan.framework, Framework::hamiltonian);
  EXPECT_EQ(plan.domains.rules[0].alpha, 0.5);
  EXPECT_EQ(plan.domains.rules[0].substeps, 3);
  EXPECT_EQ(plan.domains.rules[1].substeps, 2);
  EXPECT_DOUBLE_EQ(plan.step_of_terms[1], 0.05);
}

// As a wall with a penalty has, which tells no stable step before it is touched.
TEST(PlanDomains, hold_terms_to_steps_of_their_own) {
  const CaseFolder folder;
  const std::string wall = "[[wall]]\ntype = \"plane\"\npoint = [3, 0]\nnormal = [-1, 0]\npenalty = 0.01\n";
  for (const std::string& sections : {std::string(), two}) {
    const Simulation s = folder.build(folder.chain("method = \"multi-domain\"", sections + wall));
    const DomainPlan& plan = *s.plan.domains;
    EXPECT_LE(plan.step_of_terms.back(), 0.25 * 2.0 * std::sqrt(0.01) * (1.0 + 1e-12));
    EXPECT_GT(plan.step_of_terms.back(), 0.1 * std::sqrt(0.01));
    EXPECT_TRUE(std::isfinite(plan.step));
  }
  std::string slow = folder.chain("method = \"multi-domain\"", two);
  slow.insert(slow.find("length = 1.0\n"), "step = 0.01\n");
  EXPECT_NEAR(folder.build(slow).plan.domains->step_of_terms[0], 0.01, 0.003);
}

// Spheres that do not touch yet are not stiff, and will be: they act with their neighbours, as in avi.
TEST(PlanDomains, let_terms_that_are_not_stiff_yet_follow_their_neighbours) {
  const CaseFolder folder;
  const std::string spheres =
      "[particles]\nmass = [1, 1, 1]\nradius = [0.1, 0.1, 0.1]\nposition = [[0, 0], [0.3, 0], [0.6, 0]]\n"
      "[[potential]]\ntype = \"hertz\"\nyoung = 10.0\npoisson = 0.3\n";
  const auto planned = [&](const std::string& holds, const std::string& steps) {
    return folder.build(spheres + holds + "[integrator]\nmethod = \"multi-domain\"\n" + steps +
                        "[run]\nend_time = 10.0\n");
  };
  const std::string well = "[[potential]]\ntype = \"well\"\nparticles = [0]\nstiffness = 4.0\n";
  const DomainPlan plan = *planned(well, "safety = 0.5\n").plan.domains;
  ASSERT_EQ(plan.step_of_terms.size(), 2u);
  EXPECT_LE(plan.step_of_terms[0], 0.5 * plan.about[0].limit * (1.0 + 1e-12));  // spheres: no longer than the well's
  EXPECT_LE(plan.step_of_terms[1], 0.5 * 2.0 / std::sqrt(4.0) * (1.0 + 1e-12));
  EXPECT_EQ(plan.step_of_terms[0], plan.step_of_terms[1]);
  expect_words(refusal([&] { planned("", "safety = 0.5\n"); }), {"nothing in the model is stiff", "Give a step"});
  EXPECT_EQ(planned("", "step = 0.1\n").plan.domains->step, 0.1);
}

// A stiff bond far from soft ones shares no node with them: nothing could be an interface.
TEST(PlanDomains, are_one_where_nobody_asked_for_those_that_would_not_meet) {
  const CaseFolder folder;
  const auto planned = [&](const std::string& bonds) {
    return folder.build("[particles]\nmass = [1, 1, 1, 1, 1, 1]\nposition = [[0], [1], [2], [3], [4], [5]]\n" + bonds +
                        "[integrator]\nmethod = \"multi-domain\"\nsafety = 0.5\n[run]\nend_time = 10.0\n");
  };
  const auto spring = [](const std::string& pairs, double stiffness) {
    return "[[potential]]\ntype = \"spring\"\npairs = " + pairs +
           "\nlength = 1\nstiffness = " + std::to_string(stiffness) + "\n";
  };
  const std::string stiff = spring("[[0, 1]]", 1e4);
  EXPECT_EQ(planned(stiff + spring("[[2, 3], [3, 4], [4, 5]]", 1.0)).plan.domains->about.size(), 1u);
  EXPECT_EQ(planned(stiff + spring("[[1, 2], [2, 3], [3, 4], [4, 5]]", 1.0)).plan.domains->about.size(), 2u);
}

TEST(PlanDomains, refuses_what_does_not_cover_the_model_once) {
  const CaseFolder folder;
  const auto refused = [&](const std::string& sections, const std::string& more = "") {
    return refusal([&] { folder.build(folder.chain("method = \"multi-domain\"\n" + more, sections)); });
  };
  expect_words(refused("[[domain]]\nparticles = [0, 1]\n"), {"case.toml", "is in no [[domain]]"});
  expect_words(refused("[[domain]]\nparticles = [0, 1, 2]\n[[domain]]\nparticles = [1, 2]\n"), {"already", "apart"});
  expect_words(refused("[[domain]]\nparticles = [0, 2]\n[[domain]]\nparticles = [1, 2]\n"),
               {"holds no cell and no bond"});
  const std::string once = "[[domain]]\nparticles = [0, 1]\nsubsteps = 1\n[[domain]]\nparticles = [1, 2]\n";
  expect_words(refused(once, "step = 50"), {"exceeds the stable one", "substeps or more"});
  expect_words(
      refused("[[domain]]\nparticles = [0, 1]\nalpha = 0.5\nintegrator = \"avi\"\n[[domain]]\nparticles = [1, 2]\n"),
      {"avi", "is explicit", "alpha = 0.5"});
}

}  // namespace
}  // namespace tempi
