// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/method_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "support/cases.hpp"
#include "tempi/case/option_table.hpp"

namespace tempi {
namespace {

using test::expect_words;
using test::refusal;

IntegratorInput asked(const std::string& method, std::initializer_list<const char*> keys) {
  IntegratorInput in;
  in.method = method;
  in.options = default_method_options();
  for (const char* key : keys) in.method_keys.emplace_back(key, std::string("case.toml:") + key);
  return in;
}

TEST(MethodTable, has_keys_that_are_options_and_texts_for_every_row) {
  for (const Method& method : method_table()) {
    EXPECT_FALSE(method.text.empty()) << method.name;
    EXPECT_FALSE(method.variants.empty()) << method.name;
    std::istringstream keys{std::string(method.keys)};
    for (std::string key; keys >> key;) {
      const auto found = std::ranges::find_if(option_table(), [&](const Option& o) {
        return o.section == "integrator" && o.key == key;
      });
      EXPECT_NE(found, option_table().end()) << method.name << ": " << key;
    }
  }
}

TEST(MethodTable, is_what_the_case_file_may_name) {
  const std::vector<std::string> choices = choices_of(option("integrator", "method"));
  for (const Method& method : method_table())
    EXPECT_EQ(std::ranges::count(choices, std::string(method.name)), 1) << method.name;
  EXPECT_EQ(choices.front(), "avi");
}

TEST(MethodTable, tells_rows_of_one_name_apart_by_their_keys) {
  EXPECT_EQ(method_of(asked("newmark", {})).engine, Engine::strikes);
  EXPECT_EQ(method_of(asked("newmark", {"newmark_limit"})).engine, Engine::strikes);
  EXPECT_EQ(method_of(asked("newmark", {"beta"})).engine, Engine::one_step);
  EXPECT_EQ(method_of(asked("newmark", {"beta", "gamma"})).engine, Engine::one_step);
  expect_words(refusal([] {
                 method_of(asked("newmark", {"beta", "newmark_limit"}));
               }),
               {"case.toml:beta", "newmark_limit", "do not go together"});
}

TEST(MethodTable, refuses_keys_of_others_and_names_their_owners) {
  expect_words(refusal([] { method_of(asked("rk4", {"order"})); }),
               {"case.toml:order", "gauss, lobatto", "not to rk4"});
  expect_words(refusal([] { method_of(asked("avi", {"newmark_limit"})); }), {"newmark", "not to avi"});
  IntegratorInput in = asked("gauss", {"order"});
  in.residual_asked = true;
  expect_words(refusal([&] { method_of(in); }), {"residual", "gauss"});
}

TEST(MethodTable, has_the_defaults_of_the_option_table) {
  const MethodOptions o = default_method_options();
  EXPECT_EQ(o.alpha, 0.5);
  EXPECT_EQ(o.beta, 0.0);
  EXPECT_EQ(o.gamma, 0.5);
  EXPECT_EQ(o.order, 4);
  EXPECT_EQ(o.action, "midpoint");
  EXPECT_EQ(o.step_bounds, (std::vector<double>{0.25, 4.0}));
  const test::CaseFolder folder;
  const MethodOptions read = folder.read(folder.chain("step = 0.1")).integrator.options;
  EXPECT_EQ(read.softness, o.softness);
  EXPECT_EQ(read.step_bounds, o.step_bounds);
  EXPECT_EQ(read.newmark_limit, o.newmark_limit);
}

// Newmark's roots leave the unit circle at omega h = 1 / sqrt(gamma/2 - beta): 2 where it is central differences.
TEST(MethodTable, knows_limits_of_steps) {
  MethodOptions o = default_method_options();
  const Method& newmark = method_of(asked("newmark", {"beta"}));
  EXPECT_DOUBLE_EQ(newmark.step_limit(o), 1.0);
  o.beta = 1.0 / 6.0;
  EXPECT_NEAR(newmark.step_limit(o), std::sqrt(12.0) / 2.0, 1e-14);
  o.beta = 0.25;
  EXPECT_FALSE(newmark.is_explicit(o));
  const Method& midpoint = method_of(asked("midpoint", {"alpha"}));
  o.alpha = 0.0;
  EXPECT_TRUE(midpoint.is_explicit(o));
  EXPECT_TRUE(std::isinf(midpoint.damping_limit(o)));
  o.alpha = 1.0;
  EXPECT_DOUBLE_EQ(midpoint.damping_limit(o), 2.0);
}

TEST(MethodTable, softens_terms_whose_steps_are_shorter_than_the_implicit_one) {
  MethodOptions o = default_method_options();
  o.implicit_step = 0.4;
  const SoftenedSteps plan = softened_steps({0.1, 0.4, 0.79, 0.81, 1.7}, o);
  EXPECT_EQ(plan.steps, (std::vector<double>{0.4, 0.4, 0.4, 0.8, 1.6}));
  EXPECT_EQ(plan.alphas, (std::vector<double>{o.softness, 0.0, 0.0, 0.0, 0.0}));
}

}  // namespace
}  // namespace tempi
