// SPDX-License-Identifier: Apache-2.0
// A model cut into domains, and the interface that holds them together: nodes that several domains have, and nodes tied
// to others.
//
//   B^d q^d - C^d psi = 0                     (Gates, Matous, Heath 2008, eq. (19), for any number of domains d)
//
// psi: the displacements of the interface's own nodes, which have no mass but what the domains bring. B^d picks the
// components of domain d that are driven by psi; C^d says by which: one of them with weight 1 where meshes match,
// the shape functions of the facet a tied node lies on where not. Components with a support are not driven: each domain
// moves its own as prescribed; those of interface nodes others are tied to are known in psi.
#pragma once

#include <Eigen/SparseCore>
#include <memory>
#include <span>
#include <vector>

#include "tempi/constraint/tie.hpp"
#include "tempi/model/submodel.hpp"

namespace tempi {

class DomainInterface {
 public:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::SparseMatrix<double>;

  // The domain of each term, numbered from 0. `model` must outlive it. Throws InputError: as divide(); a node tied to
  // nodes that are tied themselves or to itself; weights that do not sum to 1; a domain that no interface joins to the
  // others.
  DomainInterface(const Model& model, std::span<const int> domain_of_term, std::span<const TiedNode> ties);
  ~DomainInterface();

  struct Part {
    Submodel submodel;
    std::vector<Index> driven;  // components of the part, ascending
    Matrix C;                   // (driven, psi)
    Vector mass;                // of the driven components [kg]
    Index component_of_whole(Index i) const {
      const Index d = submodel.model->dim();
      return index(submodel.nodes[static_cast<std::size_t>(i / d)]) * d + i % d;
    }
  };
  const std::vector<Part>& parts() const { return parts_; }

  // psi: components of the whole model, ascending; those without a support are unknown before a step.
  const std::vector<Index>& psi() const { return psi_; }
  const std::vector<Index>& unknown() const { return unknown_; }  // places in psi
  // sum_d C^T M C (psi, psi): diagonal where nothing is tied.
  const Matrix& mass() const { return mass_; }

  // Tied nodes go where they belong, and the interface moves with the momentum that its nodes and those have.
  void start(State& state) const;
  // Of displacements or velocities, dim components a node: tied nodes follow the others.
  void follow(std::vector<double>& x) const;
  // How far tied nodes are from there, the largest of any component. Nodes that domains share cannot part.
  double gap(const std::vector<double>& x) const;

  // Of psi: its velocities in a state; the momenta of its unknown components, and back (known ones given in v).
  Vector velocities(const State& state) const;
  Vector momentum(const Vector& v) const;
  void solve_velocities(const Vector& momentum, Vector& v) const;

 private:
  struct Row {  // a component that others give
    Index component;
    std::vector<std::pair<Index, double>> psi;  // places in psi, weights
  };
  double of_others(const Row& row, const std::vector<double>& x) const;
  void find_psi(std::span<const TiedNode> ties);
  void make_parts();
  void require_joined() const;

  const Model& model_;
  std::vector<Part> parts_;
  std::vector<Index> psi_, unknown_;
  std::vector<std::vector<std::pair<Index, double>>> row_of_;  // by component of the model; empty: nothing drives it
  std::vector<Row> tied_;
  Matrix mass_;
  struct Factors;
  mutable std::unique_ptr<Factors> factors_;  // made when first needed
};

}  // namespace tempi
