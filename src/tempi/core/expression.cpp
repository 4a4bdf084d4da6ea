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

Expression Expression::copy() const {
  if (constant_) {
    Expression same(*constant_);
    same.text_ = text_;
    return same;
  }
  Expression same(0.0);
  same.constant_.reset();
  same.parser_ = std::make_unique<Parser>();
  same.parser_->formula = parser_->formula;
  for (const auto& [name, at] : parser_->formula.GetVar())
    same.parser_->formula.DefineVar(name, at == &parser_->t ? &same.parser_->t
                                                            : same.parser_->X.data() + (at - parser_->X.data()));
  same.depends_on_time_ = depends_on_time_;
  same.depends_on_position_ = depends_on_position_;
  same.text_ = text_;
  return same;
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

double finite_value(const Expression& f, std::span<const double> X, double t, std::string_view what) {
  const double value = f(X, t);
  if (!std::isfinite(value))
    throw SolveError(fmt::format("the {} \"{}\" is {} at X = ({:.6g}), t = {:.6g} s. Correct the expression.", what,
                                 f.text(), value, fmt::join(X, ", "), t));
  return value;
}

// A formula of its own for some of the points.
struct ExpressionAtPoints::Block {
  Expression formula;
  std::size_t first, last;
};

ExpressionAtPoints::ExpressionAtPoints(const Expression& f, std::vector<double> points, std::string what)
    : points_(std::move(points)), what_(std::move(what)), one_for_all_(!f.depends_on_position()) {
  constexpr std::size_t at_once = 512;
  const std::size_t count = one_for_all_ ? 1 : points_.size() / 3;
  values_.resize(count);
  for (std::size_t first = 0; first < count; first += at_once)
    blocks_.push_back({f.copy(), first, std::min(first + at_once, count)});
  if (f.depends_on_time()) return;
  for (Index block = 0; block < blocks(); ++block) evaluate(block, 0.0);
  blocks_.clear();
}

ExpressionAtPoints::~ExpressionAtPoints() = default;
ExpressionAtPoints::ExpressionAtPoints(ExpressionAtPoints&&) noexcept = default;

Index ExpressionAtPoints::blocks() const { return std::ssize(blocks_); }

void ExpressionAtPoints::evaluate(Index block, double t) {
  const Block& b = blocks_[static_cast<std::size_t>(block)];
  for (std::size_t i = b.first; i < b.last; ++i)
    values_[i] = finite_value(b.formula, std::span(points_).subspan(3 * i, 3), t, what_);
}

double time_derivative(const Expression& f, std::span<const double> X, double t, double delta) {
  if (!f.depends_on_time()) return 0.0;
  const auto at = [&](double k) { return f(X, t + k * delta); };
  const auto one_sided = [&](double side) {
    return side * (-25.0 * at(0) + 48.0 * at(side) - 36.0 * at(2 * side) + 16.0 * at(3 * side) - 3.0 * at(4 * side)) /
           (12.0 * delta);
  };
  if (t < 2.0 * delta) return one_sided(1.0);
  const double central = (at(-2) - 8.0 * at(-1) + 8.0 * at(1) - at(2)) / (12.0 * delta);
  return std::isfinite(central) ? central : one_sided(-1.0);
}

double second_time_derivative(const Expression& f, std::span<const double> X, double t, double delta) {
  if (!f.depends_on_time()) return 0.0;
  const auto at = [&](double k) { return f(X, t + k * delta); };
  const auto one_sided = [&](double side) {
    return (45.0 * at(0) - 154.0 * at(side) + 214.0 * at(2 * side) - 156.0 * at(3 * side) + 61.0 * at(4 * side) -
            10.0 * at(5 * side)) /
           (12.0 * delta * delta);
  };
  if (t < 2.0 * delta) return one_sided(1.0);
  const double central = (-at(-2) + 16.0 * at(-1) - 30.0 * at(0) + 16.0 * at(1) - at(2)) / (12.0 * delta * delta);
  return std::isfinite(central) ? central : one_sided(-1.0);
}

}  // namespace tempi
