// SPDX-License-Identifier: Apache-2.0
// The assembled stiffness of a model, K = sum_K d2V_K/dx2, as implicit methods need it: the values as often as asked
// for, the pattern once. Of terms in pieces it has the pieces there are: what it was before leaves no trace.
#pragma once

#include <Eigen/SparseCore>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tempi/model/model.hpp"

namespace tempi {

class AssembledStiffness {
 public:
  using Matrix = Eigen::SparseMatrix<double>;

  explicit AssembledStiffness(const Model& model);  // which must outlive it

  // Gives the pattern a place for the pieces there are at these displacements, and for no others; whether it changed.
  bool cover(std::span<const std::span<const double>> configurations, double t);

  // K at displacements u and time t [N/m], both triangles; components of a node are neighbours, as in u.
  const Matrix& operator()(std::span<const double> u, double t) {
    cover(std::array{u}, t);
    return at(u, t);
  }
  // The same with the pattern as it is, which must cover u.
  const Matrix& at(std::span<const double> u, double t);

  // The sum of other matrices of the terms of few nodes: `add` adds that of a term to H, laid out as in
  // LocalPotential::add_hessian; it need not be symmetric.
  using AddToTerm = std::function<void(TermId, std::span<double> H)>;
  const Matrix& assemble(const AddToTerm& add);

  // C = -dF/dv of all dampers [kg/s] at displacements u and time t: alone, or `factor` times it more.
  const Matrix& damping(std::span<const double> u, double t);
  const Matrix& add_damping(std::span<const double> u, double t, double factor);

  // What rounding may do to each component of the forces at u [N]: u and the deformation gradient, 1 + du/dX, have so
  // many digits, so eps sum_j |K_ij| (|u_j| + |X_i - X_j|). Where stiff terms meet soft ones that is far above rounding
  // of the forces' own size. Overwrites the values of the last call; the pattern must cover u.
  Eigen::VectorXd rounding_of_forces(std::span<const double> u, double t);

  const Matrix& pattern() const { return K_; }  // with the values of the last call

 private:
  using NodePairs = std::vector<std::array<NodeId, 2>>;
  void each_piece_of_sums(std::span<const double> u, double t, const Potential::VisitPiece& visit) const;
  NodePairs pairs_in_sums(std::span<const double> u, double t) const;
  void set_pattern();
  Index place(NodeId a, NodeId b) const;  // of a among the neighbours of b, or where it should be
  void add_piece(std::span<const NodeId> nodes, std::span<const double> H, double factor = 1.0);
  void add_block(NodeId b, std::size_t rank, const double* H, std::size_t row, double factor = 1.0);

  const Model& model_;
  bool has_sums_ = false;
  NodePairs covered_;  // by their pieces
  Matrix K_;
  std::vector<std::vector<NodeId>> neighbours_;  // of each node, itself included, ascending
  std::vector<std::int32_t> rank_;  // of each term of few nodes and pair (a, b) of its nodes: place of a at b
};

}  // namespace tempi
