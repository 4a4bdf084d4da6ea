// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/step_plan.hpp"

#include <fmt/format.h>
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

// Every node of the square: two of 1/6 kg, two of 1/3 kg.
TEST(PlanSteps, gives_a_penalty_a_quarter_of_its_stable_step_and_less_where_cells_take_less) {
  const CaseFolder folder;
  const auto step = [&](const std::string& integrator, const std::string& own = "") {
    const Simulation s = folder.build(
        folder.square(integrator,
                      "[[wall]]\ntype = \"plane\"\npoint = [0, -1]\nnormal = [0, 1]\npenalty = 1.5\n" + own));
    return s.plan.own.back();  // of the wall
  };
  const double limit = 2.0 * std::sqrt(1.5 / 6.0);
  EXPECT_DOUBLE_EQ(step("safety = 0.9"), 0.25 * limit);
  EXPECT_DOUBLE_EQ(step("safety = 0.1"), 0.1 * limit);
  EXPECT_DOUBLE_EQ(step("courant = 0.05"), 0.05 * limit);
  EXPECT_DOUBLE_EQ(step("step = 0.02"), 0.02);
  EXPECT_DOUBLE_EQ(step("safety = 0.1", "step = 0.03\n"), 0.03);
}

TEST(PlanSteps, gives_synchronous_methods_one_step_within_their_limit) {
  const CaseFolder folder;
  const Simulation newmark = folder.build(folder.chain("method = \"newmark\"\nsafety = 0.5"));
  EXPECT_FALSE(newmark.plan.unequal());
  EXPECT_FALSE(newmark.plan.may_resonate());
  const double least = *std::ranges::min_element(newmark.plan.own);
  EXPECT_DOUBLE_EQ(newmark.plan.smallest(), least);
  const Simulation smaller = folder.build(folder.chain("method = \"newmark\"\ngamma = 0.9\nsafety = 0.5"));
  EXPECT_DOUBLE_EQ(smaller.plan.smallest(), least * 0.5 / std::sqrt(0.45));  // 1 / sqrt(gamma/2 - beta), over 2
  const Simulation larger = folder.build(folder.chain("method = \"newmark\"\nbeta = 0.1\nsafety = 0.5"));
  EXPECT_DOUBLE_EQ(larger.plan.smallest(), least);  // safety counts from the terms' own limit in any case
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

// Jitter of single kicks, felt by what looks at the motion between nodes (docs/stability.md); drags look at nodes.
TEST(PlanSteps, warns_of_viscous_forces_where_every_term_strikes_by_itself) {
  const CaseFolder folder;
  const auto caution = [&](const std::string& lattice, const std::string& damping) {
    const std::string sections = damping.empty() ? "" : "[[damping]]\ntype = " + damping + "\n";
    return folder.build(folder.chain("safety = 0.5\nlattice = \"" + lattice + "\"", sections)).caution();
  };
  const std::string dashpots = "\"kelvin-voigt\"\ncoefficient = 0.1";
  EXPECT_NE(caution("exact", dashpots).find("viscous forces"), std::string::npos) << caution("exact", dashpots);
  EXPECT_EQ(caution("exact", "\"drag\"\ncoefficient = 0.1").find("viscous forces"), std::string::npos);
  EXPECT_EQ(caution("exact", "").find("viscous forces"), std::string::npos);
  EXPECT_EQ(caution("auto", dashpots).find("viscous forces"), std::string::npos);
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

// Springs of many stiffnesses in a row, so that many places are tried, in parts by each thread.
TEST(PlanSteps, gives_the_same_answer_for_any_number_of_threads) {
  const CaseFolder folder;
  std::string positions = "[0, 0]", springs;
  for (int i = 1; i < 60; ++i) {
    positions += fmt::format(", [{}, 0]", i);
    springs += fmt::format("[[potential]]\ntype = \"spring\"\npairs = [[{}, {}]]\nstiffness = {}\nlength = 1.0\n",
                           i - 1, i, 1.0 + (i * i) % 17);
  }
  const CaseFile in = folder.read("[particles]\nmass = 1.0\nposition = [" + positions + "]\n" + springs +
                                  "[integrator]\nlattice = \"powers-of-two\"\n[run]\nend_time = 1000.0\n");
  const Simulation one = build(in, 1), three = build(in, 3);
  ASSERT_TRUE(one.plan.trial && three.plan.trial);
  EXPECT_GT(one.plan.trial->tried, 20);
  EXPECT_EQ(one.plan.trial->tried, three.plan.trial->tried);
  EXPECT_EQ(one.plan.trial->wide, three.plan.trial->wide);
  EXPECT_EQ(one.plan.trial->growth, three.plan.trial->growth);
  EXPECT_EQ(one.plan.trial->where, three.plan.trial->where);
  EXPECT_EQ(one.plan.steps, three.plan.steps);
}

}  // namespace
}  // namespace tempi
