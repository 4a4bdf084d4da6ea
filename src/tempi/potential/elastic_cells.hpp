// SPDX-License-Identifier: Apache-2.0
// Elastic finite elements: V_K = int_K W(F) dX on isoparametric simplices, total Lagrangian
// (Lew, Marsden, Ortiz, West 2004, eq. (44)).
//
// One object holds the cells of one type and one material. Geometry is stored as the inverse Jacobian and the weighted
// volume at each quadrature point: 10 doubles a point in 3-D. Curved cells have their own
// quadrature where the patch test asks for it: the 8 points of CurvedTetrahedron10 serve a whole object as soon as one
// of its cells is curved, so keep straight and curved tetrahedra in objects of their own. No locking cure: keep Poisson
// ratios away from 0.5 on linear cells.
#pragma once

#include <array>
#include <memory>

#include "tempi/material/material.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/potential/potential.hpp"

namespace tempi {

class ElasticCells : public Potential {
 public:
  virtual CellId cell(Index k) const = 0;
  virtual double volume(Index k) const = 0;  // [m^3], per unit thickness in 2-D, per unit area in 1-D
  virtual double density() const = 0;        // [kg/m^3]
  virtual const Material& material() const = 0;
  // Cauchy stress [Pa] averaged over the reference volume: XX YY ZZ XY YZ XZ, out-of-plane components included.
  virtual std::array<double, 6> cauchy_stress(Index k, std::span<const double> u) const = 0;
};

// The potential of `cells`, all of `type`, of one material; `mesh` must outlive it. Masses are lumped by HRZ scaling
// with the exact diagonal of the consistent mass.
// Throws InputError: an inverted or flat cell (label and centroid), density not positive, a type without an element.
std::unique_ptr<ElasticCells> make_elastic_cells(const Mesh& mesh, CellType type, std::vector<CellId> cells,
                                                 const Material& material, double density);

}  // namespace tempi
