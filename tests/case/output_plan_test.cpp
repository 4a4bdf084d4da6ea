// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/output_plan.hpp"

#include <gtest/gtest.h>

namespace tempi {
namespace {

TEST(OutputPlan, KeepsWhatTheCaseCounts) {
  const OutputPlan plan = plan_outputs(7, 0, 1e3, 1.0, 1.0);
  EXPECT_EQ(plan.rows, 7);
  EXPECT_EQ(plan.frames, 0);
  EXPECT_FALSE(plan.rows_chosen || plan.frames_chosen);
}

TEST(OutputPlan, TakesATwentiethOfTheRunForRowsAndForFrames) {
  const OutputPlan plan = plan_outputs({}, {}, 1e6, 200.0, 2000.0);
  EXPECT_EQ(plan.rows, 250);   // 0.05 * 1e6 / 200
  EXPECT_EQ(plan.frames, 25);  // 0.05 * 1e6 / 2000
  EXPECT_TRUE(plan.rows_chosen && plan.frames_chosen);
}

TEST(OutputPlan, StaysWithinBoundsHoweverLongOrShortTheRun) {
  const OutputPlan most = plan_outputs({}, {}, 1e12, 1.0, 1.0), least = plan_outputs({}, {}, 0.0, 1.0, 1.0);
  EXPECT_EQ(most.rows, 1000);
  EXPECT_EQ(most.frames, 50);
  EXPECT_EQ(least.rows, 50);
  EXPECT_EQ(least.frames, 5);
}

}  // namespace
}  // namespace tempi
