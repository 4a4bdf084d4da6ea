// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/formula.hpp"

#include <gtest/gtest.h>

#include <array>

#include "support/cases.hpp"

namespace tempi {
namespace {

using test::expect_words;
using test::refusal;

TEST(Formula, is_a_number_or_an_expression_with_the_case_s_constants) {
  const std::array<double, 2> X = {2.0, 5.0};
  EXPECT_EQ(expression_of({3.5, ""}, {})(X, 1.0), 3.5);
  EXPECT_DOUBLE_EQ(expression_of({std::string("k*X + t"), ""}, {{"k", 4.0}})(X, 1.0), 9.0);
  expect_words(refusal([] { expression_of({std::string("k*X"), "case.toml:7"}, {}); }), {"case.toml:7", "k"});
}

TEST(Formula, has_a_component_for_each_dimension) {
  EXPECT_EQ(vector_of({{1.0, ""}, {2.0, ""}}, {}, 2, "value").size(), 2);
  expect_words(refusal([] { vector_of({{1.0, ""}, {2.0, ""}}, {}, 3, "value"); }), {"value has 2 components", "3"});
  expect_words(refusal([] { vector_of({{1.0, ""}, {2.0, ""}}, {}, 1, "value"); }), {"there is 1 dimension"});
}

}  // namespace
}  // namespace tempi
