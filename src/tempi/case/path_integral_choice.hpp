// SPDX-License-Identifier: Apache-2.0
// What the [[path_integral]] sections of the case file mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tempi/case/body.hpp"
#include "tempi/case/case_file.hpp"
#include "tempi/element/path_integral.hpp"

namespace tempi {

// Throws PlacedError unless the body is of solid elements: `what` belongs to these.
void require_solids(const Body& body, const Place& place, std::string_view what);

// Adds to `warnings` where rings reach another material. Throws PlacedError: a body of something else, a name that is
// taken, neither or both of point and group, a point without a node, and what PathIntegral refuses.
std::vector<PathIntegral> choose_path_integrals(const std::vector<PathIntegralInput>& in, const Body& body,
                                                const Constants& constants, std::vector<std::string>& warnings);

}  // namespace tempi
