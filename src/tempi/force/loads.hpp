// SPDX-License-Identifier: Apache-2.0
// External loads on a meshed body: gravity, traction, pressure, nodal forces. Values are formulas of the reference
// position and time; a value that is not finite throws SolveError (node or facet, time).
#pragma once

#include <memory>
#include <vector>

#include "tempi/core/expression.hpp"
#include "tempi/element/elastic_cells.hpp"
#include "tempi/force/force.hpp"
#include "tempi/mesh/facets.hpp"

namespace tempi {

// Acceleration b(X, t) [m/s^2] on the cells of one potential: f_a = m_Ka b(X_a, t) with the cell's lumped mass, so a
// free body falls without deforming. `only` restricts it to some terms of `cells` (empty: all); both are kept alive by
// the caller.
std::unique_ptr<Force> make_gravity(const Mesh& mesh, const ElasticCells& cells, std::vector<Index> only,
                                    VectorExpression acceleration);

// Force per reference area T(X, t) [Pa]: f_a = int N_a T dA. In 2-D per unit thickness.
std::unique_ptr<Force> make_traction(const Mesh& mesh, const std::vector<CellFacet>& facets, VectorExpression traction);

enum class PressureFrame { deformed, reference };

// Pressure p(X, t) [Pa], positive in compression: f_a = -int p N_a n da on the deformed surface (follower load; not a
// potential unless the surface is closed), or on the reference surface (a dead load).
std::unique_ptr<Force> make_pressure(const Mesh& mesh, const std::vector<CellFacet>& facets, Expression pressure,
                                     PressureFrame frame);

// Force F(X, t) [N] on each of `nodes`. Each node's force acts through its cells, in proportion to their mass shares.
std::unique_ptr<Force> make_nodal_force(const Mesh& mesh, const std::vector<const ElasticCells*>& cells,
                                        const std::vector<NodeId>& nodes, VectorExpression force);

// factor_a F(X, t) [N] on each of `nodes`, within the cell of `hosts` in the same place.
std::unique_ptr<Force> make_point_force(const Mesh& mesh, const std::vector<NodeId>& nodes,
                                        const std::vector<CellId>& hosts, const std::vector<double>& factors,
                                        VectorExpression force);

}  // namespace tempi
