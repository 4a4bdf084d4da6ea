// SPDX-License-Identifier: Apache-2.0
// A potential is a sum of terms V_k(x, t), each touching a few nodes: L = sum_a m_a |v_a|^2 / 2 - sum_k V_k
// (Lew, Marsden, Ortiz, West 2004, eq. (39)). Terms are what asynchronous integrators give a tempo of their own.
//
// Configurations are displacements u = x - X from the model's reference positions: `u` has dim components a node.
// Positions would lose the digits that strains need; decision 0001 tells how many. Any consistent units.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "tempi/potential/batch.hpp"

namespace tempi {

class Potential {
 public:
  virtual ~Potential() = default;

  virtual Index size() const = 0;
  virtual int dim() const = 0;
  virtual std::span<const NodeId> stencil(Index k) const = 0;

  virtual double energy(Index k, std::span<const double> u, double t) const = 0;  // V_k [J]

  // g += dV_k/dx [N], dim components a stencil node. Returns how admissible the configuration is: the smallest det F
  // for elements, 1 for terms that cannot degenerate. Where it is not a positive finite number, g means nothing.
  virtual double add_gradient(Index k, std::span<const double> u, double t, std::span<double> g) const = 0;

  // H += d2V_k/dx2 [N/m], row major, (dim * stencil size)^2 entries.
  virtual void add_hessian(Index k, std::span<const double> u, double t, std::span<double> H) const = 0;

  // A term of many nodes is a sum of pieces of few, which may be others elsewhere: the pairs near each other, for
  // instance. visit(nodes, H) for each: some nodes of the stencil and a part of the Hessian, laid out as above. All
  // parts together are the Hessian; a part may be zero.
  using VisitPiece = std::function<void(std::span<const NodeId> nodes, std::span<const double> H)>;
  virtual bool in_pieces() const { return false; }
  virtual void each_hessian_piece(Index k, std::span<const double> u, double t, const VisitPiece& visit) const;

  // What the term brings to the lumped mass of its a-th stencil node [kg]; 0 for terms without mass, as springs.
  virtual double mass(Index k, std::size_t a) const = 0;

  // 2 / omega_max of the term's own stiffness at u between the masses `shares` [kg], one a stencil node [s]; infinite
  // where nothing is stiff. Default: the largest eigenvalue of the scaled hessian, cost O((dim * nodes)^3); of terms in
  // pieces by the Lanczos method, to 1e-3.
  virtual double stable_step(Index k, std::span<const double> u, std::span<const double> shares) const;

  // Whether `step` [s] is within the stable step at u. Default: by a Cholesky factorisation, cheaper than stable_step.
  // Of terms in pieces by a bound, and by stable_step where that does not tell.
  virtual bool step_is_stable(Index k, std::span<const double> u, std::span<const double> shares, double step) const;

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
};

// Largest deviation of add_gradient from central differences of energy, relative to the largest component of the
// differences (or to 1 N where all are smaller). `spacing` [m]: about 1e-5 of the term's size gives 1e-9 or better.
// For the authors of potentials: it holds any potential against its own energy.
double check_gradient(const Potential& potential, Index k, std::span<const double> u, double t, double spacing);

}  // namespace tempi
