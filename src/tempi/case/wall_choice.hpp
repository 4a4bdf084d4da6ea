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

// How it moves. Throws PlacedError: not a component for each dimension, formulas of places.
RigidMotion motion_of(const WallInput& in, const TouchingBody& body);
// How far something that moves so is at t from where it is placed [m]. Throws SolveError: a formula without a value.
std::array<double, 3> displacement_at(const RigidMotion& motion, double t);

// As a rigid thing among what layers of contact push. Throws PlacedError: as choose_wall, motion_of; a wall for some
// only, or with a step; a formula without a value at some time of the run.
void add_wall(SurfaceBuilder& builder, const WallInput& in, const TouchingBody& body);

// Its velocities [m/s] in the course of the run; none: it rests.
std::vector<std::array<double, 3>> velocities_of(const WallInput& in, const TouchingBody& body);

}  // namespace tempi
