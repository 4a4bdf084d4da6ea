// SPDX-License-Identifier: Apache-2.0
// What tests of synchronous steppers share: nonlinear springs, chains with their exact modal motion, running back.
#pragma once

#include <Eigen/Core>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/runs.hpp"
#include "tempi/core/error.hpp"

namespace tempi::test {

// Springs between pairs of nodes: V = k/2 e^2 + c/4 e^4, e = r - l, l the reference distance.
class Springs final : public LocalPotential {
 public:
  Springs(std::vector<double> reference, int dim, std::vector<std::array<NodeId, 2>> pairs, double k, double c)
      : reference_(std::move(reference)), dim_(dim), pairs_(std::move(pairs)), k_(k), c_(c) {}

  Index size() const override { return static_cast<Index>(pairs_.size()); }
  int dim() const override { return dim_; }
  std::span<const NodeId> stencil(Index k) const override { return pairs_[static_cast<std::size_t>(k)]; }
  double energy(Index k, std::span<const double> u, double) const override;
  double add_gradient(Index k, std::span<const double> u, double, std::span<double> g) const override;
  void add_hessian(Index k, std::span<const double> u, double, std::span<double> H) const override;
  double mass(Index, std::size_t) const override { return 0.0; }
  std::string describe(Index k) const override;

 private:
  Eigen::VectorXd difference(Index k, std::span<const double> u) const;
  double length(Index k) const;

  std::vector<double> reference_;
  int dim_;
  std::vector<std::array<NodeId, 2>> pairs_;
  double k_, c_;
};

// A free triangle and a tail of springs in the plane; k = 2, c as given.
std::unique_ptr<Model> spring_model(double c, Supports supports = {});
State spinning_springs(const Model& model);

// The exact motion of a linear model in small displacements: its modes, components held at rest taken out.
class ModalMotion {
 public:
  ModalMotion(const Model& model, const State& start);
  double largest_frequency() const { return std::sqrt(squares_.maxCoeff()); }

  // Displacements and velocities at t.
  std::pair<std::vector<double>, std::vector<double>> operator()(double t) const;

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  std::vector<double> u0_, v0_;
  std::vector<Index> free_;
  Eigen::VectorXd mass_, squares_;  // of frequencies
  Eigen::MatrixXd shapes_;          // of unit mass, a mode a column
};

// A chain of linear bars, held at one end, and a smooth motion of it.
Body chain();
State smooth_motion(const Body& body);

using MakeStepper = std::function<std::unique_ptr<Integrator>(const Model&, double step)>;

// Worst slope of the errors of positions and velocities of the chain against its exact motion, over three halvings.
std::array<double, 2> orders_on_the_chain(const MakeStepper& make, double largest_step);

// How far the motion misses its start when it goes `steps` steps, turns round and comes back.
double miss_after_running_back(const MakeStepper& make, const Model& model, const State& start, double h, int steps);

// The tangent of n steps in (q, p), by central differences; see verification/symplectic_test.cpp.
Eigen::MatrixXd tangent_of(const MakeStepper& make, const Model& model, const State& at, double h, int steps);

// The form dx wedge dp, x of the Jacobian dx/dq.
Eigen::MatrixXd form(const Eigen::MatrixXd& dx_dq);
double symplectic_defect(const MakeStepper& make, const Model& model, const State& at, double h, int steps);

// Masses on nonlinear springs in a line, free: k = 2.
std::unique_ptr<Model> line_of_masses(std::vector<double> masses, double c);
State moving_masses(const Model& model);

// 2 / omega_max of the assembled model at rest.
double stable_limit(const Model& model);

}  // namespace tempi::test
