// SPDX-License-Identifier: Apache-2.0
// Case files drawn at random from all that one can put together.
#pragma once

#include <cstdint>
#include <string>

#include "support/cases.hpp"

namespace tempi::test {

enum class DrawnMethods { that_strike, any, with_contact };

// The case of this seed; its mesh is in the folder. `finer`: such a part of the steps drawn. `reference`: by Newmark's
// method, or rattle where constraints are kept, instead of the one drawn.
std::string draw_case(const CaseFolder& folder, DrawnMethods methods, std::uint64_t seed, double finer = 1.0,
                      bool reference = false);

}  // namespace tempi::test
