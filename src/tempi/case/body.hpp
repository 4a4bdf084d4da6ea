// SPDX-License-Identifier: Apache-2.0
// What a case is made of, before anything moves: cells of a mesh, or particles.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tempi/element/elastic_cells.hpp"
#include "tempi/element/shell.hpp"
#include "tempi/integrator/stepping/stepping_energy.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/space/box.hpp"

namespace tempi {

struct Body {
  std::unique_ptr<Mesh> mesh;                // cells, then a point for each particle, then lines for their bonds
  std::unique_ptr<Mesh> elastic;             // the cells alone, where there are both
  std::vector<const ElasticCells*> cells;    // the model's first potentials, in order
  std::vector<const ShellBending*> bending;  // the next ones
  Box box;
  std::vector<Index> particle_terms;                  // of each point and line of particles, or -1
  Index first_particle = 0;                           // node; without particles how many there are
  std::vector<std::pair<std::string, Index>> forces;  // of each potential chosen by the case: its type, its terms
  std::vector<HardWall> walls;                        // that nobody goes beyond
  bool in_field = false;  // wells or uniform fields hold the model, so its momenta are not kept

  std::vector<Index> term_of_cell() const;  // -1: none
  CellType type_of(const ElasticCells& potential) const;
};

}  // namespace tempi
