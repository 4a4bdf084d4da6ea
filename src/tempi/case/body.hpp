// SPDX-License-Identifier: Apache-2.0
// What a case is made of, before anything moves: cells of a mesh, or particles.
#pragma once

#include <memory>
#include <vector>

#include "tempi/element/elastic_cells.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/space/box.hpp"

namespace tempi {

struct Body {
  std::unique_ptr<Mesh> mesh;              // of particles: a point each, then lines for bonds
  std::vector<const ElasticCells*> cells;  // the model's first potentials, in order
  Box box;
  std::vector<Index> particle_terms;  // of each cell of a mesh of particles, or -1
  bool in_field = false;              // wells or uniform fields hold the model, so its momenta are not kept

  std::vector<Index> term_of_cell() const;  // -1: none
  CellType type_of(const ElasticCells& potential) const;
};

}  // namespace tempi
