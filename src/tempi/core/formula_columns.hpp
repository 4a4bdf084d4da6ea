// SPDX-License-Identifier: Apache-2.0
// A formula as muParser has parsed it, evaluated operation by operation, each for many points side by side: what
// depends on the time alone is found once, what depends on the place alone once and for all. To the bits of muParser's
// own evaluation at each of the points, but for sin, cos, tanh, exp, ln, sqrt and powers of what depends on both: those
// are evaluated in packs, within 4 units in the last place (vector_functions.hpp).
#pragma once

#include <muParser.h>

#include <array>
#include <span>
#include <vector>

#include "tempi/core/ids.hpp"
#include "tempi/core/vector_functions.hpp"

namespace tempi {

class FormulaColumns {
 public:
  // Before the formula is set: under muParser's names functions that are known here.
  static void define_functions(mu::Parser& formula);

  // `X`, `t`: where the variables of the formula are, which has been evaluated once and need not outlive this.
  // `points`: three components each.
  FormulaColumns(const mu::Parser& formula, const std::array<double, 3>& X, const double& t,
                 std::span<const double> points);

  // Values at so many points from `first` on. Threads may evaluate at the same time.
  void evaluate(Index first, double t, std::span<double> values) const;

 private:
  enum Dependence : unsigned { on_nothing = 0, on_time = 1, on_place = 2, on_both = 3 };
  struct Operation {
    mu::ECmdCode code;
    unsigned depends = on_nothing;
    int variable = 0;  // of those that begin with one: a component of the place, or `time`
    double factor = 0.0, summand = 0.0;
    mu::generic_callable_type function{};
    VectorFunction in_packs = nullptr;
    int arguments = 0;                    // as muParser counts them: minus their number where it is free
    std::vector<std::size_t> operands{};  // earlier operations
    std::size_t at = 0;                   // its value's place among the numbers, the kept columns or those of a pass
  };
  static constexpr int time = 3;
  static constexpr Index at_once = 128;  // points: a pass's columns stay in the nearest cache
  struct Column {
    const double* at;
    std::size_t stride;  // 0: one number for all points
    double operator[](std::size_t i) const { return at[i * stride]; }
  };

  void parse(const mu::Parser& formula, const std::array<double, 3>& X, const double& t);
  void keep_columns(std::span<const double> points);
  static void apply(const Operation& operation, std::span<const Column> operands, std::size_t n, double* to);
  static bool apply_in_packs(const Operation& operation, std::span<const Column> operands, std::size_t n, double* to);
  template <class F>
  static void pairwise(std::span<const Column> operands, std::size_t n, double* to, F&& f);

  std::vector<Operation> operations_;           // postfix: the last is the formula
  std::vector<std::size_t> of_time_, of_both_;  // operations, in their order
  std::vector<std::vector<double>> kept_;       // of the place alone, as far as others look at them; by point
};

}  // namespace tempi
