// SPDX-License-Identifier: Apache-2.0
// Fails on purpose; ctest expects it to. Shows that a failing expectation reaches the exit code.
#include <gtest/gtest.h>

TEST(Harness, AFailingExpectationIsNoticed) { EXPECT_EQ(1, 2) << "on purpose"; }
