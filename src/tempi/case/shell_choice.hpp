// SPDX-License-Identifier: Apache-2.0
// What makes shells of the case file's triangles: which they are, and what bends.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/element/shell.hpp"
#include "tempi/io/shell_facets.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {

// The triangles that the [[material]] sections make shells.
ShellGroups shells_of(const CaseFile& in);

// Hinges between all neighbours, and a potential of the edges that [[fix]] sections clamp; none without
// shells. Throws PlacedError: edges of three triangles and more, clamped nodes without an outer edge of a shell.
std::vector<std::unique_ptr<ShellBending>> choose_bending(const CaseFile& in, const Mesh& mesh,
                                                          std::span<const ElasticCells* const> cells);

}  // namespace tempi
