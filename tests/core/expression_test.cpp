// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/expression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Point = std::array<double, 3>;
constexpr Point origin{};

std::string message_of(const std::string& text, const Constants& constants = {}) {
  try {
    const Expression f(text, constants);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Expression, a_number_is_a_constant) {
  const Expression f(2.5);
  EXPECT_EQ(f.constant(), 2.5);
  EXPECT_FALSE(f.depends_on_time());
  EXPECT_EQ(f(origin, 3.0), 2.5);
}

TEST(Expression, a_formula_without_variables_is_a_constant) {
  const Expression f("2*pi + a", {{"a", 0.25}});
  ASSERT_TRUE(f.constant());
  EXPECT_EQ(*f.constant(), 2.0 * std::numbers::pi + 0.25);
}

TEST(Expression, every_variable_has_its_own_place) {
  const Expression f("X + 10*Y + 100*Z + 1000*t", {});
  EXPECT_FALSE(f.constant());
  EXPECT_EQ(f(Point{1.0, 2.0, 3.0}, 4.0), 4321.0);
  EXPECT_EQ(f(Point{4.0, 3.0, 2.0}, 1.0), 1234.0);
}

TEST(Expression, components_that_a_position_lacks_are_zero) {
  const Expression f("X + 10*Y + 100*Z", {});
  EXPECT_EQ(f(std::array{7.0}, 0.0), 7.0);
  const Expression g("X + 10*Y + 100*Z", {});
  EXPECT_EQ(g(std::array{7.0, 1.0}, 0.0), 17.0);
}

TEST(Expression, knows_whether_time_matters) {
  EXPECT_TRUE(Expression("X*t", {}).depends_on_time());
  EXPECT_FALSE(Expression("X*Y", {}).depends_on_time());
  EXPECT_FALSE(Expression("tan(X)", {}).depends_on_time());
}

TEST(Expression, keeps_the_text_it_was_given) {
  EXPECT_EQ(Expression(" 0.1 * sin( t ) ", {}).text(), " 0.1 * sin( t ) ");
  EXPECT_EQ(Expression(0.1).text(), "0.1");
}

TEST(Expression, survives_being_moved) {
  Expression f("a*X", {{"a", 3.0}});
  Expression g(std::move(f));
  Expression h(0.0);
  h = std::move(g);
  EXPECT_EQ(h(Point{2.0, 0.0, 0.0}, 0.0), 6.0);
}

TEST(Expression, functions_and_operators_of_its_list_mean_what_they_say) {
  const std::array<std::pair<const char*, double>, 18> expected = {{{"ln(2)", std::log(2.0)},
                                                                    {"log10(2)", std::log10(2.0)},
                                                                    {"log2(2)", 1.0},
                                                                    {"atan2(1, -1)", std::atan2(1.0, -1.0)},
                                                                    {"2^3", 8.0},
                                                                    {"-2^2", -4.0},
                                                                    {"2^3^2", 512.0},
                                                                    {"1 < 2 ? 3 : 4", 3.0},
                                                                    {"1 >= 2 || 2 != 3", 1.0},
                                                                    {"1 == 1 && 2 <= 1", 0.0},
                                                                    {"min(3, 1, 2)", 1.0},
                                                                    {"max(3, 1, 2)", 3.0},
                                                                    {"sum(3, 1, 2)", 6.0},
                                                                    {"avg(3, 1, 2)", 2.0},
                                                                    {"sign(-3)", -1.0},
                                                                    {"rint(2.7)", 3.0},
                                                                    {"abs(-3)", 3.0},
                                                                    {"sinh(1) + cosh(1)", std::numbers::e}}};
  for (const auto& [text, value] : expected) EXPECT_DOUBLE_EQ(Expression(text, {})(origin, 0.0), value) << text;
}

TEST(Expression, an_undefined_value_is_returned_not_thrown) {
  EXPECT_TRUE(std::isnan(Expression("ln(X)", {})(Point{-1.0, 0.0, 0.0}, 0.0)));
  EXPECT_TRUE(std::isinf(Expression("1/X", {})(origin, 0.0)));
}

TEST(Expression, an_unknown_name_is_refused_with_the_known_ones) {
  const std::string message = message_of("omega*x", {{"omega", 1.0}, {"speed", 2.0}});
  EXPECT_NE(message.find("omega*x"), std::string::npos) << message;
  EXPECT_NE(message.find("X, Y, Z, t, pi, omega, speed"), std::string::npos) << message;
}

TEST(Expression, bad_syntax_is_refused) {
  for (const char* text : {"", "1 +", "(1", "sin()", "2 X", "1..2", "sin", "X Y"})
    EXPECT_THROW(Expression(text, {}), InputError) << text;
}

// A decimal comma is an easy slip; "0,5" must not become 5.
TEST(Expression, a_list_of_values_is_refused) {
  EXPECT_THROW(Expression("0,5", {}), InputError);
  EXPECT_THROW(Expression("0, 0.1*t", {}), InputError);
}

// "X = 0" for "X == 0" would assign and select nothing.
TEST(Expression, an_assignment_is_refused) {
  for (const char* text : {"X = 0", "t = 3", "X += 1"}) EXPECT_THROW(Expression(text, {}), InputError) << text;
}

TEST(Expression, a_constant_whose_name_is_no_name_is_refused) {
  EXPECT_THROW(Expression("1", {{"a-b", 1.0}}), InputError);
}

double centred(const char* text, double t, double delta) {
  return time_derivative(Expression(text, {}), origin, t, delta);
}

TEST(TimeDerivative, is_exact_for_quartics_in_the_middle_and_at_the_start) {
  const Expression f("1 + t - 2*t^2 + 3*t^3 - t^4", {});
  const auto exact = [](double t) { return 1.0 - 4.0 * t + 9.0 * t * t - 4.0 * t * t * t; };
  for (const double t : {0.0, 0.05, 0.1, 0.2, 1.0})
    EXPECT_NEAR(time_derivative(f, origin, t, 0.1), exact(t), 1e-12) << t;
}

TEST(TimeDerivative, second_is_exact_for_quintics_in_the_middle_and_at_the_start) {
  const Expression f("1 + t - 2*t^2 + 3*t^3 - t^4 + 2*t^5", {});
  const auto exact = [](double t) { return -4.0 + 18.0 * t - 12.0 * t * t + 40.0 * t * t * t; };
  for (const double t : {0.0, 0.05, 0.1, 0.2, 1.0})
    EXPECT_NEAR(second_time_derivative(f, origin, t, 0.1), exact(t), 1e-11) << t;
}

TEST(TimeDerivative, is_of_fourth_order_in_the_middle_and_at_the_start) {
  for (const double t : {0.0, 1.0}) {
    const auto error = [&](double delta) { return std::abs(centred("sin(3*t)", t, delta) - 3.0 * std::cos(3.0 * t)); };
    EXPECT_NEAR(std::log2(error(0.02) / error(0.01)), 4.0, 0.15) << t;
  }
}

TEST(TimeDerivative, second_is_of_fourth_order_in_the_middle_and_at_the_start) {
  const Expression f("cos(3*t) + sin(3*t)", {});
  for (const double t : {0.0, 1.0}) {
    const auto error = [&](double delta) {
      const double exact = -9.0 * (std::cos(3.0 * t) + std::sin(3.0 * t));
      return std::abs(second_time_derivative(f, origin, t, delta) - exact);
    };
    EXPECT_NEAR(std::log2(error(0.02) / error(0.01)), 4.0, 0.2) << t;
  }
}

TEST(TimeDerivative, never_looks_at_negative_times) {
  const Expression f("t < 0 ? ln(t) : t^2", {});
  for (const double t : {0.0, 0.05, 0.19, 0.2}) {
    EXPECT_NEAR(time_derivative(f, origin, t, 0.1), 2.0 * t, 1e-12);
    EXPECT_NEAR(second_time_derivative(f, origin, t, 0.1), 2.0, 1e-11);
  }
}

TEST(TimeDerivative, holds_the_position_fixed) {
  const Expression f("X*t + Y", {});
  EXPECT_NEAR(time_derivative(f, Point{3.0, 100.0, 0.0}, 1.0, 0.01), 3.0, 1e-10);
}

TEST(TimeDerivative, vanishes_exactly_where_time_does_not_matter) {
  EXPECT_EQ(centred("X + 0.3", 1.0, 1e-9), 0.0);
  EXPECT_EQ(second_time_derivative(Expression("0.1", {}), origin, 1.0, 1e-9), 0.0);
}

// ---- at many points ----

std::vector<double> thousand_points() {  // more than a block
  std::vector<double> points;
  for (int i = 0; i < 3000; ++i) points.push_back(0.01 * i);
  return points;
}

// Its values, rates and second rates are those of muParser's own evaluation at each point: to the bits, or within so
// many units in the last place of numbers of order one.
void expect_as_at_each_point(const std::string& text, double units = 0.0) {
  SCOPED_TRACE(text);
  constexpr double unit = std::numeric_limits<double>::epsilon(), delta = 0.01;
  const std::vector<double> points = thousand_points();
  const Expression f(text, {{"k", 3.0}});
  ExpressionAtPoints at(f, points, "load");
  EXPECT_EQ(at.blocks() > 0, f.depends_on_time());
  std::vector<double> rates(at.size()), second(at.size());
  for (const double t : {0.0, 0.3, 1.7}) {
    for (Index block = 0; block < at.blocks(); ++block) {
      at.evaluate(block, t);
      at.rates(block, t, delta, at.of_block(rates, block));
      at.second_rates(block, t, delta, at.of_block(second, block));
    }
    for (std::size_t i = 0; i < 1000; ++i) {
      const auto X = std::span(points).subspan(3 * i, 3);
      ASSERT_NEAR(at[i], f(X, t), units * unit * std::max(1.0, std::abs(at[i]))) << i;
      if (!f.depends_on_time()) continue;
      ASSERT_NEAR(rates[at.size() == 1 ? 0 : i], time_derivative(f, X, t, delta),
                  2.0 * units * unit * std::max(1.0, std::abs(at[i])) / delta)
          << i;
      ASSERT_NEAR(second[at.size() == 1 ? 0 : i], second_time_derivative(f, X, t, delta),
                  40.0 * units * unit * std::max(1.0, std::abs(at[i])) / (delta * delta))
          << i;
    }
  }
}

TEST(ExpressionAtPoints, HasTheValuesOfTheFormulaAtEachOfThem) {
  for (const char* text :
       {"3.5", "X - 2*Y*Z", "sin(2*t)", "X*t + exp(-Y) - Z^2*t", "X*sin(2*t) + Y*exp(-t)*cos( 3*(t + 1) )",
        "atan2(Y, sin(t))", "max(X, sin(cos(t)), 0.3*Y*t)", "X + sin(2*k)*t", "-X^3*-t^4 + Y^4/k",
        "1e-6*X*(t < 0.5 ? ln(t + 1) : 2e0*t)", "X < t ? (Y > 2*t ? X : 3) : (Z != 1 && t >= 0.3 ? X*t : -t)", "t",
        "t^2 + t^3", "(X <= t || Y == 0.01)*avg(X, t, Y*t)", "2*(X + 0*t)"})
    expect_as_at_each_point(text);
}

// What is evaluated in packs: four units each, of what follows from it.
TEST(ExpressionAtPoints, HasTheValuesOfFunctionsOfPlaceAndTime) {
  for (const char* text :
       {"sin(X*t)*sqrt(t)", "cos(3*X - 40*t)", "exp(-((X - 3*t)/0.5)^2)", "ln(1 + X*t)", "tanh(X - 9*t)", "sqrt(X + t)",
        "(1 + X*t)^1.7", "(0.1*X)^t", "(X - 5*t)^2/900", "sin(X - t) + cos(X + t)"})
    expect_as_at_each_point(text, 8.0);
}

TEST(ExpressionAtPoints, HasNoValueWhereAFunctionHasNone) {
  for (const char* text : {"ln(X - t)", "sqrt(X - 2*t)", "(X - 2*t)^0.5", "(X - t)^-2", "exp(900*(X + t))"}) {
    SCOPED_TRACE(text);
    ExpressionAtPoints at(Expression(text, {}), {3.0, 0.0, 0.0, 1.0, 0.0, 0.0}, "load");
    EXPECT_THROW(at.evaluate(0, 1.0), SolveError);
  }
}

// Formulas drawn at random, of what keeps muParser's bits.
std::string drawn_formula(std::mt19937& random, int depth) {
  const auto one_of = [&](const auto& all) { return all[random() % std::size(all)]; };
  const auto part = [&] { return drawn_formula(random, depth - 1); };
  if (depth == 0) {
    const std::array<std::string, 8> leaves = {"X", "Y", "Z", "t", "t", "k", "0.7", "X^2"};
    return one_of(leaves);
  }
  switch (random() % 6) {
    case 0: {
      const std::array<std::string, 4> functions = {"sign", "atan", "abs", "rint"};
      return one_of(functions) + "(" + part() + ")";
    }
    case 1: {
      const std::array<std::string, 3> functions = {"min", "max", "atan2"};
      return one_of(functions) + "(" + part() + ", " + part() + ")";
    }
    case 2: return "((" + part() + ") < " + part() + " ? " + part() + " : (" + part() + "))";
    case 3: return "(-" + part() + ")";
    default: {
      const std::array<std::string, 5> operators = {" + ", " - ", "*", " + ", " >= "};
      return "(" + part() + one_of(operators) + part() + ")";
    }
  }
}

TEST(ExpressionAtPoints, HasTheBitsOfFormulasDrawnAtRandom) {
  std::mt19937 random(7);
  for (int i = 0; i < 300 && !::testing::Test::HasFatalFailure(); ++i)
    expect_as_at_each_point(drawn_formula(random, 1 + i % 3));
}

TEST(ExpressionAtPoints, SaysWhereAndWhenAValueIsNone) {
  const Expression f("sqrt(X - t)", {});
  ExpressionAtPoints at(f, {1.0, 0.0, 0.0, 2.0, 0.0, 0.0}, "gravity");
  at.evaluate(0, 0.5);
  try {
    at.evaluate(0, 1.5);
    ADD_FAILURE() << "went on";
  } catch (const SolveError& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("gravity \"sqrt(X - t)\" is"), std::string::npos) << said;
    EXPECT_NE(said.find("X = (1, 0, 0), t = 1.5 s"), std::string::npos) << said;
  }
  EXPECT_THROW(ExpressionAtPoints(Expression("1/X", {}), {0.0, 0.0, 0.0}, "force"), SolveError);
}

// What they mean, told by C++: at one point, and at many.
TEST(Expression, OfPlaceAndTimeHasTheValuesItSays) {
  struct Case {
    const char* text;
    double (*value)(double x, double y, double t);
  };
  const Case cases[] = {
      {"X*sin(2*t)", [](double x, double, double t) { return x * std::sin(2 * t); }},
      {"X*sin(2*t) + Y*exp(-t)*cos( 3*(t + 1) )",
       [](double x, double y, double t) { return x * std::sin(2 * t) + y * std::exp(-t) * std::cos(3 * (t + 1)); }},
      {"sin(X*t)*sqrt(t)", [](double x, double, double t) { return std::sin(x * t) * std::sqrt(t); }},
      {"atan2(Y, sin(t))", [](double, double y, double t) { return std::atan2(y, std::sin(t)); }},
      {"max(X, sin(cos(t)))", [](double x, double, double t) { return std::max(x, std::sin(std::cos(t))); }},
      {"1e-6*X*(t < 0.5 ? ln(t + 1) : 2e0*t)",
       [](double x, double, double t) { return 1e-6 * x * (t < 0.5 ? std::log(t + 1) : 2e0 * t); }},
      {"X + sin(2*k)*t", [](double x, double, double t) { return x + std::sin(6.0) * t; }}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const Expression f(c.text, {{"k", 3.0}});
    EXPECT_TRUE(f.depends_on_position() && f.depends_on_time());
    std::vector<double> points;
    for (int i = 0; i < 60; ++i) points.insert(points.end(), {0.3 + 0.01 * i, 1.0 - 0.02 * i, 0.0});
    ExpressionAtPoints at(f, points, "load");
    for (std::size_t i = 0; i < 60; ++i) {
      const double t = 0.1 * static_cast<double>((7 * i) % 23), x = points[3 * i], y = points[3 * i + 1];
      at.evaluate(0, t);
      ASSERT_NEAR(f(Point{x, y, 0.0}, t), c.value(x, y, t), 1e-15) << i;
      ASSERT_NEAR(at[i], c.value(x, y, t), 1e-15) << i;
    }
  }
}

}  // namespace
}  // namespace tempi
