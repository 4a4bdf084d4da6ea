// SPDX-License-Identifier: Apache-2.0
// One of the measures an integrator tells, by its name.
#pragma once

#include <stdexcept>
#include <string_view>

#include "tempi/integrator/integrator.hpp"

namespace tempi::test {

inline double measure(const Integrator& integrator, std::string_view name) {
  for (const auto& [key, value] : integrator.measures())
    if (key == name) return value;
  throw std::logic_error("no such measure");
}

}  // namespace tempi::test
