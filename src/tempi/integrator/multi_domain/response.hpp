// SPDX-License-Identifier: Apache-2.0
// How a linear domain answers the motion of its interface over a system step.
//
// Of the symmetric midpoint rule with a = 2 alpha (1 - alpha), b = 1 - a, substeps h, K the stiffness, C the damping
// (Gates, Matous, Heath 2008, eq. (37a)-(37e), differentiated; the printed Jacobian (38) is garbled):
//
//   p_k     =  h/2 K (b q_k + a q_{k+1}) + M (q_{k+1} - q_k) / h + C (q_{k+1} - q_k) / 2
//   p_{k+1} = -h/2 K (a q_k + b q_{k+1}) + M (q_{k+1} - q_k) / h - C (q_{k+1} - q_k) / 2
//
// of what is neither driven nor held; driven components move along q = w t. Where nothing has to be solved what the
// interface moves spreads by one ring of terms a substep: the result is as sparse.
#pragma once

#include <Eigen/SparseCore>
#include <span>

#include "tempi/core/ids.hpp"
#include "tempi/integrator/multi_domain/domain.hpp"

namespace tempi {

// d early / dw [kg] (domain.hpp), symmetric. `damping` may be empty.
Eigen::SparseMatrix<double> interface_response(const Eigen::SparseMatrix<double>& stiffness,
                                               const Eigen::SparseMatrix<double>& damping, const Eigen::VectorXd& mass,
                                               std::span<const Index> driven, std::span<const Index> held,
                                               DomainRule rule, double system_step);

// The same of velocity Verlet, of terms that act every so many substeps.
struct StiffnessOfTicks {
  std::int32_t ticks;
  Eigen::SparseMatrix<double> K;
};
Eigen::SparseMatrix<double> explicit_response(std::span<const StiffnessOfTicks> stiffness, const Eigen::VectorXd& mass,
                                              std::span<const Index> driven, std::span<const Index> held, int substeps,
                                              double system_step);

}  // namespace tempi
