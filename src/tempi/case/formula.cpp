// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/formula.hpp"

#include <fmt/format.h>

namespace tempi {

Expression expression_of(const FormulaText& text, const Constants& constants) {
  if (const double* value = std::get_if<double>(&text.value)) return Expression(*value);
  return at_place(text.place, [&] { return Expression(std::get<std::string>(text.value), constants); });
}

VectorExpression vector_of(const std::vector<FormulaText>& texts, const Constants& constants, int dim,
                           std::string_view what) {
  if (static_cast<int>(texts.size()) != dim)
    throw InputError(fmt::format("{} has {} component{} (there {} {} dimension{}). Give one for each.", what,
                                 texts.size(), texts.size() == 1 ? "" : "s", dim == 1 ? "is" : "are", dim,
                                 dim == 1 ? "" : "s"));
  std::vector<Expression> components;
  for (const FormulaText& text : texts) components.push_back(expression_of(text, constants));
  return VectorExpression(std::move(components));
}

}  // namespace tempi
