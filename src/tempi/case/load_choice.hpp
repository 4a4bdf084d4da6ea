// SPDX-License-Identifier: Apache-2.0
// What a [[load]] of the case file means: forces, hosted by cells or by particles.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/element/elastic_cells.hpp"
#include "tempi/force/force.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {

struct LoadedBody {
  const Mesh& mesh;
  const Mesh* elastic;  // its cells, without particles; null: there are none
  const std::vector<const ElasticCells*>& cells;
  std::span<const double> masses;  // [kg], one a node
  Index first_particle;            // node, or how many there are; particles carry their loads themselves
  const Constants& constants;
  double end_time;  // [s]
};

// Every formula has been evaluated at the start, the middle and the end of the run. Throws PlacedError: a load that
// belongs to meshes, a value of the wrong size or that is no number, nothing to act on.
std::vector<std::unique_ptr<Force>> choose_load(const LoadInput& load, const LoadedBody& body);

}  // namespace tempi
