// SPDX-License-Identifier: Apache-2.0
// A discrete gradient of each term of a model: DG(u0, u1) . (u1 - u0) = V(u1) - V(u0), of second order, symmetric in
// its ends, and free of net force where V does not change when all nodes move alike.
//
//   DG = g + [V(u1) - V(u0) - g.dq] / (d.dq) d,   dq = u1 - u0
//
// Two nodes at a distance r, V = V(r):  w the mean of both relative vectors, d_b = -d_a = w, and g_b = -g_a = f w, f
// the mean of V'(r)/r at the two Gauss points of r^2 from r0^2 to r1^2. In all that is
// [V(r1) - V(r0)] / (r1^2 - r0^2) (w0 + w1) of LaBudde and Greenspan (1974), without net moment, and without its 0/0.
// Other terms (Gonzalez, J. Nonlinear Science 6 (1996) 449-467):  g the gradient at the midpoint, d = dq less its mean
// over the nodes; of a single node, d = dq.
//
// The quotient is left out where rounding of V(u1) - V(u0) has left nothing but noise of its numerator.
// Not for terms of several nodes that feel where they are as a whole: d.dq may be too small for what they gain.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "tempi/model/model.hpp"

namespace tempi {

class DiscreteGradient {
 public:
  using Vector = Eigen::VectorXd;

  // From u0, at time t; `model` must outlive it. Cost: the energies of all terms.
  DiscreteGradient(const Model& model, Vector u0, double t);

  void move_to(const Vector& dq);  // the other end: u1 = u0 + dq

  // Writes DG of a term [N], dim components a stencil node. Returns the admissibility of Potential::add_gradient
  // at u1 or between, where it is not admissible.
  double operator()(TermId id, std::span<double> gradient);

  // derivative += dDG/du1 of a term [N/m], row major as in LocalPotential::add_hessian; not symmetric.
  void add_derivative(TermId id, std::span<double> derivative);

  const Vector& u0() const { return u0_; }
  const Vector& u1() const { return u1_; }
  const Vector& middle() const { return middle_; }

 private:
  struct Quotient {  // [V(u1) - V(u0) - g.dq] / (d.dq), 0 where left out
    double admissibility, value, denominator;
    bool central;
  };
  Quotient evaluate(TermId id, std::span<double> gradient);  // and d
  double gradient(const Model::Term& term, const Vector& u, std::span<double> g) const;
  bool is_central(const Model::Term& term, std::span<double> g, double& admissibility);
  void add_pair_derivative(const Model::Term& term, const Quotient& quotient, std::span<const double> gradient,
                           std::span<double> derivative) const;
  std::vector<double> local(const Model::Term& term, const Vector& u) const;

  const Model& model_;
  double t_;
  Vector u0_, dq_, u1_, middle_;
  std::vector<double> energy_;  // of each term at u0
  Vector probe_;                // the midpoint but for the pair in hand
  std::vector<double> d_;       // of the term in hand
};

}  // namespace tempi
