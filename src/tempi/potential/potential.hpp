// SPDX-License-Identifier: Apache-2.0
// A potential is a sum of terms V_k(x, t), each touching a few nodes: L = sum_a m_a |v_a|^2 / 2 - sum_k V_k
// (Lew, Marsden, Ortiz, West 2004, eq. (39)). Terms are what asynchronous integrators give a tempo of their own.
//
// Configurations are displacements u = x - X from the model's reference positions: `u` has dim components a node.
// Positions would lose the digits that strains need; decision 0001 tells how many. Any consistent units.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "tempi/potential/batch.hpp"

namespace tempi {

class LocalPotential;
class ManyBodySum;

class Potential {
 public:
  virtual ~Potential() = default;

  // Which of the two it is; the other is null. Whoever needs a Hessian has to ask.
  virtual const LocalPotential* as_local() const { return nullptr; }
  virtual const ManyBodySum* as_sum() const { return nullptr; }

  virtual Index size() const = 0;
  virtual int dim() const = 0;
  virtual std::span<const NodeId> stencil(Index k) const = 0;

  virtual double energy(Index k, std::span<const double> u, double t) const = 0;  // V_k [J]

  // g += dV_k/dx [N], dim components a stencil node. Returns how admissible the configuration is: the smallest det F
  // for elements, 1 for terms that cannot degenerate. Where it is not a positive finite number, g means nothing: that
  // is how a term says that it cannot be there. It may throw SolveError where it has no answer at all (an equation of
  // its own is not solved, a formula has no value), on whatever thread it was called: engines pass it on, and of the
  // terms that act together some may have been struck.
  virtual double add_gradient(Index k, std::span<const double> u, double t, std::span<double> g) const = 0;

  // The Hessian in parts: visit(nodes, H) with some nodes of the stencil and a part of d2V_k/dx2 between them [N/m],
  // row major, (dim * nodes)^2 entries. All parts together are the Hessian; a part may be zero.
  using VisitPiece = std::function<void(std::span<const NodeId> nodes, std::span<const double> H)>;
  virtual void each_hessian_piece(Index k, std::span<const double> u, double t, const VisitPiece& visit) const = 0;

  // What the term brings to the lumped mass of its a-th stencil node [kg]; 0 for terms without mass, as springs.
  virtual double mass(Index k, std::size_t a) const = 0;

  // 2 / omega_max of the term's own stiffness at u between the masses `shares` [kg], one a stencil node [s]; infinite
  // where nothing is stiff.
  virtual double stable_step(Index k, std::span<const double> u, std::span<const double> shares) const = 0;

  // Whether `step` [s] is within the stable step at u; cheaper than stable_step.
  virtual bool step_is_stable(Index k, std::span<const double> u, std::span<const double> shares,
                              double step) const = 0;

  // For those who follow V_k of a term of one node along x + s v: the first s > 0 at which its second derivative jumps,
  // or its curvature may have changed by much [s]; infinite: never. `u`, `v`: of the node.
  virtual double first_kink(Index /*k*/, std::span<const double> /*u*/, std::span<const double> /*v*/) const {
    return std::numeric_limits<double>::infinity();
  }

  // Whether terms join the same neighbours for good. If not, as for atoms that wander, their stable steps where the
  // model starts tell nothing of later ones, and nobody holds a step against them.
  virtual bool stays_together() const { return true; }

  // These terms, in this order, packed for striking; `place` of each node is its line in the engine's order. The batch
  // may refer to this potential. The base class offers a plain loop over add_gradient.
  virtual std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const;

  // What the term is, for messages: "cell 17 at (0.25, 0.5)".
  virtual std::string describe(Index k) const = 0;
  // What is wrong where add_gradient returned `admissibility`, when, and what to try: a message for SolveError.
  virtual std::string fault(Index k, std::span<const double> u, double t, double admissibility) const;

 private:
  friend class LocalPotential;
  friend class ManyBodySum;
  Potential() = default;
};

// Terms of a few nodes, the same for good: elements, springs, wells. What most authors of potentials derive from.
class LocalPotential : public Potential {
 public:
  static constexpr std::size_t most_nodes = 10;  // of a term

  const LocalPotential* as_local() const final { return this; }

  // H += d2V_k/dx2 [N/m], row major, (dim * stencil size)^2 entries.
  virtual void add_hessian(Index k, std::span<const double> u, double t, std::span<double> H) const = 0;

  void each_hessian_piece(Index k, std::span<const double> u, double t, const VisitPiece& visit) const final;
  // By the scaled Hessian, cost O((dim * nodes)^3). Of terms without mass by its largest eigenvalue in size: pairs that
  // push each other apart, or are where attraction is strongest, are hardly stiff, but their forces change as fast.
  double stable_step(Index k, std::span<const double> u, std::span<const double> shares) const override;
  // By a Cholesky factorisation.
  bool step_is_stable(Index k, std::span<const double> u, std::span<const double> shares, double step) const override;
};

// Largest deviation of add_gradient from central differences of energy, relative to the largest component of the
// differences (or to 1 N where all are smaller). `spacing` [m]: about 1e-5 of the term's size gives 1e-9 or better.
// For the authors of potentials: it holds any potential against its own energy.
double check_gradient(const Potential& potential, Index k, std::span<const double> u, double t, double spacing);

}  // namespace tempi
