// SPDX-License-Identifier: Apache-2.0
// What [[wall]] of the case file means: which shape, which nodes, how it moves.
#pragma once

#include <array>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/case/contact_choice.hpp"
#include "tempi/contact/surface.hpp"
#include "tempi/integrator/stepping/stepping_energy.hpp"

namespace tempi {

// Throws PlacedError: keys that belong to another type, a shape that cannot be, nobody who could touch it.
HardWall choose_wall(const WallInput& in, const TouchingBody& body);

// As a rigid thing among what layers of contact push. Throws PlacedError: as choose_wall; a wall for some only, or with
// a step; a motion without a component for each dimension, formulas of places.
void add_wall(SurfaceBuilder& builder, const WallInput& in, const TouchingBody& body);

// Where it is at t = 0 from where it is placed [m].
std::array<double, 3> start_of(const WallInput& in, const TouchingBody& body);

// Its velocities [m/s] in the course of the run; none: it rests.
std::vector<std::array<double, 3>> velocities_of(const WallInput& in, const TouchingBody& body);

}  // namespace tempi
