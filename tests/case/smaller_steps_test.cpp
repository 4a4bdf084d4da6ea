// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/smaller_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/cases.hpp"

namespace tempi {
namespace {

using test::CaseFolder;
using test::expect_words;

TEST(BeginsAgain, where_steps_are_open_four_times_and_not_when_nothing_has_changed) {
  const CaseFolder folder;
  Simulation s = folder.build(folder.square());
  const StepError at_one("too large.", 1.0);
  EXPECT_TRUE(begins_again(s, at_one));
  s.tries = {{0.9, 1.01, "too large."}};
  EXPECT_FALSE(begins_again(s, at_one));  // as before: the motion's
  s.tries = {{0.9, 0.5, "too large."}};
  EXPECT_TRUE(begins_again(s, at_one));
  for (const auto& [safety, time] : {std::pair(0.6, 0.7), std::pair(0.4, 0.8)}) {
    s.tries.push_back({safety, time, "too large."});
    EXPECT_TRUE(begins_again(s, at_one));
  }
  s.tries.push_back({0.2, 0.9, "too large."});
  EXPECT_FALSE(begins_again(s, at_one));
  for (const char* asked : {"safety = 0.9", "courant = 0.1", "step = 1e-3"})
    EXPECT_FALSE(begins_again(folder.build(folder.square(asked)), at_one)) << asked;
  EXPECT_FALSE(begins_again(folder.build(folder.square("method = \"energy-stepping\"\nenergy_step = 1e-3")), at_one));
}

TEST(BeginAgain, brings_the_same_case_to_life_with_two_thirds_of_the_steps) {
  const CaseFolder folder;
  Simulation s = folder.build(folder.square());
  const double before = *std::ranges::min_element(s.plan.own);
  const std::string identity = s.input.identity;
  begin_again(s, {{0.9, 0.25, "an element inverted."}});
  EXPECT_DOUBLE_EQ(*std::ranges::min_element(s.plan.own), 2.0 / 3.0 * before);
  EXPECT_EQ(s.input.identity, identity);  // it is the same case
  ASSERT_EQ(s.tries.size(), 1u);
  expect_words(s.warnings.back(), {"an element inverted.", "begins again", "safety = 0.6 instead of 0.9"});
  begin_again(s, {{0.9, 0.25, "one."}, {0.6, 0.35, "two."}, {0.4, 0.45, "three."}});
  EXPECT_DOUBLE_EQ(*std::ranges::min_element(s.plan.own), 0.2 / 0.9 * before);
  expect_words(s.warnings.back(), {"three.", "safety = 0.2 instead of 0.4"});
  expect_words(lesson(s.tries), {"0.9 (at t = 0.25 s)", "do not spare it"});
  EXPECT_EQ(lesson({}), "");
}

// A step that the wall is given is not the choice of the run.
TEST(BeginAgain, brings_walls_with_a_penalty_to_life_with_two_thirds_of_theirs) {
  const CaseFolder folder;
  const std::string wall = "[[wall]]\ntype = \"plane\"\npoint = [0, -1]\nnormal = [0, 1]\npenalty = 1.5\n";
  for (const auto& [own, part] : {std::pair("", 2.0 / 3.0), std::pair("step = 0.03\n", 1.0)}) {
    Simulation s = folder.build(folder.square("", wall + own));
    const double before = s.plan.own.back();  // of the wall
    begin_again(s, {{0.9, 0.25, "an element inverted."}});
    EXPECT_DOUBLE_EQ(s.plan.own.back(), part * before) << own;
  }
}

// Of contact the cells at the surface decide, which may be far below the rest already.
TEST(BeginAgain, brings_cells_at_surfaces_of_contact_to_life_with_two_thirds_of_theirs) {
  const CaseFolder folder;
  const std::string text =
      folder.square("", "[[contact]]\ndistance = 0.1\n[[wall]]\ntype = \"plane\"\npoint = [0, -1]\nnormal = [0, 1]\n");
  Simulation s = folder.build(text);
  EXPECT_EQ(s.input.energy_tolerance, 0.03);
  EXPECT_EQ(folder.read(folder.square("", "[[contact]]\ndistance = 0.1\nfriction = 0.1\n")).energy_tolerance, 0.03);
  EXPECT_EQ(folder.read(folder.square()).energy_tolerance, 0.5);
  const double before = *std::ranges::min_element(s.plan.own);
  for (const double part : {2.0 / 3.0, 4.0 / 9.0}) {
    std::vector<EarlierTry> tries = s.tries;
    tries.push_back({*s.input.integrator.safety, 0.25, "it gained."});
    begin_again(s, std::move(tries));
    EXPECT_NEAR(*std::ranges::min_element(s.plan.own), part * before, 1e-12 * before);
    Simulation resumed = folder.build(text);  // after it was cut off
    begin_again(resumed, s.tries);
    EXPECT_EQ(resumed.plan.steps, s.plan.steps);
    expect_words(s.warnings.back(), {"surface_safety"});
  }
}

TEST(Tries, are_kept_in_checkpoints_to_the_bit) {
  Sections sections;
  put_tries(sections, {{0.9, 0.1, "\"so\"\n"}, {2.0 / 3.0 * 0.9, 1.0 / 3.0, "again"}});
  const std::vector<EarlierTry> tries = tries_of(sections);
  ASSERT_EQ(tries.size(), 2u);
  EXPECT_EQ(tries[0].message, "\"so\"\n");
  EXPECT_EQ(tries[1].safety, 2.0 / 3.0 * 0.9);
  EXPECT_EQ(tries[1].time, 1.0 / 3.0);
  EXPECT_TRUE(tries_of(Sections{}).empty());
  Sections damaged;
  damaged.add("tries", "[[1, 2], {");
  EXPECT_TRUE(tries_of(damaged).empty());
}

}  // namespace
}  // namespace tempi
