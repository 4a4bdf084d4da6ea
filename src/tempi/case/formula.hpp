// SPDX-License-Identifier: Apache-2.0
// Formulas of the case file, made ready to be evaluated.
#pragma once

#include <string_view>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/core/expression.hpp"

namespace tempi {

// Throws PlacedError: not a formula.
Expression expression_of(const FormulaText& text, const Constants& constants);

// Of `dim` components. Throws InputError: more or fewer; `what`: what to call it.
VectorExpression vector_of(const std::vector<FormulaText>& texts, const Constants& constants, int dim,
                           std::string_view what);

}  // namespace tempi
