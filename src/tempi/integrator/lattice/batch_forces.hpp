// SPDX-License-Identifier: Apache-2.0
// The forces of a whole model by batches, on all threads: what methods of one step for all evaluate. In the order of
// nodes the fast engine has, with its order of sums.
#pragma once

#include <span>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/lattice/damper_forces.hpp"
#include "tempi/integrator/lattice/lattice_loads.hpp"
#include "tempi/integrator/lattice/lattice_strikes.hpp"

namespace tempi {

class BatchForces {
 public:
  // `model` must outlive it.
  BatchForces(const Model& model, int threads);

  // -sum dV_K/dx and loads, `load` these alone [N], dim components a node, at displacements u and time t; sum V_K [J]
  // where it is asked for. False where a term is not admissible. Throws SolveError where a formula has no value.
  bool evaluate(std::span<const double> u, double t, std::span<double> force, std::span<double> load,
                double* energy = nullptr);

  // Where the model has dampers, these, -C(u, t) v [N].
  void resist(std::span<const double> u, std::span<const double> v, double t, std::span<double> damping);
  void add_drags(double factor, std::span<double> of_component);  // what of C is the same everywhere, and diagonal

  // -sum dV_K/dx [N] and sum V_K [J] there, without loads. False where a term is not admissible.
  Batch::Looked look(std::span<const double> u, double t, std::span<double> force);

 private:
  template <class Visit>
  void each_line(const double* by_node, Visit&& visit);
  void place(std::span<const double> u);  // at rest

  const Model& model_;
  LatticeGroups plan_;
  ThreadTeam team_;
  LatticeStrikes strikes_;
  LatticeStrikes::Together all_;
  LatticeLoads loads_;
  DamperForces dampers_;
  AlignedVector<NodeLine> lines_;
};

}  // namespace tempi
