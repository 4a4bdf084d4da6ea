// SPDX-License-Identifier: Apache-2.0
// What the [[fix]] sections of the case file mean.
#pragma once

#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/constraint/supports.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {

// Throws PlacedError: no group, a component that does not exist or is given twice, a displacement without a component,
// two supports of one name, a component held by two.
Supports choose_supports(const std::vector<FixInput>& fixes, const Mesh& mesh, const Constants& constants);

}  // namespace tempi
