// SPDX-License-Identifier: Apache-2.0
// The error that asynchrony itself makes in smooth motion, before anything is run: how much stiffer a body seems whose
// terms look at their nodes at different times.
//
// A node kicked by each of its terms at that term's own pace jitters about its smooth path, and a term K sees it off by
// dev_Ka (docs/accuracy.md). With the forces f_g of all terms of step h_g at a node, in a smooth state, where they
// balance,
//
//   sum_K f_K . dev_K = -(1/24) sum_a (1/m_a) sum_{g != g'} (h_g^2 + h_g'^2 - 2 gcd(h_g, h_g')^2) f_ga . f_g'a
//
// over free components; half of it over the energy of the state is the relative error of stiffness, half of that the
// relative error of frequencies. Plain coupling; steps on a lattice. Without what methods of one step for all terms
// err, which is smaller. In uniform strain surfaces and borders of materials do not balance, and energies lie elsewhere
// than in a given motion: an estimate of its size, no bound (docs/accuracy.md).
#pragma once

#include <span>
#include <vector>

#include "tempi/model/model.hpp"
#include "tempi/schedule/tick_lattice.hpp"

namespace tempi {

// Magnitudes of the relative errors of stiffness in the states of uniform strain, one for each component of strain: in
// space xx xy xz yy yz zz, in a plane xx xy yy.
struct AsynchronyError {
  std::vector<double> of_strain;
  double worst() const;
  double mean() const;
};

// Small uniform strains about displacements `u`, for each of the lattices. Zero where nothing resists. Cost: the forces
// of all terms once for each component of strain, on all threads.
std::vector<AsynchronyError> asynchrony_errors(const Model& model, std::span<const double> u,
                                               std::span<const TickLattice* const> lattices, int threads);

// In a vibration of the model about `u`, of shape `w` [m], small, forces do not quite balance: they accelerate the
// nodes. Relative errors of its stiffness with
//
//   sum_K f_K . dev_K = (1/12) sum_a (1/m_a) sum_{g, g'} gcd(h_g, h_g')^2 f_ga . f_g'a
//
// and what of it is left when forces that balance are taken off: (1/12) sum_a (1/m_a) (sum_g h_g^2 f_ga) . sum_g f_ga,
// the error of methods of one step, for steps that differ. Mollified kicks leave that, and errors of order 4.
struct VibrationError {
  double whole = 0.0, of_acceleration = 0.0;
};
VibrationError vibration_error(const Model& model, std::span<const double> u, std::span<const double> w,
                               const TickLattice& lattice, int threads);

}  // namespace tempi
