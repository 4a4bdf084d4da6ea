// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "tempi/core/error.hpp"
#include "tempi/core/formula_columns.hpp"

namespace tempi {

namespace {

// muParser would take "X = 0" for an assignment.
void refuse_assignment(const std::string& text) {
  for (std::size_t i = text.find('='); i != std::string::npos; i = text.find('=', i + 1)) {
    const bool compares =
        (i + 1 < text.size() && text[i + 1] == '=') || (i > 0 && std::strchr("=<>!", text[i - 1]) != nullptr);
    if (!compares)
      throw InputError(fmt::format("the expression \"{}\" assigns. Write == to compare, or abs(X) < 1e-6.", text));
  }
}

}  // namespace

struct Expression::Parser {
  mu::Parser formula;
  std::array<double, 3> X{};
  double t = 0.0;
};

Expression::Expression(double value) : constant_(value), text_(fmt::format("{}", value)) {}

Expression::Expression(const std::string& text, const Constants& constants)
    : Expression(text, constants, std::array<std::string, 3>{"X", "Y", "Z"}, true) {}

Expression Expression::of(const std::string& variable, const std::string& text, const Constants& constants) {
  if (constants.contains(variable))
    throw InputError(
        fmt::format("the constant {0} has the name of the variable of \"{1}\". Rename the constant.", variable, text));
  return {text, constants, std::span(&variable, 1), false};
}

Expression::Expression(const std::string& text, const Constants& constants, std::span<const std::string> coordinates,
                       bool with_time)
    : parser_(std::make_unique<Parser>()), text_(text) {
  mu::Parser& formula = parser_->formula;
  try {
    for (std::size_t i = 0; i < coordinates.size(); ++i) formula.DefineVar(coordinates[i], &parser_->X[i]);
    if (with_time) formula.DefineVar("t", &parser_->t);
    formula.DefineConst("pi", std::numbers::pi);
    for (const auto& [name, value] : constants) formula.DefineConst(name, value);
    FormulaColumns::define_functions(formula);
    refuse_assignment(text);
    formula.SetExpr(text);
    int results = 0;
    formula.Eval(results);
    if (results != 1)
      throw InputError(fmt::format("the expression \"{}\" has {} values (must be one).", text, results));
    const auto& used = formula.GetUsedVar();
    depends_on_time_ = with_time && used.contains("t");
    depends_on_position_ = used.size() > (depends_on_time_ ? 1u : 0u);
    if (used.empty()) constant_ = formula.Eval();
  } catch (const mu::Parser::exception_type& e) {
    std::string known = fmt::format("{}{}, pi", fmt::join(coordinates, ", "), with_time ? ", t" : "");
    for (const auto& entry : constants) known += ", " + entry.first;
    std::string why = e.GetMsg();
    while (!why.empty() && (why.back() == '.' || why.back() == ' ')) why.pop_back();
    throw InputError(
        fmt::format("cannot read the expression \"{}\" ({}). Known names: {}; capitals matter, and && "
                    "and || stand for and and or.",
                    text, why, known));
  }
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

double Expression::operator()(std::span<const double> X, double t) const {
  if (constant_) return *constant_;
  for (std::size_t i = 0; i < X.size(); ++i) parser_->X[i] = X[i];
  parser_->t = t;
  return parser_->formula.Eval();
}

namespace {

[[noreturn]] void throw_not_finite(const std::string& text, double value, std::span<const double> X, double t,
                                   std::string_view what) {
  throw SolveError(fmt::format("the {} \"{}\" is {} at X = ({:.6g}), t = {:.6g} s. Correct the expression.", what, text,
                               value, fmt::join(X, ", "), t));
}

}  // namespace

double finite_value(const Expression& f, std::span<const double> X, double t, std::string_view what) {
  const double value = f(X, t);
  if (!std::isfinite(value)) throw_not_finite(f.text(), value, X, t, what);
  return value;
}

ExpressionAtPoints::ExpressionAtPoints(const Expression& f, std::vector<double> points, std::string what)
    : points_(std::move(points)), text_(f.text()), what_(std::move(what)), one_for_all_(!f.depends_on_position()) {
  if (one_for_all_) points_.resize(3);
  values_.resize(points_.size() / 3, f.constant().value_or(0.0));
  if (f.constant()) return;
  columns_ = std::make_unique<FormulaColumns>(f.parser_->formula, f.parser_->X, f.parser_->t, points_);
  blocks_ = (std::ssize(values_) + at_once - 1) / at_once;
  if (f.depends_on_time()) return;
  for (Index block = 0; block < blocks_; ++block) evaluate(block, 0.0);
  columns_.reset();
  blocks_ = 0;
}

ExpressionAtPoints::~ExpressionAtPoints() = default;
ExpressionAtPoints::ExpressionAtPoints(ExpressionAtPoints&&) noexcept = default;

std::span<double> ExpressionAtPoints::of_block(std::vector<double>& all, Index block) const {
  return std::span(all).subspan(static_cast<std::size_t>(block * at_once),
                                static_cast<std::size_t>(std::min(at_once, std::ssize(all) - block * at_once)));
}

void ExpressionAtPoints::evaluate(Index block, double t) {
  const std::span<double> values = of_block(values_, block);
  columns_->evaluate(block * at_once, t, values);
  const auto wrong = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
  if (wrong == values.end()) return;
  const auto point = static_cast<std::size_t>(&*wrong - values_.data());
  throw_not_finite(text_, *wrong, std::span(points_).subspan(3 * point, 3), t, what_);
}

namespace {

struct Weight {
  double at, weight;
};
constexpr std::array<Weight, 4> central_first = {{{-2, 1}, {-1, -8}, {1, 8}, {2, -1}}};
constexpr std::array<Weight, 5> one_sided_first = {{{0, -25}, {1, 48}, {2, -36}, {3, 16}, {4, -3}}};
constexpr std::array<Weight, 5> central_second = {{{-2, -1}, {-1, 16}, {0, -30}, {1, 16}, {2, -1}}};
constexpr std::array<Weight, 6> one_sided_second = {{{0, 45}, {1, -154}, {2, 214}, {3, -156}, {4, 61}, {5, -10}}};

// Fourth-order differences: 12 delta^order times the derivative = sum of weights times f(t + at delta). One-sided ones
// may look back as well.
struct Differences {
  std::span<const Weight> central, one_sided;
  int order;

  // Of such a sum, that looks to a side: 1 or -1.
  double operator()(double sum, double side, double delta) const {
    return order == 1 ? side * sum / (12.0 * delta) : sum / (12.0 * delta * delta);
  }
};
constexpr Differences first_differences{central_first, one_sided_first, 1},
    second_differences{central_second, one_sided_second, 2};

double derivative(const Differences& of, const Expression& f, std::span<const double> X, double t, double delta) {
  if (!f.depends_on_time()) return 0.0;
  const auto difference = [&](std::span<const Weight> weights, double side) {
    double sum = 0.0;
    for (const Weight& w : weights) sum += w.weight * f(X, t + side * w.at * delta);
    return of(sum, side, delta);
  };
  if (t < 2.0 * delta) return difference(of.one_sided, 1.0);
  const double found = difference(of.central, 1.0);
  return std::isfinite(found) ? found : difference(of.one_sided, -1.0);
}

}  // namespace

double time_derivative(const Expression& f, std::span<const double> X, double t, double delta) {
  return derivative(first_differences, f, X, t, delta);
}

double second_time_derivative(const Expression& f, std::span<const double> X, double t, double delta) {
  return derivative(second_differences, f, X, t, delta);
}

void ExpressionAtPoints::derive(int order, Index block, double t, double delta, std::span<double> rates) const {
  const Differences& of = order == 1 ? first_differences : second_differences;
  std::array<double, at_once> value, sum;
  const std::size_t n = rates.size();
  const auto difference = [&](std::span<const Weight> weights, double side, auto&& wanted) {
    std::fill_n(sum.begin(), n, 0.0);
    for (const Weight& w : weights) {
      columns_->evaluate(block * at_once, t + side * w.at * delta, std::span(value).first(n));
      for (std::size_t i = 0; i < n; ++i) sum[i] += w.weight * value[i];
    }
    for (std::size_t i = 0; i < n; ++i)
      if (wanted(i)) rates[i] = of(sum[i], side, delta);
  };
  const auto all = [](std::size_t) { return true; };
  if (t < 2.0 * delta) return difference(of.one_sided, 1.0, all);
  difference(of.central, 1.0, all);
  if (!std::ranges::all_of(rates, [](double rate) { return std::isfinite(rate); }))
    difference(of.one_sided, -1.0, [&](std::size_t i) { return !std::isfinite(rates[i]); });
}

void ExpressionAtPoints::rates(Index block, double t, double delta, std::span<double> rates) const {
  derive(1, block, t, delta, rates);
}

void ExpressionAtPoints::second_rates(Index block, double t, double delta, std::span<double> rates) const {
  derive(2, block, t, delta, rates);
}

}  // namespace tempi
