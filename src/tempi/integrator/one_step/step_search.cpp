// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/step_search.hpp"

#include <fmt/format.h>

#include "tempi/core/error.hpp"

namespace tempi {

void check(const StepBounds& bounds) {
  if (!(bounds.least > 0.0) || !(bounds.least <= 1.0))
    throw InputError(fmt::format("least step = {} times the nominal one (must be > 0 and <= 1).", bounds.least));
  if (!(bounds.largest >= 1.0) || !std::isfinite(bounds.largest))
    throw InputError(
        fmt::format("largest step = {} times the nominal one (must be >= 1, and finite).", bounds.largest));
}

}  // namespace tempi
