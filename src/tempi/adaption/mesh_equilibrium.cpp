// SPDX-License-Identifier: Apache-2.0
#include "tempi/adaption/mesh_equilibrium.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tempi/core/error.hpp"
#include "tempi/integrator/one_step/newton.hpp"

namespace tempi {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::SparseMatrix<double>;

class Adaption {
 public:
  Adaption(const MeshPotential& potential, const SlidingNodes& sliding, const std::vector<char>& held,
           const AdaptionOptions& options)
      : potential_(potential),
        sliding_(sliding),
        barrier_(options.barrier),
        d_(static_cast<std::size_t>(potential.dim())) {
    const auto nodes = static_cast<std::size_t>(potential.node_count());
    of_u_.assign(nodes * d_, -1);
    of_X_.assign(nodes, -1);
    for (std::size_t i = 0; i < of_u_.size(); ++i)
      if (held[i] == 0) of_u_[i] = size_++;
    statics_ = size_;
    for (std::size_t a = 0; a < nodes; ++a) {
      if (sliding.of_node[a].count == 0) continue;
      of_X_[a] = size_;
      size_ += sliding.of_node[a].count;
    }
  }

  AdaptedMesh operator()(std::vector<double> u, const AdaptionOptions& options,
                         const std::function<bool(const AdaptionState&)>& on_iteration) {
    moved_.assign(u.size(), 0.0);
    u_ = std::move(u);
    if (!settle(moved_, u_)) throw SolveError("the mesh has no static equilibrium to begin with.");
    barrier_.scale = potential_.densities(u_);
    const double mean = std::max(potential_(moved_, u_, barrier_).strain / potential_.volume(), 1e-300);
    for (double& scale : barrier_.scale) scale += 0.1 * mean;
    AdaptedMesh result;
    double lambda = 1e-2;
    for (Index iteration = 0;; ++iteration) {
      const MeshPotential::Value value = potential_(moved_, u_, barrier_);
      derive(true);
      AdaptionState now{iteration,     value.potential, value.barrier,    largest(false),
                        largest(true), active_cells_,   value.least_shape};
      if (iteration == 0) result.first = now, result.first_force = nodal_force_;
      result.last = now;
      const bool go_on = !on_iteration || on_iteration(now);
      constexpr double rounding = 1e-13;  // of what single cells pull with
      const double sought = std::max(options.tolerance * result.first.largest_of_all, rounding * largest_of_cells_);
      result.converged = now.largest_force <= sought && now.largest_of_all <= sought;
      if (result.converged || !go_on || iteration >= options.iterations || !improve(value, lambda)) break;
    }
    result.moved = moved_;
    result.u = u_;
    result.active = active_;
    result.lost_equilibrium = lost_equilibrium_ && !result.converged;
    return result;
  }

 private:
  // One step down; false where none is found.
  bool improve(const MeshPotential::Value& before, double& lambda) {
    const Vector g = gradient_;
    constexpr double least = 1e-9;
    for (; lambda < 1e12; lambda = std::max(4.0 * lambda, least)) {
      const std::optional<Vector> step = downwards(g, lambda);
      if (!step) continue;
      std::vector<double> moved = moved_, u = u_;
      take(*step, moved, u);
      if (!potential_.keeps_cells(moved_, moved, 0.3)) continue;
      const double promised = -(g.dot(*step) + 0.5 * step->dot(hessian_ * *step));
      if (!settle(moved, u)) {
        u = u_;  // not from where a linear body would go
        lost_equilibrium_ = !settle(moved, u);
        if (lost_equilibrium_) continue;
      }
      const MeshPotential::Value after = potential_(moved, u, barrier_);
      if (!after.admissible) continue;
      const double fall = before.total() - after.total();
      const double digits = 1e-15 * (std::abs(before.potential) + before.strain);
      const bool blind = promised < 10.0 * digits;
      if (!blind && !(fall > 0.1 * promised)) continue;
      if (blind && fall < -digits) continue;
      std::swap(moved, moved_);
      std::swap(u, u_);
      if (blind) {
        derive(false);
        if (!(gradient_.norm() < g.norm())) {
          std::swap(moved, moved_);
          std::swap(u, u_);
          continue;
        }
      }
      if (blind || fall > 0.75 * promised)
        lambda = std::max(0.2 * lambda, least);
      else if (fall < 0.25 * promised)
        lambda *= 4.0;
      return true;
    }
    derive(false);  // of the place it stays at
    return false;
  }

  // -(H + lambda M)^-1 g where that matrix is positive definite.
  std::optional<Vector> downwards(const Vector& g, double lambda) {
    matrix_ = hessian_ + lambda * metric_;
    if (!joint_.factorise(matrix_)) return std::nullopt;
    Vector step = joint_.solve(Vector(-g));
    if (!step.allFinite()) return std::nullopt;
    return step;
  }

  void take(const Vector& step, std::vector<double>& moved, std::vector<double>& u) const {
    for (std::size_t i = 0; i < of_u_.size(); ++i)
      if (of_u_[i] >= 0) u[i] += step(of_u_[i]);
    for (std::size_t a = 0; a < of_X_.size(); ++a)
      for (int m = 0; m < sliding_.of_node[a].count; ++m)
        for (std::size_t c = 0; c < d_; ++c)
          moved[a * d_ + c] += step(of_X_[a] + m) * sliding_.of_node[a].along[static_cast<std::size_t>(m)][c];
    potential_.place_mid_nodes(moved);
  }

  // Static equilibrium at the places `moved`, from near u. False: a cell is inverted, or none is found.
  bool settle(const std::vector<double>& moved, std::vector<double>& u) {
    double before = 0.0;
    for (int iteration = 0; iteration < 30; ++iteration) {
      const MeshPotential::Value here = potential_(moved, u, barrier_);
      if (!here.admissible) return false;
      Vector g;
      const Matrix K = stiffness(moved, u, g);
      const double left = g.size() > 0 ? g.cwiseAbs().maxCoeff() : 0.0;
      if (!std::isfinite(left)) return false;
      if (left <= 1e-14 * force_scale_ || (iteration > 0 && left > 0.2 * before && left < 1e-10 * force_scale_))
        return true;
      before = left;
      if (!static_.factorise(K)) return false;
      const Vector du = static_.solve(Vector(-g));
      const double digits = 1e-12 * std::abs(here.potential);
      std::vector<double> next;
      double part = 1.0;
      for (int halving = 0;; ++halving, part *= 0.5) {  // the stiffness is positive: the potential falls along du
        if (halving == 20) return false;
        next = u;
        for (std::size_t i = 0; i < of_u_.size(); ++i)
          if (of_u_[i] >= 0) next[i] += part * du(of_u_[i]);
        const MeshPotential::Value then = potential_(moved, next, barrier_);
        if (then.admissible && then.potential <= here.potential + digits) break;
      }
      u = std::move(next);
    }
    return false;
  }

  Matrix stiffness(const std::vector<double>& moved, const std::vector<double>& u, Vector& g) {
    std::vector<Eigen::Triplet<double>> entries;
    g = Vector::Zero(statics_);
    force_scale_ = 0.0;
    potential_.each_cell(moved, u, barrier_, [&](const MeshPotential::CellDerivatives& cell) {
      const std::size_t n = cell.nodes.size() * d_, first = cell.vertices * d_, size = first + n;
      for (std::size_t i = 0; i < n; ++i) {
        force_scale_ = std::max(force_scale_, std::abs(cell.gradient[first + i]));
        const Index row = of_u_[ordinal(cell.nodes[i / d_]) * d_ + i % d_];
        if (row < 0) continue;
        g(row) += cell.gradient[first + i];
        for (std::size_t j = 0; j < n; ++j) {
          const Index column = of_u_[ordinal(cell.nodes[j / d_]) * d_ + j % d_];
          if (column >= 0) entries.emplace_back(row, column, cell.hessian[(first + i) * size + first + j]);
        }
      }
    });
    for (std::size_t i = 0; i < of_u_.size(); ++i)
      if (of_u_[i] >= 0) g(of_u_[i]) -= potential_.dead_forces()[i];
    Matrix K(statics_, statics_);
    K.setFromTriplets(entries.begin(), entries.end());
    return K;
  }

  // Derivatives at (moved_, u_); of the gradient alone, or with the matrices.
  void derive(bool with_matrices) {
    gradient_ = Vector::Zero(size_);
    nodal_force_.assign(u_.size(), 0.0);
    barrier_force_.assign(u_.size(), 0.0);
    active_.assign(of_X_.size(), 0);
    active_cells_ = 0;
    largest_of_cells_ = 0.0;
    std::vector<Eigen::Triplet<double>> entries, metric;
    std::vector<std::vector<std::pair<Index, double>>> of;  // each of a cell's degrees of freedom: unknowns, factors
    potential_.each_cell(moved_, u_, barrier_, [&](const MeshPotential::CellDerivatives& cell) {
      const std::size_t V = cell.vertices, N = cell.nodes.size(), size = (V + N) * d_;
      if (cell.barrier_acts) ++active_cells_;
      of.assign(size, {});
      for (std::size_t v = 0; v < V; ++v) {
        const std::size_t a = ordinal(cell.nodes[v]);
        if (cell.barrier_acts) active_[a] = 1;
        for (std::size_t c = 0; c < d_; ++c) {
          largest_of_cells_ = std::max(largest_of_cells_, std::abs(cell.gradient[v * d_ + c]));
          nodal_force_[a * d_ + c] += cell.gradient[v * d_ + c] - cell.barrier_gradient[v * d_ + c];
          barrier_force_[a * d_ + c] += cell.barrier_gradient[v * d_ + c];
          for (int m = 0; m < sliding_.of_node[a].count; ++m)
            if (const double along = sliding_.of_node[a].along[static_cast<std::size_t>(m)][c]; along != 0.0)
              of[v * d_ + c].emplace_back(of_X_[a] + m, along);
        }
      }
      for (std::size_t i = 0; i < N * d_; ++i)
        if (const Index row = of_u_[ordinal(cell.nodes[i / d_]) * d_ + i % d_]; row >= 0)
          of[V * d_ + i].emplace_back(row, 1.0);
      for (std::size_t i = 0; i < size; ++i)
        for (const auto& [row, factor] : of[i]) {
          gradient_(row) += factor * cell.gradient[i];
          if (!with_matrices) continue;
          for (std::size_t j = 0; j < size; ++j)
            for (const auto& [column, other] : of[j]) {
              entries.emplace_back(row, column, factor * other * cell.hessian[i * size + j]);
              if (i < V * d_ && j < V * d_ && i % d_ == j % d_)
                metric.emplace_back(row, column, factor * other * cell.metric[i / d_ * V + j / d_]);
            }
        }
    });
    for (std::size_t i = 0; i < of_u_.size(); ++i)
      if (of_u_[i] >= 0) gradient_(of_u_[i]) -= potential_.dead_forces()[i];
    if (!with_matrices) return;
    hessian_.resize(size_, size_);
    hessian_.setFromTriplets(entries.begin(), entries.end());
    metric_.resize(size_, size_);
    metric_.setFromTriplets(metric.begin(), metric.end());
  }

  double largest(bool of_all) const {
    double most = 0.0;
    for (std::size_t a = 0; a < of_X_.size(); ++a) {
      if (!of_all && active_[a] != 0) continue;
      double squared = 0.0;
      for (int m = 0; m < sliding_.of_node[a].count; ++m) {
        double along = 0.0;
        for (std::size_t c = 0; c < d_; ++c)
          along += sliding_.of_node[a].along[static_cast<std::size_t>(m)][c] *
                   (nodal_force_[a * d_ + c] + (of_all ? barrier_force_[a * d_ + c] : 0.0));
        squared += along * along;
      }
      most = std::max(most, std::sqrt(squared));
    }
    return most;
  }

  const MeshPotential& potential_;
  const SlidingNodes& sliding_;
  ShapeBarrier barrier_;
  std::size_t d_;
  Index size_ = 0, statics_ = 0;    // unknowns, of them displacements
  std::vector<Index> of_u_, of_X_;  // of components, of nodes; -1: none
  std::vector<double> moved_, u_, nodal_force_, barrier_force_;
  std::vector<char> active_;
  Index active_cells_ = 0;
  Vector gradient_;
  Matrix hessian_, metric_, matrix_;
  bool lost_equilibrium_ = false;  // when a step was last looked for
  double force_scale_ = 0.0, largest_of_cells_ = 0.0;
  SparseFactors joint_{SparseFactors::Kind::positive}, static_{SparseFactors::Kind::positive};
};

}  // namespace

AdaptedMesh adapt_mesh(const MeshPotential& potential, const SlidingNodes& sliding, std::vector<double> u,
                       const std::vector<char>& held, AdaptionOptions options,
                       const std::function<bool(const AdaptionState&)>& on_iteration) {
  return Adaption(potential, sliding, held, options)(std::move(u), options, on_iteration);
}

}  // namespace tempi
