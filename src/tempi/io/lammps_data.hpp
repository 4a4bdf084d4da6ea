// SPDX-License-Identifier: Apache-2.0
// LAMMPS data files, as read_data and write_data know them: masses of types, atoms, velocities, a box at right angles.
//
// Atom styles: atomic, charge, molecular (bond, angle likewise), full, sphere (diameters and densities; what spins does
// not here); named behind the word Atoms ("Atoms # full"), or told by the number of columns where only one style but
// sphere has so many. Each type is a group: by its label behind # in
// Masses ("1 39.948 # Ar"), else type1, type2 ... Particles come as the atoms' own numbers ascend, whatever the order
// of the rows: where those are 1 to n, atom k is particle k - 1. The box is taken as periodic along each axis (a data
// file does not say). Not read: bonds, angles, coefficients, image flags; `Particles::notes` tells of them.
#pragma once

#include "tempi/io/particle_file.hpp"
#include "tempi/io/text_lines.hpp"

namespace tempi {

// In the file's units; `units` as its first line names them ("units = metal"). Throws InputError with the line.
Particles read_lammps_data(TextLines& lines);

}  // namespace tempi
