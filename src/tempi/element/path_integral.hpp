// SPDX-License-Identifier: Apache-2.0
// The J-integral of a crack: the energy that is released when its front advances by one in a direction e, per length of
// front, by sums of configurational forces over all nodes near it (Lew, Marsden, Ortiz, West 2004, eqs. (102)-(107),
// Fig. 20).
//
//   J_k = 1/L [ -sum_a q_a f_a . e + sum_K sum_(a in K) m_Ka q_a (a_a . H_K e + v_a . (dv/dX)_K e) ],   J =
//   -dPi/dX_front
//
// q_a = 1 at nodes within k rings of cells of the front (ring 0: the front itself, J_1), 0 beyond: the domain form with
// that plateau function, to rounding, since f_a is the derivative by X_a. f has T in it and displacements carried by
// the nodes (configurational_force.hpp); the second sum is the rate of the pseudomomentum rho v . H e of the domain,
// with lumped masses and gradients averaged over a cell: Freund's dynamic J. Nodes of crack faces move along them.
//
// J_k of different k differ by the sum of forces on the nodes between: errors of the mesh, where the law is the same.
// For straight cracks without tractions on their faces, inside one homogeneous, in its X uniform material.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "tempi/element/elastic_cells.hpp"

namespace tempi {

class PathIntegral {
 public:
  // `front`: nodes of `mesh`; `direction` of advance, of any length > 0, dim components. 1 <= rings. `cells` must
  // outlive it. Throws InputError: no node, one that is in none of the cells, in space no edge between two of them;
  // rings that take every node of the body; shells.
  PathIntegral(const Mesh& mesh, std::span<const ElasticCells* const> cells, std::span<const NodeId> front,
               std::span<const double> direction, int rings);

  int rings() const { return rings_; }
  double length() const { return length_; }  // of the front [m]; in the plane 1: J is per unit thickness
  // The first ring that reaches another material or density than that at the front; 0: none does.
  int first_other_material() const { return first_other_; }

  // J_1 ... J_rings [J/m^2]. Of all nodes, dim components each; velocity may not be left out.
  std::vector<double> operator()(std::span<const double> displacement, std::span<const double> velocity,
                                 std::span<const double> acceleration) const;

 private:
  struct Cell {
    const ElasticCells* cells;
    Index k;
  };
  int rings_;
  double length_ = 1.0;
  int first_other_ = 0;
  std::array<double, 3> direction_{};
  std::vector<int> ring_of_;  // by node; beyond the rings: rings
  std::vector<Cell> near_;    // cells with a node within the rings
};

}  // namespace tempi
