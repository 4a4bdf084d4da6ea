// SPDX-License-Identifier: Apache-2.0
// Where the model of a case starts: [initial], or what its particles bring.
#pragma once

#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/model/state.hpp"

namespace tempi {

// `velocities` [m/s]: dim components a node, or none. Throws PlacedError: a formula of the wrong size, of time or that
// is no number, two sources of velocities, a start that disagrees with a support or in which a term is not admissible.
State choose_initial_state(const CaseFile& in, const Mesh& mesh, const Model& model,
                           const std::vector<double>& velocities);

}  // namespace tempi
