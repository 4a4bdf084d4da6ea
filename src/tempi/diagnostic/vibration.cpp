// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/vibration.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/integrator/one_step/newton.hpp"
#include "tempi/model/assembled_stiffness.hpp"
#include "tempi/model/state.hpp"

namespace tempi {

Vibration slowest_vibration(const Model& model, std::span<const double> u) {
  using Matrix = Eigen::SparseMatrix<double>;
  AssembledStiffness assembled(model);
  const Matrix& K = assembled(u, 0.0);
  const auto d = static_cast<Index>(model.dim());
  std::vector<Index> row(u.size(), -1), of_row;
  for (Index i = 0; i < std::ssize(row); ++i)
    if (model.supports().support_of(make_id<NodeId>(i / d), static_cast<int>(i % d)) == Supports::none) {
      row[static_cast<std::size_t>(i)] = std::ssize(of_row);
      of_row.push_back(i);
    }
  std::vector<Eigen::Triplet<double>> entries;
  for (Index c = 0; c < K.outerSize(); ++c)
    for (Matrix::InnerIterator e(K, c); e; ++e) {
      const Index i = row[static_cast<std::size_t>(e.row())], j = row[static_cast<std::size_t>(e.col())];
      if (i >= 0 && j >= 0) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), e.value());
    }
  const Index n = std::ssize(of_row);
  Matrix free(n, n);
  free.setFromTriplets(entries.begin(), entries.end());
  SparseFactors factors(SparseFactors::Kind::positive);
  if (n == 0 || !factors.factorise(free))
    throw InputError("the model's stiffness cannot be factorised: hold it somewhere, but not everywhere.");
  constexpr Index shapes = 6;  // taken together: several may be as slow, as the two bendings of a square bar
  constexpr int most_turns = 500;
  Eigen::VectorXd mass(n);
  Eigen::MatrixXd X(n, std::min(shapes, n));
  for (Index i = 0; i < n; ++i) {
    mass(i) = model.mass()[static_cast<std::size_t>(of_row[static_cast<std::size_t>(i)] / d)];
    for (Index k = 0; k < X.cols(); ++k)  // has a part of every shape
      X(i, k) = std::sin(static_cast<double>((1 + k) * (1 + i) + k * k));
  }
  double lambda = 0.0, residual = 1.0;  // lambda K^-1 M x - x: K x has the rounding of stiffnesses that cancel
  for (int turn = 0; turn < most_turns; ++turn) {
    const Eigen::MatrixXd MX = mass.asDiagonal() * X;
    Eigen::MatrixXd Y(n, X.cols());
    for (Index k = 0; k < X.cols(); ++k) Y.col(k) = factors.solve(MX.col(k));
    const Eigen::VectorXd off = lambda * Y.col(0) - X.col(0);
    residual = turn == 0 ? 1.0 : std::sqrt(off.dot(mass.cwiseProduct(off)));
    if (residual < 1e-10) break;
    const Eigen::MatrixXd A = Y.transpose() * MX, B = Y.transpose() * (mass.asDiagonal() * Y);
    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> ritz(0.5 * (A + A.transpose()), B);
    if (ritz.info() != Eigen::Success) break;
    lambda = ritz.eigenvalues()(0);
    X = Y * ritz.eigenvectors();
  }
  if (!(lambda > 0.0) || !(residual < 1e-10)) throw InputError("no slowest vibration was found: is the model held?");
  Vibration found{std::vector<double>(u.size(), 0.0), std::sqrt(lambda)};
  for (Index i = 0; i < n; ++i) found.shape[static_cast<std::size_t>(of_row[static_cast<std::size_t>(i)])] = X(i, 0);
  return found;
}

MeasuredVibration measure_vibration(const Model& model, std::span<const double> u, Integrator& integrator,
                                    const Vibration& vibration, double amplitude, double periods, int samples) {
  const auto d = static_cast<std::size_t>(model.dim());
  const std::vector<double>& shape = vibration.shape;
  State state = reference_state(model);
  for (std::size_t i = 0; i < u.size(); ++i) state.displacement[i] = u[i] + amplitude * shape[i];
  const double end = periods * 2.0 * std::numbers::pi / vibration.frequency, rest = model.potential_energy(u, 0.0);
  double last = 0.0, turns = 0.0, begun = 0.0, off = 0.0;
  double t_mean = 0.0, phase_mean = 0.0, tt = 0.0, tp = 0.0;
  for (int i = 0; i <= samples; ++i) {
    const double t = end * i / samples;
    integrator.advance_to(state, t);
    const Snapshot now = integrator.synchronized(state, t);
    double x = 0.0, v = 0.0;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      x += shape[k] * model.mass()[k / d] * (now.state.displacement[k] - u[k]);
      v += shape[k] * model.mass()[k / d] * now.state.velocity[k];
    }
    const double phase = std::atan2(-v / vibration.frequency, x);
    if (i > 0 && std::abs(phase - last) > std::numbers::pi)
      turns += std::copysign(2.0 * std::numbers::pi, last - phase);
    last = phase;
    const Energies e = energies(model, now);
    const double energy = e.kinetic + e.potential - rest;
    if (i == 0) begun = energy;
    off = std::max(off, std::abs(energy - begun));
    const double dt = t - t_mean, count = i + 1;  // means and sums of squares as they grow
    t_mean += dt / count;
    const double dp = phase + turns - phase_mean;
    phase_mean += dp / count;
    tt += dt * (t - t_mean);
    tp += dt * (phase + turns - phase_mean);
  }
  return {tp / tt / vibration.frequency - 1.0, off / begun};
}

}  // namespace tempi
