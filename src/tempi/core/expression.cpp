// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
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

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// visit(first, last) of each name in text[from, to), numbers such as 1e-3 left out, until it returns true.
template <class Visit>
void each_name(const std::string& text, std::size_t from, std::size_t to, Visit&& visit) {
  for (std::size_t i = from; i < to;) {
    const std::size_t first = i;
    while (i < to && is_of_name(text[i])) ++i;
    if (i == first)
      ++i;
    else if (std::isdigit(static_cast<unsigned char>(text[first])) == 0 && visit(first, i))
      return;
  }
}

// The first call of a function from text[from] on whose arguments are of time alone: [first, last), or nothing.
std::optional<std::pair<std::size_t, std::size_t>> call_of_time(const std::string& text, std::size_t from,
                                                                std::span<const std::string> coordinates) {
  std::optional<std::pair<std::size_t, std::size_t>> found;
  each_name(text, from, text.size(), [&](std::size_t first, std::size_t i) {
    if (i == text.size() || text[i] != '(') return false;
    const std::size_t open = i;
    int depth = 0;
    do {
      if (text[i] == '(') ++depth;
      if (text[i] == ')') --depth;
      ++i;
    } while (depth > 0 && i < text.size());
    bool of_time = false, of_place = false;
    each_name(text, open, i, [&](std::size_t a, std::size_t b) {
      const std::string name = text.substr(a, b - a);
      of_time = of_time || name == "t";
      of_place = of_place || std::ranges::find(coordinates, name) != coordinates.end();
      return of_place;
    });
    if (of_time && !of_place) found = {first, i};
    return found.has_value();
  });
  return found;
}

}  // namespace

// What a formula calls with time alone, such as sin(omega*t), once for each of the last few times, not for every point.
struct OfTime {
  mu::Parser formula;
  std::array<double, 8> times, values;
  std::size_t oldest = 0;
  double value = 0.0;  // what the whole formula reads

  void look(double t) {
    for (std::size_t i = 0; i < times.size(); ++i)
      if (times[i] == t) {
        value = values[i];
        return;
      }
    value = values[oldest] = formula.Eval();
    times[oldest] = t;
    oldest = (oldest + 1) % times.size();
  }
};

struct Expression::Parser {
  mu::Parser formula;
  std::array<double, 3> X{};
  double t = 0.0;
  std::vector<std::unique_ptr<OfTime>> of_time{};

  void set_time(double now) {
    t = now;
    for (const auto& part : of_time) part->look(t);
  }

  // In a formula of places and time.
  void take_out_time(std::string text, std::span<const std::string> coordinates) {
    for (std::size_t from = 0;;) {
      const auto call = call_of_time(text, from, coordinates);
      if (!call) break;
      const std::string name = fmt::format("tempi_of_time_{}", of_time.size());
      auto part = std::make_unique<OfTime>();
      part->times.fill(std::numeric_limits<double>::quiet_NaN());
      part->formula = formula;
      part->formula.SetExpr(text.substr(call->first, call->second - call->first));
      formula.DefineVar(name, &part->value);
      of_time.push_back(std::move(part));
      text.replace(call->first, call->second - call->first, name);
      from = call->first + name.size();
    }
    formula.SetExpr(text);
  }
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
    if (depends_on_time_ && depends_on_position_) parser_->take_out_time(text, coordinates);
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
  std::vector<std::string> coordinates;
  for (const auto& [name, at] : parser_->formula.GetVar()) {
    const bool is_place = at >= parser_->X.data() && at < parser_->X.data() + parser_->X.size();
    if (is_place) coordinates.push_back(name);
    if (is_place || at == &parser_->t)
      same.parser_->formula.DefineVar(name,
                                      is_place ? same.parser_->X.data() + (at - parser_->X.data()) : &same.parser_->t);
  }
  same.parser_->formula.SetExpr(text_);
  if (depends_on_time_ && depends_on_position_) same.parser_->take_out_time(text_, coordinates);
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
  parser_->set_time(t);
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
  Index first, last;
};

ExpressionAtPoints::ExpressionAtPoints(const Expression& f, std::vector<double> points, std::string what)
    : points_(std::move(points)), what_(std::move(what)), one_for_all_(!f.depends_on_position()) {
  constexpr Index at_once = 512;
  const Index count = one_for_all_ ? 1 : std::ssize(points_) / 3;
  values_.resize(static_cast<std::size_t>(count));
  for (Index first = 0; first < count; first += at_once)
    blocks_.push_back({f.copy(), first, std::min(first + at_once, count)});
  if (f.depends_on_time()) return;
  for (Index block = 0; block < blocks(); ++block) evaluate(block, 0.0);
  blocks_.clear();
}

ExpressionAtPoints::~ExpressionAtPoints() = default;
ExpressionAtPoints::ExpressionAtPoints(ExpressionAtPoints&&) noexcept = default;

Index ExpressionAtPoints::blocks() const { return std::ssize(blocks_); }

void ExpressionAtPoints::evaluate(Index block, double t) {
  const auto& [formula, first, last] = blocks_[static_cast<std::size_t>(block)];
  if (formula.constant_) {
    std::fill(values_.begin() + first, values_.begin() + last, *formula.constant_);
    return;
  }
  Expression::Parser& parser = *formula.parser_;
  parser.set_time(t);
  bool finite = true;
  for (Index i = first; i < last; ++i) {
    const auto at = static_cast<std::size_t>(i);
    std::copy_n(&points_[3 * at], 3, parser.X.begin());
    values_[at] = parser.formula.Eval();
    finite = finite && std::isfinite(values_[at]);
  }
  for (Index i = first; i < last && !finite; ++i)
    finite_value(formula, std::span(points_).subspan(3 * static_cast<std::size_t>(i), 3), t, what_);  // says which
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
