// SPDX-License-Identifier: Apache-2.0
// The J-, L- and M-integrals of a defect (a crack's tip or front, a hole, a whole crack): the energy that is released
// when it advances, turns, grows, by sums of configurational forces over all nodes near it (Lew, Marsden, Ortiz, West
// 2004, eqs. (78)-(83), (102)-(107), Fig. 20). With q_a = 1 at nodes of a region about the defect, 0 beyond,
//
//   I = -sum_a q_a f_a . xi_a + sum_K sum_(a in K) m_Ka q_a (a_a . H_K xi_a + v_a . (dv/dX)_K xi_a) = -dPi/d(xi)
//
//   J: xi = e, the direction of advance, which may vary along a front (in space J is per length of the front);
//   L: xi = axis x (X - centre), of a turn;   M: xi = X - centre, of growth, at rest only,
//
// the domain form with that plateau function, to rounding, since f_a is the derivative by X_a. f has T in it and
// displacements carried by the nodes (configurational_force.hpp); the second sum is the rate of the pseudomomentum
// rho v . H xi of the region, with lumped masses and gradients averaged over a cell: Freund's dynamic J, and (79).
// Nodes of a defect's faces move with it. Mid-edge nodes move as the mean of their ends: straight cells stay straight.
//
// Regions: k rings of cells (ring 0: the defect's own nodes, I_1), or what a closed contour of facets encloses (of
// nodes inside it alone: minus the sum over the contour's nodes, to rounding).
//
// I of different regions differ by the sum of forces on the nodes between: errors of the mesh, where nothing else is
// there. For defects without tractions on their faces, in one homogeneous material; L in an isotropic one; M where W is
// of second degree in du/dX.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tempi/element/elastic_cells.hpp"

namespace tempi {

// How a defect moves: of a node at X [m].
using DefectMotion = std::function<std::array<double, 3>(std::span<const double> X)>;
DefectMotion advance(std::span<const double> direction);  // by one; throws InputError: no length
DefectMotion turn(std::span<const double> centre, const std::array<double, 3>& axis);
DefectMotion growth(std::span<const double> centre);

class PathIntegral {
 public:
  // `front`: nodes of `mesh` about which the regions are; per_length: of the front, in space. `cells` must outlive it.
  // Throws InputError: no vertex among them, one that is in none of the cells; per_length without an edge between two
  // of them; rings < 1, or so many that they take every node of the body; shells.
  PathIntegral(const Mesh& mesh, std::span<const ElasticCells* const> cells, std::span<const NodeId> front,
               const DefectMotion& motion, int rings, bool per_length = true);
  // Regions that contours enclose, each of facets that part the cells about the front from others. Throws InputError as
  // above: one that does not.
  PathIntegral(const Mesh& mesh, std::span<const ElasticCells* const> cells, std::span<const NodeId> front,
               const DefectMotion& motion, std::span<const std::vector<FacetId>> contours, bool per_length = true);

  int regions() const { return regions_; }
  std::span<const NodeId> front() const { return front_; }
  double length() const { return length_; }  // of the front [m]; 1 in the plane, and where nothing is per length
  // The first region that reaches another material or density than that at the front, counted from 1; 0: none does.
  int first_other_material() const { return first_other_; }

  // I_1 ... [J/m^2 of J in space, J/m in the plane; L, M: times m^2 and m]. Of all nodes, dim components each; velocity
  // may not be left out.
  std::vector<double> operator()(std::span<const double> displacement, std::span<const double> velocity,
                                 std::span<const double> acceleration) const;

 private:
  struct Cell {
    const ElasticCells* cells;
    Index k;
    CellType type;
  };
  using Cells = std::span<const ElasticCells* const>;
  PathIntegral(const Mesh& mesh, Cells cells, std::span<const NodeId> front, int regions, bool per_length);
  // `inside`: of each vertex and region, whether it moves.
  void set_regions(const Mesh& mesh, Cells cells, const DefectMotion& motion,
                   const std::function<bool(NodeId vertex, int region)>& inside);

  int regions_;
  std::vector<NodeId> front_;
  double length_ = 1.0;
  int first_other_ = 0;
  std::vector<Cell> near_;                     // cells with a vertex that moves in some region
  std::vector<Index> place_;                   // of each node among the vertices that do, or -1
  std::vector<char> weight_;                   // q of these, regions_ each
  std::vector<std::array<double, 3>> motion_;  // of these
};

}  // namespace tempi
