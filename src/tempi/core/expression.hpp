// SPDX-License-Identifier: Apache-2.0
// Formulas of X, Y, Z [m, reference position] and t [s], as users write them in a case file.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

// Named numbers a formula may use, beside `pi`.
using Constants = std::map<std::string, double>;

// One formula, parsed and evaluated by muParser. Not for use by two threads at a time.
// Operators + - * / ^ < <= > >= == != && || ?: and the functions sin cos tan asin acos atan atan2 sinh cosh tanh
// exp ln log10 log2 sqrt abs min max sign rint sum avg. `ln` is the natural logarithm.
class Expression {
 public:
  explicit Expression(double value);
  // Of X, Y, Z and t. Throws InputError with the text, the place in it and the known names.
  Expression(const std::string& text, const Constants& constants);
  // Of one variable, such as r: the first component of what it is evaluated at.
  static Expression of(const std::string& variable, const std::string& text, const Constants& constants);
  ~Expression();
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;

  // Value at reference position `X` (1, 2 or 3 components) and time t. May be NaN or infinite: the caller knows
  // what it means and names the place.
  double operator()(std::span<const double> X, double t) const;

  std::optional<double> constant() const { return constant_; }  // set when neither position nor time matters
  bool depends_on_time() const { return depends_on_time_; }
  bool depends_on_position() const { return depends_on_position_; }
  const std::string& text() const { return text_; }

 private:
  friend class ExpressionAtPoints;
  struct Parser;
  Expression(const std::string& text, const Constants& constants, std::span<const std::string> coordinates,
             bool with_time);

  std::unique_ptr<Parser> parser_;
  std::optional<double> constant_;
  bool depends_on_time_ = false, depends_on_position_ = false;
  std::string text_;
};

// f(X, t), a number. Throws SolveError where it is not: `what` it is, its text, X and t.
double finite_value(const Expression& f, std::span<const double> X, double t, std::string_view what);

class FormulaColumns;

// A formula at points that stay, as often as time goes on: looked at once. One that does not depend on the position has
// one value for all points, one that does not depend on time is evaluated once, and of one of both what depends on one
// of them only (formula_columns.hpp, which says when the last places differ). Points in blocks, which threads may
// share. (muParser's bulk mode evaluates everything at every point, and would start OpenMP threads of its own, however
// many the caller wants.)
class ExpressionAtPoints {
 public:
  // `points`: three components each. What `f` is, for messages.
  ExpressionAtPoints(const Expression& f, std::vector<double> points, std::string what);
  ~ExpressionAtPoints();
  ExpressionAtPoints(ExpressionAtPoints&&) noexcept;

  Index blocks() const { return blocks_; }  // that have to be evaluated as time goes on; 0: of a formula without time
  void evaluate(Index block, double t);     // throws SolveError as finite_value
  const double& operator[](std::size_t point) const { return values_[one_for_all_ ? 0 : point]; }  // stays there
  std::size_t size() const { return values_.size(); }                                              // points, or 1
  std::span<const double> points() const { return points_; }

  // time_derivative and second_time_derivative at a block's points.
  void rates(Index block, double t, double delta, std::span<double> rates) const;
  void second_rates(Index block, double t, double delta, std::span<double> rates) const;
  // What `all`, with a number for each value there is, has of a block.
  std::span<double> of_block(std::vector<double>& all, Index block) const;

 private:
  static constexpr Index at_once = 512;

  void derive(int order, Index block, double t, double delta, std::span<double> rates) const;

  std::vector<double> points_, values_;
  std::unique_ptr<FormulaColumns> columns_;  // of formulas with time
  Index blocks_ = 0;
  std::string text_, what_;
  bool one_for_all_ = false;
};

// A vector of formulas, one per space dimension.
class VectorExpression {
 public:
  explicit VectorExpression(std::vector<Expression> components) : components_(std::move(components)) {}

  int size() const { return static_cast<int>(components_.size()); }
  const Expression& operator[](int i) const { return components_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<Expression> components_;
};

// First and second time derivative of a formula by fourth-order differences of spacing `delta` [s], one-sided
// near t = 0, and where the formula does not exist beyond t. Error O((omega delta)^4) plus rounding.
double time_derivative(const Expression& f, std::span<const double> X, double t, double delta);
double second_time_derivative(const Expression& f, std::span<const double> X, double t, double delta);

}  // namespace tempi
