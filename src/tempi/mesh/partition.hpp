// SPDX-License-Identifier: Apache-2.0
// A mesh cut into parts of about as many cells each, with few faces between them: by METIS (Karypis, Kumar 1998).
#pragma once

#include <cstdint>
#include <vector>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

// The part, from 0, of each cell; no part is empty. The same mesh gives the same parts. Throws InputError: fewer than
// one part, more parts than cells, or than METIS can fill.
std::vector<std::int32_t> partition(const Mesh& mesh, int parts);

}  // namespace tempi
