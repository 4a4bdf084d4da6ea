// SPDX-License-Identifier: Apache-2.0
// What a [[load]] of the case file means: forces, and the terms of cells or of particles they act within.
#pragma once

#include <span>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/case/force_hosts.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {

struct LoadedBody {
  const Mesh& mesh;
  const Mesh* elastic;  // its cells, without particles; null: there are none
  const std::vector<const ElasticCells*>& cells;
  std::span<const double> masses;  // [kg], one a node
  Index first_particle;            // node, or how many there are
  const Constants& constants;
  double end_time;                      // [s]
  std::span<const Index> term_of_cell;  // of the model
  const NodeTerms& hosts;               // of what acts on particles
};

// Every formula has been evaluated at the start, the middle and the end of the run. Throws PlacedError: a load that
// belongs to meshes, a value of the wrong size or that is no number, nothing to act on.
std::vector<ChosenForce> choose_load(const LoadInput& load, const LoadedBody& body);

}  // namespace tempi
