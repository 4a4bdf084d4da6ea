// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/step_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/cases.hpp"
#include "tempi/model/steps.hpp"

namespace tempi {
namespace {

using test::CaseFolder;
using test::expect_words;
using test::refusal;

TEST(PlanSteps, gives_each_term_its_part_of_its_stable_step_on_the_queue) {
  const CaseFolder folder;
  const Simulation s = folder.build(folder.chain("safety = 0.5\nlattice = \"exact\""));
  const std::vector<double> stable = stable_steps(*s.model, s.state.displacement);
  ASSERT_EQ(s.plan.steps.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_DOUBLE_EQ(s.plan.steps[i], 0.5 * stable[i]);
  EXPECT_FALSE(s.plan.choice);
  EXPECT_DOUBLE_EQ(s.plan.safety, 0.5);
  EXPECT_EQ(s.plan.newmark_updates(1.0), 2 * static_cast<Index>(std::ceil(1.0 / s.plan.smallest())));
}

TEST(PlanSteps, rounds_them_down_to_a_lattice_and_tries_it) {
  const CaseFolder folder;
  const Simulation s = folder.build(folder.chain("safety = 0.5\nlattice = \"powers-of-two\""));
  ASSERT_TRUE(s.plan.choice);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_LE(s.plan.steps[i], s.plan.wished[i] * (1.0 + 1e-12));
  EXPECT_EQ(s.plan.trial.has_value(), s.plan.unequal());
  EXPECT_EQ(s.plan.updates_until(TermId{0}, 1.0),
            update_count(s.plan.choice->lattice.tick, 1.0) / s.plan.choice->lattice.ticks[0]);
}

TEST(PlanSteps, gives_synchronous_methods_one_step_within_their_limit) {
  const CaseFolder folder;
  const Simulation newmark = folder.build(folder.chain("method = \"newmark\"\nsafety = 0.5"));
  EXPECT_FALSE(newmark.plan.unequal());
  EXPECT_FALSE(newmark.plan.may_resonate());
  const Simulation larger = folder.build(folder.chain("method = \"newmark\"\nbeta = 0.1\nsafety = 0.5"));
  EXPECT_DOUBLE_EQ(larger.plan.smallest(),
                   newmark.plan.own[0] < newmark.plan.own[1] ? larger.plan.own[0] : larger.plan.own[1]);
  const Simulation implicit = folder.build(folder.chain("method = \"gauss\"\nstep = 7.0"));
  EXPECT_EQ(implicit.plan.smallest(), 7.0);  // beyond all stable steps
  EXPECT_EQ(implicit.integrator->name(), "gauss");
}

TEST(PlanSteps, makes_the_method_of_the_row) {
  const CaseFolder folder;
  EXPECT_EQ(folder.build(folder.chain("step = 0.1\nlattice = \"exact\"")).integrator->name(), "avi");
  EXPECT_EQ(folder.build(folder.chain("method = \"newmark\"\nstep = 0.1\nlattice = \"exact\"")).integrator->name(),
            "newmark");
  EXPECT_EQ(folder.build(folder.chain("method = \"rk4\"\nstep = 0.1")).integrator->name(), "rk4");
  const Simulation implicit =
      folder.build(folder.chain("method = \"avi-implicit\"\nimplicit_step = 0.9\nsafety = 0.5"));
  EXPECT_EQ(implicit.plan.implicit_terms, 2);
  EXPECT_EQ(implicit.plan.steps, (std::vector<double>{0.9, 0.9}));
}

TEST(PlanSteps, refuses_what_does_not_fit_where_it_stands) {
  const CaseFolder folder;
  const auto refused = [&](const std::string& integrator) {
    return refusal([&] { folder.build(folder.chain(integrator)); });
  };
  expect_words(refused("step = 1e-17"), {"case.toml", "too small for an end_time"});
  expect_words(refused("method = \"newmark\"\nbeta = 0.0\ngamma = 0.9\nstep = 0.6"), {"beta and gamma"});
  expect_words(refused("method = \"newmark\"\nnewmark_limit = \"assembled\"\nstep = 0.1"), {"goes with safety"});
  expect_words(refused("method = \"avi-implicit\"\nstep = 0.1"), {"needs implicit_step"});
}

TEST(PlanSteps, gives_the_same_answer_for_any_number_of_threads) {
  const CaseFolder folder;
  const CaseFile in = folder.read(folder.square());
  const Simulation one = build(in, 1), two = build(in, 2);
  EXPECT_EQ(one.plan.steps, two.plan.steps);
}

}  // namespace
}  // namespace tempi
