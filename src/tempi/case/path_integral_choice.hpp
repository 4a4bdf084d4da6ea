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
void require_solids(const Body& body, const Place& place, std::string_view what,
                    std::string_view advice = "Leave it out.");

// Adds to `warnings` where regions reach another material, and where M is of a law it is not made for. Throws
// PlacedError: a body of something else, a name that is taken, neither or both of point and group, a point without a
// node, keys of another kind, M in motion or through another material, contours that are no facets, and what
// PathIntegral refuses.
std::vector<PathIntegral> choose_path_integrals(const std::vector<PathIntegralInput>& in, const Body& body,
                                                const Constants& constants, bool at_rest,
                                                std::vector<std::string>& warnings);

}  // namespace tempi
