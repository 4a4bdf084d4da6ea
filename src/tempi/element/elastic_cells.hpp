// SPDX-License-Identifier: Apache-2.0
// Elastic finite elements: V_K = int_K W(F) dX on isoparametric simplices, total Lagrangian
// (Lew, Marsden, Ortiz, West 2004, eq. (44)).
//
// One object holds the cells of one type and one material. Geometry is stored as the inverse Jacobian and its
// determinant: 10 doubles in 3-D, once for a straight cell, at each quadrature point for a curved one. An object is
// curved as soon as one of its cells is (tetrahedra then have the 8 points of CurvedTetrahedron10), so keep straight
// and curved cells in objects of their own. No locking cure: keep Poisson ratios away from 0.5 on linear cells.
#pragma once

#include <array>
#include <memory>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/material/material.hpp"
#include "tempi/mesh/elements.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/potential/potential.hpp"

namespace tempi {

struct CellPoint {                             // a quadrature point of a cell
  double volume;                               // [m^3], reference volume it stands for; likewise per unit thickness
  std::array<std::array<double, 3>, 10> dN{};  // dN_a/dX of each stencil node [1/m]; zero beyond dim
};

struct PackedGeometry {  // what kernels work on (cell_kernels.hpp)
  CellShape shape;
  AlignedVector<double> geometry;
  AlignedVector<std::int32_t> places;
};

class ElasticCells : public LocalPotential {
 public:
  // Cells in packs of pack_width() (simd/instruction_set.hpp); `place` of each node is its line. -1 among `elements`,
  // and what fills up the last pack, stands for a cell of no volume at the nodes of the one before it.
  virtual PackedGeometry pack(std::span<const Index> elements, std::span<const std::int32_t> place) const = 0;
  virtual Index point_count() const = 0;  // of every cell
  virtual CellPoint at_point(Index k, Index q) const = 0;
  struct PointStress {
    double energy;                             // W [J/m^3]
    std::array<std::array<double, 3>, 3> P{};  // first Piola-Kirchhoff stress [Pa]; zero beyond dim
  };
  // At a quadrature point of displacements u. Throws InputError: shells.
  virtual PointStress stress_at(Index k, Index q, std::span<const double> u) const;
  virtual CellId cell(Index k) const = 0;
  virtual double volume(Index k) const = 0;         // [m^3], per unit thickness in 2-D, per unit area in 1-D
  virtual double density() const = 0;               // [kg/m^3]
  virtual double thickness() const { return 0.0; }  // [m], of shells
  virtual const Material& material() const = 0;
  // Cauchy stress [Pa] averaged over the reference volume: XX YY ZZ XY YZ XZ, out-of-plane components included. Of
  // linear elasticity that of its law.
  virtual std::array<double, 6> cauchy_stress(Index k, std::span<const double> u) const = 0;
  // Green's strain E = (F^T F - I)/2, averaged likewise.
  virtual std::array<double, 6> green_strain(Index k, std::span<const double> u) const;
};

// The potential of `cells`, all of `type`, of one material; `mesh` must outlive it. Masses are lumped by HRZ scaling
// with the exact diagonal of the consistent mass.
// Throws InputError: an inverted or flat cell (label and centroid), density not positive, a type without an element.
std::unique_ptr<ElasticCells> make_elastic_cells(const Mesh& mesh, CellType type, std::vector<CellId> cells,
                                                 const Material& material, double density);

}  // namespace tempi
