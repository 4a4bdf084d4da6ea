// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/formula_columns.hpp"

#include <algorithm>
#include <cmath>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

struct Known {
  const char* name;
  double (*function)(double);
  VectorFunction in_packs;
};
constexpr std::array<Known, 6> known = {{{"sin", [](double x) { return std::sin(x); }, vector_sin},
                                         {"cos", [](double x) { return std::cos(x); }, vector_cos},
                                         {"tanh", [](double x) { return std::tanh(x); }, vector_tanh},
                                         {"exp", [](double x) { return std::exp(x); }, vector_exp},
                                         {"ln", [](double x) { return std::log(x); }, vector_log},
                                         {"sqrt", [](double x) { return std::sqrt(x); }, vector_sqrt}}};

VectorFunction in_packs(const mu::generic_callable_type& function) {
  for (const Known& of : known)
    if (function._pRawFun == reinterpret_cast<mu::erased_fun_type>(of.function)) return of.in_packs;
  return nullptr;
}

}  // namespace

void FormulaColumns::define_functions(mu::Parser& formula) {
  for (const Known& of : known) formula.DefineFun(of.name, of.function);
}

FormulaColumns::FormulaColumns(const mu::Parser& formula, const std::array<double, 3>& X, const double& t,
                               std::span<const double> points) {
  parse(formula, X, t);
  keep_columns(points);
}

void FormulaColumns::parse(const mu::Parser& formula, const std::array<double, 3>& X, const double& t) {
  const mu::ParserByteCode& postfix = formula.GetByteCode();
  std::vector<std::size_t> stack;
  const auto push = [&](Operation operation, std::size_t operands) {
    TEMPI_ASSERT(stack.size() >= operands);
    operation.operands.assign(stack.end() - static_cast<std::ptrdiff_t>(operands), stack.end());
    stack.resize(stack.size() - operands);
    for (const std::size_t of : operation.operands) operation.depends |= operations_[of].depends;
    stack.push_back(operations_.size());
    operations_.push_back(std::move(operation));
  };
  for (std::size_t i = 0; i < postfix.GetSize(); ++i) {
    const mu::SToken& token = postfix.GetBase()[i];
    Operation operation{token.Cmd};
    switch (token.Cmd) {
      case mu::cmEND:
      case mu::cmIF:  // condition, then and else lie side by side when it ends
      case mu::cmELSE: continue;
      case mu::cmENDIF: push(operation, 3); continue;
      case mu::cmVAL:
        operation.summand = token.Val.data2;
        push(operation, 0);
        continue;
      case mu::cmVAR:
      case mu::cmVARPOW2:
      case mu::cmVARPOW3:
      case mu::cmVARPOW4:
      case mu::cmVARMUL:
        operation.factor = token.Val.data;
        operation.summand = token.Val.data2;
        operation.variable = token.Val.ptr == &t ? time : static_cast<int>(token.Val.ptr - X.data());
        operation.depends = operation.variable == time ? on_time : on_place;
        push(operation, 0);
        continue;
      case mu::cmFUNC:
        operation.function = token.Fun.cb;
        operation.arguments = token.Fun.argc;
        operation.in_packs = in_packs(operation.function);
        push(operation, static_cast<std::size_t>(std::abs(token.Fun.argc)));
        continue;
      default:
        TEMPI_ASSERT(token.Cmd <= mu::cmLOR);  // operators of two; assignments are refused
        push(operation, 2);
    }
  }
  TEMPI_ASSERT(stack.size() == 1);
}

// to[i] = f(operands at i); loops that know what is one number for all.
template <class F>
void FormulaColumns::pairwise(std::span<const Column> operands, std::size_t n, double* to, F&& f) {
  const Column a = operands[0], b = operands[1];
  if (a.stride == 0)
    for (std::size_t i = 0; i < n; ++i) to[i] = f(a.at[0], b[i]);
  else if (b.stride == 0)
    for (std::size_t i = 0; i < n; ++i) to[i] = f(a.at[i], b.at[0]);
  else
    for (std::size_t i = 0; i < n; ++i) to[i] = f(a.at[i], b.at[i]);
}

void FormulaColumns::apply(const Operation& operation, std::span<const Column> of, std::size_t n, double* to) {
  const auto variable = [&](auto&& f) {
    for (std::size_t i = 0; i < n; ++i) to[i] = f(of[0][i]);
  };
  switch (operation.code) {
    case mu::cmVAL: std::fill_n(to, n, operation.summand); return;
    case mu::cmVAR: return variable([](double x) { return x; });
    case mu::cmVARPOW2: return variable([](double x) { return x * x; });
    case mu::cmVARPOW3: return variable([](double x) { return x * x * x; });
    case mu::cmVARPOW4: return variable([](double x) { return x * x * x * x; });
    case mu::cmVARMUL: return variable([&](double x) { return x * operation.factor + operation.summand; });
    case mu::cmLE: return pairwise(of, n, to, [](double a, double b) { return a <= b ? 1.0 : 0.0; });
    case mu::cmGE: return pairwise(of, n, to, [](double a, double b) { return a >= b ? 1.0 : 0.0; });
    case mu::cmNEQ: return pairwise(of, n, to, [](double a, double b) { return a != b ? 1.0 : 0.0; });
    case mu::cmEQ: return pairwise(of, n, to, [](double a, double b) { return a == b ? 1.0 : 0.0; });
    case mu::cmLT: return pairwise(of, n, to, [](double a, double b) { return a < b ? 1.0 : 0.0; });
    case mu::cmGT: return pairwise(of, n, to, [](double a, double b) { return a > b ? 1.0 : 0.0; });
    case mu::cmADD: return pairwise(of, n, to, [](double a, double b) { return a + b; });
    case mu::cmSUB: return pairwise(of, n, to, [](double a, double b) { return a - b; });
    case mu::cmMUL: return pairwise(of, n, to, [](double a, double b) { return a * b; });
    case mu::cmDIV: return pairwise(of, n, to, [](double a, double b) { return a / b; });
    case mu::cmPOW: return pairwise(of, n, to, [](double a, double b) { return std::pow(a, b); });
    case mu::cmLAND: return pairwise(of, n, to, [](double a, double b) { return a != 0.0 && b != 0.0 ? 1.0 : 0.0; });
    case mu::cmLOR: return pairwise(of, n, to, [](double a, double b) { return a != 0.0 || b != 0.0 ? 1.0 : 0.0; });
    case mu::cmENDIF:
      for (std::size_t i = 0; i < n; ++i) to[i] = of[0][i] != 0.0 ? of[1][i] : of[2][i];
      return;
    default: break;
  }
  const mu::generic_callable_type& function = operation.function;
  if (operation.arguments == 1) return variable([&](double x) { return function.call_fun<1>(x); });
  if (operation.arguments == 2)
    return pairwise(of, n, to, [&](double a, double b) { return function.call_fun<2>(a, b); });
  TEMPI_ASSERT(operation.arguments < 0);
  thread_local std::vector<double> arguments;
  arguments.resize(of.size());
  for (std::size_t i = 0; i < n; ++i) {
    std::ranges::transform(of, arguments.begin(), [&](const Column& column) { return column[i]; });
    to[i] = function.call_multfun(arguments.data(), static_cast<int>(arguments.size()));
  }
}

// Where it can be: n up to at_once, and room for whole packs behind the operands that are columns of a pass, and in
// `to`.
bool FormulaColumns::apply_in_packs(const Operation& operation, std::span<const Column> of, std::size_t n, double* to) {
  const std::size_t whole = (n + 7) / 8 * 8;
  if (operation.in_packs != nullptr) {
    operation.in_packs(of[0].at, whole, to);
    return true;
  }
  if (operation.code != mu::cmPOW) return false;
  if (of[1].stride == 0 && of[1].at[0] == 2.0) {
    for (std::size_t i = 0; i < n; ++i) to[i] = of[0][i] * of[0][i];
    return true;
  }
  std::array<double, at_once> base, exponent;
  base.fill(1.0);
  exponent.fill(1.0);
  for (std::size_t i = 0; i < n; ++i) {
    base[i] = of[0][i];
    exponent[i] = of[1][i];
  }
  vector_pow(base.data(), exponent.data(), whole, to);
  return true;
}

// Numbers every operation's place, and finds what depends on the place alone.
void FormulaColumns::keep_columns(std::span<const double> points) {
  std::vector<bool> looked_at(operations_.size());  // by what is no column to be kept
  for (const Operation& operation : operations_)
    for (const std::size_t of : operation.operands)
      if (operation.depends != on_place) looked_at[of] = true;
  looked_at.back() = true;
  const std::size_t count = points.size() / 3;
  std::vector<std::vector<double>> columns(operations_.size());
  std::vector<Column> operands;
  for (std::size_t k = 0; k < operations_.size(); ++k) {
    Operation& operation = operations_[k];
    if (operation.depends != on_place) {
      std::vector<std::size_t>& all = operation.depends == on_both ? of_both_ : of_time_;
      operation.at = all.size();
      all.push_back(k);
    }
    if ((operation.depends & on_time) != 0) continue;
    operands.clear();
    if (operation.depends == on_place && operation.operands.empty())
      operands.push_back({points.data() + operation.variable, 3});
    for (const std::size_t of : operation.operands)
      operands.push_back({columns[of].data(), operations_[of].depends == on_place ? 1u : 0u});
    columns[k].resize(operation.depends == on_place ? count : 1);
    apply(operation, operands, columns[k].size(), columns[k].data());
    for (const std::size_t of : operation.operands)  // nobody else looks at it
      if (operation.depends == on_place) columns[of] = {};
  }
  for (std::size_t k = 0; k < operations_.size(); ++k)
    if (operations_[k].depends == on_place && looked_at[k]) {
      operations_[k].at = kept_.size();
      kept_.push_back(std::move(columns[k]));
    }
}

void FormulaColumns::evaluate(Index first, double t, std::span<double> values) const {
  thread_local std::vector<double> numbers, passing;
  thread_local std::vector<Column> operands;
  numbers.resize(of_time_.size());
  passing.resize(of_both_.size() * at_once);
  const auto column = [&](std::size_t k, Index begin) -> Column {
    const Operation& operation = operations_[k];
    if (operation.depends == on_both) return {&passing[operation.at * at_once], 1};
    if (operation.depends == on_place) return {&kept_[operation.at][static_cast<std::size_t>(begin)], 1};
    return {&numbers[operation.at], 0};
  };
  const auto compute = [&](std::size_t k, Index begin, std::size_t n, double* to) {
    operands.clear();
    if (operations_[k].depends == on_time && operations_[k].operands.empty()) operands.push_back({&t, 0});
    for (const std::size_t of : operations_[k].operands) operands.push_back(column(of, begin));
    if (operations_[k].depends != on_both || !apply_in_packs(operations_[k], operands, n, to))
      apply(operations_[k], operands, n, to);
  };
  for (const std::size_t k : of_time_) compute(k, 0, 1, &numbers[operations_[k].at]);
  const Index last = first + std::ssize(values);
  for (Index begin = first; begin < last; begin += at_once) {
    const auto n = static_cast<std::size_t>(std::min(at_once, last - begin));
    double* to = &values[static_cast<std::size_t>(begin - first)];
    for (const std::size_t k : of_both_) compute(k, begin, n, &passing[operations_[k].at * at_once]);
    const Column found = column(operations_.size() - 1, begin);
    for (std::size_t i = 0; i < n; ++i) to[i] = found[i];
  }
}

}  // namespace tempi
