// SPDX-License-Identifier: Apache-2.0
// Nodal configurational forces: how the energy of a mesh changes when a node moves in the *reference* configuration.
//
//   f_a = sum_K int_K [(W - T) dN_a/dX_J - A_iI P_iJ dN_a/dX_J] dX,   A = F or F - I   [N], per unit thickness in 2-D
//
// With A = F it is dV/dX_a while places x stay: dS/dX_a of Lew, Marsden, Ortiz, West 2004, eqs. (102)-(105), the
// integral of the spatial block of Eshelby's tensor, (W - T) I - F^T P (their section 5.4; 2003, eq. (83)), with N_a,J;
// to rounding, since it is the derivative of the very energy that is integrated. With A = F - I displacements u stay
// with the node instead, which at a node in equilibrium is the same, and is what energy release rates of loaded bodies
// want: dead loads do no work then.
//
// T [J/m^3], only where velocities are given: the kinetic energy of the cell's lumped masses over its volume, so that
// f_a = -d(T - V)/dX_a. Loads, dampers, springs and HRZ's fractions of curved cells, as they change, have no part in
// it. On a straight cell of 6 or 10 nodes mid-edge nodes have forces, too: those of the cell that it would become.
//
// Identities, whatever the state: sum of f_a over a body 0; sum X_a x f_a = 0 with A = F, isotropic W, at rest (the
// paper's frame indifference does not suffice). Cost, by batches, their packing included: 0.07 us a 4-node tetrahedron,
// 0.43 us one of 10 nodes, as much as 4 and 8 packed updates; in a frame 0.1 us with what is written of it.
#pragma once

#include <span>
#include <vector>

#include "tempi/element/elastic_cells.hpp"

namespace tempi {

enum class Carried { places, displacements };  // by a node whose reference place moves

// Adds those of the nodes of one cell, three components each: the reference.
void add_configurational_forces(const ElasticCells& cells, Index k, std::span<const double> displacement,
                                std::span<const double> velocity, Carried carried, std::span<double> f);

// Of all nodes, dim components each. `velocity`: of all nodes, or empty. `threads` leave no trace in it.
// Throws InputError: shells, whose bending has none.
std::vector<double> configurational_forces(std::span<const ElasticCells* const> cells, Index node_count, int dim,
                                           std::span<const double> displacement, std::span<const double> velocity,
                                           Carried carried, int threads = 1);

}  // namespace tempi
