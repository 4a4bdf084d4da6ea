// SPDX-License-Identifier: Apache-2.0
// What the [[material]] sections of the case file mean: elastic cells, membranes of shells among them.
#pragma once

#include <memory>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/element/elastic_cells.hpp"
#include "tempi/material/material.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {

// Throws InputError: elastic constants that are not two of a kind or out of range, a model that is not known.
Material material_of(const MaterialInput& in);

// All cells of the mesh, by material, element type and shape. Throws PlacedError: a cell with two materials or none,
// constants out of range, a group that is not there.
std::vector<std::unique_ptr<ElasticCells>> choose_materials(const CaseFile& in, const Mesh& mesh);

}  // namespace tempi
