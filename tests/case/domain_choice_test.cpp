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
