// SPDX-License-Identifier: Apache-2.0
// Formulas of X, Y, Z [m, reference position] and t [s], as users write them in a case file.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tempi {

// Named numbers a formula may use, beside `pi`.
using Constants = std::map<std::string, double>;

// One formula, parsed by muParser once and evaluated often. Not for use by two threads at a time.
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
  const std::string& text() const { return text_; }

 private:
  struct Parser;
  Expression(const std::string& text, const Constants& constants, std::span<const std::string> coordinates,
             bool with_time);

  std::unique_ptr<Parser> parser_;
  std::optional<double> constant_;
  bool depends_on_time_ = false;
  std::string text_;
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
