// SPDX-License-Identifier: Apache-2.0
// r-adaption: places X of nodes and displacements u at which a mesh is in configurational and in static equilibrium,
//
//   dPi/dX_a . t = 0  along whatever directions t a node may move,   dPi/du_a = 0
//
// (Lew, Marsden, Ortiz, West 2004, eq. (105) and section 6.4; Thoutireddy, Ortiz 2004), by lowering
// Pi(X) = min_u Pi(X, u): a Newton step of X and u together with the sparse second derivatives, positive definite as
// soon as enough of the metric (int scale grad dX : grad dX) is added, then static equilibrium at the new X. A step is
// taken if Pi and the barrier together fall by at least a tenth of what the step promised, or, where Pi has no digits
// left for it, if the forces fall.
//
// The problem is not convex: what is found is a minimum near the mesh that was given, with its connections. Cost of an
// iteration: two sparse factorisations, of 2 dim and of dim unknowns a node.
#pragma once

#include <functional>
#include <vector>

#include "tempi/adaption/mesh_potential.hpp"
#include "tempi/adaption/sliding_nodes.hpp"

namespace tempi {

struct AdaptionOptions {
  double tolerance = 1e-8;  // of the largest force at the start
  Index iterations = 500;
  ShapeBarrier barrier{};  // its scale is chosen here
};

struct AdaptionState {
  Index iteration = 0;
  double potential = 0.0, barrier = 0.0;  // [J]
  double largest_force = 0.0;   // [N] dPi/dX along free directions, of vertices at no cell where the barrier acts
  double largest_of_all = 0.0;  // [N] the same with the barrier's part, of all
  Index active_cells = 0;       // where the barrier acts
  double least_shape = 1.0;
};

struct AdaptedMesh {
  std::vector<double> moved, u;  // of all nodes
  // dPi/dX of all nodes where it began; what mid-edge nodes have is their vertices'.
  std::vector<double> first_force;
  std::vector<char> active;  // nodes of cells where the barrier acts
  AdaptionState first, last;
  bool converged = false;
  bool lost_equilibrium = false;  // no stable one beyond the last state: a cell turns over, or something buckles
};

// From static equilibrium `u` with held components `held`. `on_iteration` is told of every state, the first included;
// it may ask for an end by returning false. Throws SolveError: no equilibrium to begin with.
AdaptedMesh adapt_mesh(const MeshPotential& potential, const SlidingNodes& sliding, std::vector<double> u,
                       const std::vector<char>& held, AdaptionOptions options,
                       const std::function<bool(const AdaptionState&)>& on_iteration = {});

}  // namespace tempi
