// SPDX-License-Identifier: Apache-2.0
// The potential of a body as a function of the places X of the nodes of its mesh and of the displacements u there:
//
//   Pi(X, u) = sum_K int_K W(du/dX) dX - sum_K sum_a m_Ka(X) b_K . u_a - sum_a f_a . u_a
//
// with its first and second derivatives by both (Lew, Marsden, Ortiz, West 2004, eqs. (102)-(105): dPi/dX_a is the
// configurational force, displacements kept at the nodes). On a cell that has come from X0 to X,
//
//   A = dX/dX0, H = (du/dX0) A^-1, dH = d(du/dX0) A^-1 - H dA A^-1, d(det A) = det A tr(dA A^-1),
//
// so that all of it follows from the geometry of X0, W, P and dP/dF.
//
// Mid-edge nodes go with their vertices: dX is linear between these, straight cells stay straight, and their quadrature
// exact. (Free mid-edge nodes would lower the sum of the quadrature's points, not the energy.)
//
// A barrier keeps cells from being crushed: with the shape eta = D (det A)^(2/D) / |A|^2, 1 where a cell is as it was
// or only larger or smaller, 0 where it is flat, each point of a cell adds
//
//   weight V0 scale_K b(eta/least), b(s) = (1 - s)^3 / s for s < 1, else 0: exactly nothing, twice differentiable,
//
// and the same of det A and the least size: about a point that is loaded or supported alone Pi has no least value.
// Points are those of the rule; of curved cells, whose A varies, the nodes.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "tempi/element/elastic_cells.hpp"

namespace tempi {

struct MeshLoads {
  std::vector<double> force;                    // dead, of all nodes, dim components each [N]
  std::vector<std::array<double, 3>> of_cells;  // b of each cell of the mesh [m/s^2]
};

struct ShapeBarrier {
  double least_shape = 0.05;  // below which it acts
  double least_size = 1e-8;   // det A
  double weight = 1e-3;
  std::vector<double> scale{};  // of each cell of the mesh [J/m^3]; empty: no barrier
};

class MeshPotential {
 public:
  // `mesh` and `cells` must outlive it. Shells have no place in it (require_solids of the case file).
  MeshPotential(const Mesh& mesh, std::span<const ElasticCells* const> cells, MeshLoads loads);

  int dim() const { return dim_; }
  Index node_count() const { return node_count_; }
  // |W| of each cell of the mesh, averaged [J/m^3], on the first mesh.
  std::vector<double> densities(std::span<const double> u) const;
  double volume() const { return volume_; }  // in the first places
  // Whether a node is a vertex of a cell; others are in the middle between two of these.
  bool is_vertex(NodeId a) const { return vertex_[ordinal(a)] != 0; }
  // Displacements of mid-edge nodes from those of the vertices, in place.
  void place_mid_nodes(std::span<double> moved) const;

  struct Value {
    double potential = 0.0, barrier = 0.0;  // [J]
    double least_shape = 1.0;
    double strain = 0.0;     // sum of |int W| [J]
    bool admissible = true;  // no cell is inverted, in X or in x
    double total() const { return potential + barrier; }
  };
  // `moved`: X - X0 of all nodes, mid-edge nodes in their places; u: likewise dim components a node.
  Value operator()(std::span<const double> moved, std::span<const double> u, const ShapeBarrier& barrier) const;

  // Of one cell: its vertices, then its nodes; derivatives by their X, then by their u, dim components each.
  struct CellDerivatives {
    std::span<const NodeId> nodes;
    std::size_t vertices;
    std::vector<double> gradient;  // without loads at nodes
    std::vector<double> hessian;   // row-major, symmetric
    std::vector<double>
        metric;  // of the vertices, V x V: int (|W| + scale_K) grad N . grad N, by which moves are measured
    std::vector<double> barrier_gradient;  // the barrier's part of that by X
    bool barrier_acts;
  };
  void each_cell(std::span<const double> moved, std::span<const double> u, const ShapeBarrier& barrier,
                 const std::function<void(const CellDerivatives&)>& use) const;
  // Whether a step leaves every cell at least `part` of its shape and size.
  bool keeps_cells(std::span<const double> moved, std::span<const double> next, double part) const;
  const std::vector<double>& dead_forces() const { return loads_.force; }

 private:
  template <int D>
  bool keeps(std::span<const double> moved, std::span<const double> next, double part) const;
  template <int D>
  Value value(std::span<const double> moved, std::span<const double> u, const ShapeBarrier& barrier) const;
  template <int D>
  void visit(std::span<const double> moved, std::span<const double> u, const ShapeBarrier& barrier,
             const std::function<void(const CellDerivatives&)>& use) const;

  std::vector<const ElasticCells*> cells_;
  const Mesh& mesh_;
  int dim_;
  Index node_count_;
  MeshLoads loads_;
  double volume_ = 0.0;
  std::vector<char> vertex_;
  struct Middle {
    NodeId node, first, second;
  };
  std::vector<Middle> middles_;
};

}  // namespace tempi
