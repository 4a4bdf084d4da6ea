// SPDX-License-Identifier: Apache-2.0
// The equations of a model's holonomic constraints g(x) = 0 for one step: J = dg/dx, W = M^{-1} without the components
// that supports hold (their columns drop out). Multipliers are impulses [N s].
//
// All matrices are sparse and of a pattern found once. J(q_1) W J(q_0)^T of the position equations is not symmetric
// (Lew, Marsden, Ortiz, West 2004, eq. (25): the multiplier acts along the gradient at the step's start): LU.
// J W J^T of the velocity equations is, and positive definite as long as the constraints are independent: Cholesky.
// Of bodies of many nodes see multiplier_system.hpp.
#pragma once

#include <functional>

#include "tempi/integrator/one_step/multiplier_system.hpp"
#include "tempi/model/model.hpp"

namespace tempi {

class ConstraintEquations {
 public:
  using Vector = Eigen::VectorXd;

  explicit ConstraintEquations(const Model& model);  // which must outlive it

  struct Impulse {
    Vector all;       // J^T lambda [N s], held components included
    Vector external;  // of the constraints that hold nodes to what is not in the model
  };
  struct Leap {
    Vector u, v;  // displacements at its end, velocities on the way; before, those without constraints
    Impulse impulse;
    Index iterations;
  };

  // (25b), (27): from u with the velocities v + W J(u)^T lambda for the duration h to where g = 0, to
  // |g| <= 1e-14 of each constraint's length, or as near as the rounding of u lets it come. v: leap.v as it comes,
  // with which leap.u has been reached.
  // `place` puts the held components of displacements where their supports have them then.
  // Throws SolveError: the equations have no solution that can be found, as happens when the step is too long.
  void leap(const Vector& u, double h, double t0, const std::function<void(Vector& u)>& place, Leap& leap) const;

  // (28): v += W J(u)^T mu such that J v = 0; J^T mu, until it is called again. Throws SolveError when the constraints
  // have become dependent.
  const Impulse& project(const Vector& u, Vector& v, double t) const;

  // The forces J^T lambda [N] of the constraints in the motion (u, v) with the accelerations `a` they do not yet know
  // of, W f where free, and prescribed where held: J (a + W J^T lambda) = -dJ/dt v.
  Vector forces(const Vector& u, const Vector& v, const Vector& a, double t) const;

  void add_response(const Impulse& impulse, Vector& v) const;  // v += W J^T lambda

  // Components that some constraint depends on, ascending, of whole nodes: impulses are zero elsewhere.
  std::span<const Index> touched() const { return touched_; }

  // Removes from the start of a run what can be rounding: what g and J v have left, up to 1e-6 of the constraint's
  // length and of the largest speed.
  // Throws InputError: more than that; constraints that are not independent, with one that depends on others.
  void make_consistent(Vector& u, Vector& v) const;

 private:
  using Matrix = SparseFactors::Matrix;

  std::span<const std::unique_ptr<HolonomicConstraint>> constraints() const { return model_.constraints(); }
  Matrix find_pattern();                                       // of J^T
  Vector values(const Vector& u) const;                        // g [m]
  const Matrix& gradients(const Vector& u, Matrix& Jt) const;  // J^T, a row for each touched component
  void set_impulse(const Matrix& Jt, const Vector& lambda, Impulse& impulse) const;
  Vector multipliers(const Matrix& Jt, const Vector& rate, double t) const;  // J W J^T lambda = -rate
  Vector curvature(const Vector& u, const Vector& v) const;                  // dJ/dt v
  void require_independent(const Matrix& Jt) const;

  const Model& model_;
  Vector inverse_mass_;  // of touched components; 0 where held
  Vector length_;        // of each constraint [m]
  Vector external_;      // 1 where a constraint is, 0 where it is not
  std::vector<Index> touched_;
  std::vector<std::vector<std::int32_t>> place_;  // of each constraint's gradient among the values of J^T
  mutable Matrix start_, end_;                    // work space: J^T
  mutable Impulse projection_;
  mutable MultiplierSystem general_, symmetric_;
};

}  // namespace tempi
