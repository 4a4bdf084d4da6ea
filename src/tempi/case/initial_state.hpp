// SPDX-License-Identifier: Apache-2.0
// Where the model of a case starts: [initial], or what its particles bring.
#pragma once

#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/model/state.hpp"

namespace tempi {

// Of every node, dim components [m/s]; `velocities`: of the particles. Throws as choose_initial_state.
std::vector<double> initial_velocities(const CaseFile& in, const Mesh& mesh, Index first_particle,
                                       const std::vector<double>& velocities);

// `velocities` [m/s]: of the nodes from `first_particle` on, dim components each, or none. Formulas are of all nodes,
// or where particles are beside a mesh of the nodes before them. Throws PlacedError: a formula of the wrong size, of
// time or that is no number, two sources of velocities, a start that disagrees with a support or in which a term is not
// admissible.
State choose_initial_state(const CaseFile& in, const Mesh& mesh, const Model& model, Index first_particle,
                           const std::vector<double>& velocities);

}  // namespace tempi
