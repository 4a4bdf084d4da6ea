// SPDX-License-Identifier: Apache-2.0
// Dampers: forces F = -C(x) v that take energy and never give any. Integrators treat them by the discrete principle of
// Lagrange and d'Alembert (Lew, Marsden, Ortiz, West 2004, section 2.6, eqs. (26)-(28)); see integrator/dampers.hpp.
//
//                    F                                  taken from a rigid motion   momenta
//   drag             -c v_a                             all                         not kept
//   Rayleigh, alpha  -alpha m_Ka v_a                    all                         not kept
//   Rayleigh, beta   on cells: Kelvin-Voigt, below      none                        exact
//                    else -beta K_+(x) v                little (see below)          linear exact
//   Kelvin-Voigt     T = eta_lambda tr(d) 1 + 2 eta_mu d   none                     exact
//   dashpot          -c r' e on both ends               none                        exact
//
// d is the rate of deformation, the symmetric part of dv/dx, T a Kirchhoff stress (of reference volume: the Cauchy
// stress times det F), eta_mu = eta_shear, eta_lambda = eta_bulk - 2/3 eta_shear in every dimension (plane and uniaxial
// strain): the power T : d = eta_bulk tr(d)^2 + 2 eta_shear |dev d|^2 is never negative, a rigid motion has none, and a
// superposed one only turns T. Cells flatter than `flattest` (cell_kernels.hpp) resist as if they were not.
//
// Element k of a force made from a potential belongs to term k of it: that term must be its host in Model::Parts.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tempi/element/elastic_cells.hpp"
#include "tempi/force/force.hpp"
#include "tempi/pair/pairs.hpp"

namespace tempi {

// Drag -c v_a of a node within its host. A node may appear several times, with a part of its c in each of its terms:
// every part then acts at its own host's tempo.
struct NodalDrag {
  NodeId node;
  double coefficient;  // c [kg/s], >= 0; in 2-D per unit thickness, as masses are
};
std::unique_ptr<Force> make_drag(int dim, std::vector<NodalDrag> drags);

// Rayleigh damping of cells, C = alpha M + beta K. M: each cell's part of the lumped mass. beta K: with K fixed in the
// reference configuration a rotating body would be damped; so it is the viscosity beta (lambda, mu) of Kelvin-Voigt,
// which is beta K in the reference configuration and objective everywhere. A mode of small vibrations has the damping
// ratio (alpha / omega + beta omega) / 2.
struct Rayleigh {
  double alpha = 0.0;  // [1/s], >= 0
  double beta = 0.0;   // [s], >= 0
};
std::unique_ptr<Force> make_rayleigh(const ElasticCells& cells, const Rayleigh& rayleigh);

// F = -beta K_+(x) v for the terms of any potential, K_+ its Hessian at the present configuration without negative
// eigenvalues: springs and wells above all. Not quite objective: K of a term under stress g resists the rotation w of
// that term with beta w x g. Where pairs are far from their rest length, take dashpots; for cells make_rayleigh.
std::unique_ptr<Force> make_stiffness_damping(const LocalPotential& potential, double beta);  // beta [s], >= 0

struct Viscosity {
  double bulk = 0.0;   // eta_bulk [Pa s], >= 0
  double shear = 0.0;  // eta_shear [Pa s], >= 0
};
std::unique_ptr<Force> make_kelvin_voigt(const ElasticCells& cells, const Viscosity& viscosity);

// F_b = -F_a = -c ((v_b - v_a) . e) e, e from node a to the nearest image of node b; c [kg/s], >= 0. Element k is
// pair k; the nodes of one may not meet. `reference` [m]: dim components a node.
std::unique_ptr<Force> make_dashpots(std::span<const double> reference, int dim, std::vector<NodePair> pairs, double c,
                                     const Box& box = {});

// All throw InputError for a coefficient that is negative or not finite. Potentials given must outlive the force.

}  // namespace tempi
