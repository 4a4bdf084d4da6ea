// SPDX-License-Identifier: Apache-2.0
// Thin shells of flat 3-node triangles in space: membranes, one term a triangle, and hinges, one term an inner edge, so
// that stretching and bending each keep their own tempo. Formulas and sources: shell_terms.hpp.
//
// Rotations are no unknowns. Not for thick shells (shear across is left out), and not where bending has to converge on
// any mesh: hinges are exact on equilateral triangles only, with a Poisson's ratio of bending that is -1/3 whatever the
// material has (docs/shells.md tells the errors).
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "tempi/element/elastic_cells.hpp"

namespace tempi {

struct ShellMaterial {
  Material membrane;  // saint-venant-kirchhoff or neo-hookean
  double density;     // [kg/m^3]
  double thickness;   // [m]
};

// The stretching of `cells`, of type shell3. At a point: the gradients of shape functions lie in the triangle's plane.
// Masses are a third of the triangle's each. `mesh` must outlive it.
// Throws InputError: a triangle without area (label and centroid), density or thickness not positive, linear-elastic, a
// neo-hookean lambda < 0 (whose energy has no least thickness).
std::unique_ptr<ElasticCells> make_membrane(const Mesh& mesh, std::vector<CellId> cells, const ShellMaterial& material);

// The bending between triangles: terms of 4 nodes (edge, then the other ones), without mass.
class ShellBending : public LocalPotential {
 public:
  // How the normal of each of the mesh's cells turns, in the shape of displacements u: sum over its edges of
  // theta |e| / (A1 + A2) n (x) n, n the edge's normal in the plane, theta the angle there (of a clamped edge twice
  // that to the clamp); XX YY ZZ XY YZ XZ in space [1/m], zeros for other cells. A boundary tells nothing of what is
  // beyond. Adds to `curvature`, six numbers a cell.
  virtual void add_curvature(std::span<const double> u, std::span<double> curvature) const = 0;
  // V_k, shared by its triangles [J]. Adds to `energy`, one number a cell.
  virtual void add_energy(std::span<const double> u, std::span<double> energy) const = 0;
};

// Between all neighbours among the mesh's shells; `stiffness` D [J] of each cell, of two different ones the mean. Null
// without an inner edge. Throws InputError where three triangles or more share an edge (which).
std::unique_ptr<ShellBending> make_hinges(const Mesh& mesh, std::span<const double> stiffness);

// Clamped edges: outer edges of shells both of whose nodes are in one of the lists `nodes` (each ascending), whose
// triangle keeps its angle to the plane it lay
// in, turned with nobody: half of the hinge with a mirror image, V = (D/6) 3 |e0|^2 / A phi^2 with A of the triangle.
// Terms of 3 nodes; translations are free, so supports have to hold the nodes too. Null without such an edge.
std::unique_ptr<ShellBending> make_clamped_edges(const Mesh& mesh, std::span<const double> stiffness,
                                                 std::span<const std::vector<NodeId>> nodes);

double bending_stiffness(const ShellMaterial& material);  // D = E h^3 / (12 (1 - nu^2)) [J]

}  // namespace tempi
