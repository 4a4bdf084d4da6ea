// SPDX-License-Identifier: Apache-2.0
// External loads: gravity, traction, pressure and nodal forces on a meshed body, forces on particles. Values are
// formulas of the reference position and time; a value that is not finite throws SolveError (node or facet, time).
#pragma once

#include <memory>
#include <vector>

#include "tempi/core/expression.hpp"
#include "tempi/element/elastic_cells.hpp"
#include "tempi/force/force.hpp"
#include "tempi/mesh/facets.hpp"

namespace tempi {

struct CellLoad {
  std::unique_ptr<Force> force;
  std::vector<CellId> hosts;  // of each of its elements, the cell whose term it acts within
};

// Acceleration b(X, t) [m/s^2] on the cells of one potential: f_a = m_Ka b(X_a, t) with the cell's lumped mass, so a
// free body falls without deforming. `only` restricts it to some terms of `cells` (empty: all); both are kept alive by
// the caller.
CellLoad make_gravity(const Mesh& mesh, const ElasticCells& cells, std::vector<Index> only,
                      VectorExpression acceleration);

// Force per reference area T(X, t) [Pa]: f_a = int N_a T dA. In 2-D per unit thickness.
CellLoad make_traction(const Mesh& mesh, const std::vector<CellFacet>& facets, VectorExpression traction);

enum class PressureFrame { deformed, reference };

// Pressure p(X, t) [Pa], positive in compression: f_a = -int p N_a n da on the deformed surface (follower load; not a
// potential unless the surface is closed), or on the reference surface (a dead load).
CellLoad make_pressure(const Mesh& mesh, const std::vector<CellFacet>& facets, Expression pressure,
                       PressureFrame frame);

// Force F(X, t) [N] on each of `nodes`. Each node's force acts through its cells, in proportion to their mass shares.
CellLoad make_nodal_force(const Mesh& mesh, const std::vector<const ElasticCells*>& cells,
                          const std::vector<NodeId>& nodes, VectorExpression force);

// A part of the force on a node, as large as the share of one of the node's terms in it.
struct PointForce {
  NodeId node;
  double factor;
};
// factor F(X, t) [N] on a node each, an element one.
std::unique_ptr<Force> make_point_forces(const Mesh& mesh, std::vector<PointForce> parts, VectorExpression force);

}  // namespace tempi
