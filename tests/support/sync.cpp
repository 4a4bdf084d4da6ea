// SPDX-License-Identifier: Apache-2.0
#include "support/sync.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "tempi/model/assembled_stiffness.hpp"

namespace tempi::test {

double Springs::energy(Index k, std::span<const double> u, double) const {
  const double e = difference(k, u).norm() - length(k);
  return 0.5 * k_ * e * e + 0.25 * c_ * e * e * e * e;
}
double Springs::add_gradient(Index k, std::span<const double> u, double, std::span<double> g) const {
  const Eigen::VectorXd w = difference(k, u);
  const double r = w.norm(), e = r - length(k), slope = k_ * e + c_ * e * e * e;
  for (Index i = 0; i < dim_; ++i) {
    g[static_cast<std::size_t>(dim_ + i)] += slope / r * w(i);
    g[static_cast<std::size_t>(i)] -= slope / r * w(i);
  }
  return r;
}
void Springs::add_hessian(Index k, std::span<const double> u, double, std::span<double> H) const {
  const Eigen::VectorXd w = difference(k, u);
  const double r = w.norm(), e = r - length(k), slope = k_ * e + c_ * e * e * e, curvature = k_ + 3.0 * c_ * e * e;
  const Eigen::VectorXd n = w / r;
  for (Index i = 0; i < 2 * dim_; ++i)
    for (Index j = 0; j < 2 * dim_; ++j) {
      const Index a = i % dim_, b = j % dim_;
      const double along = n(a) * n(b), value = curvature * along + slope / r * ((a == b ? 1.0 : 0.0) - along);
      H[static_cast<std::size_t>(i * 2 * dim_ + j)] += (i < dim_) == (j < dim_) ? value : -value;
    }
}
std::string Springs::describe(Index k) const { return fmt::format("spring {}", k); }

Eigen::VectorXd Springs::difference(Index k, std::span<const double> u) const {
  const auto& [a, b] = pairs_[static_cast<std::size_t>(k)];
  Eigen::VectorXd w(dim_);
  for (Index c = 0; c < dim_; ++c) {
    const auto i = static_cast<std::size_t>(index(a) * dim_ + c), j = static_cast<std::size_t>(index(b) * dim_ + c);
    w(c) = reference_[j] - reference_[i] + (u[j] - u[i]);
  }
  return w;
}
double Springs::length(Index k) const { return difference(k, std::vector<double>(reference_.size(), 0.0)).norm(); }

std::unique_ptr<Model> spring_model(double c, Supports supports) {
  Model::Parts parts;
  parts.dim = 2;
  parts.reference = {0.0, 0.0, 1.0, 0.1, 0.3, 0.9, 1.4, 1.2};
  parts.mass = {1.0, 0.7, 1.3, 0.9};
  std::vector<std::array<NodeId, 2>> pairs = {{NodeId{0}, NodeId{1}},
                                              {NodeId{1}, NodeId{2}},
                                              {NodeId{2}, NodeId{0}},
                                              {NodeId{2}, NodeId{3}}};
  parts.potentials.push_back(std::make_unique<Springs>(parts.reference, 2, std::move(pairs), 2.0, c));
  parts.supports = std::move(supports);
  return std::make_unique<Model>(std::move(parts));
}
State spinning_springs(const Model& model) {
  State state = reference_state(model);
  state.displacement = {0.05, -0.02, 0.1, 0.03, -0.06, 0.04, 0.02, 0.07};
  state.velocity = {0.3, -0.5, 0.2, 0.6, -0.7, 0.1, -0.2, 0.4};
  return state;
}

ModalMotion::ModalMotion(const Model& model, const State& start) : u0_(start.displacement), v0_(start.velocity) {
  const auto n = static_cast<Index>(start.displacement.size());
  for (Index i = 0; i < n; ++i)
    if (model.supports().support_of(make_id<NodeId>(i / model.dim()), static_cast<int>(i % model.dim())) ==
        Supports::none)
      free_.push_back(i);
  const auto m = static_cast<Index>(free_.size());
  AssembledStiffness assembled(model);
  const auto& K = assembled(std::vector<double>(start.displacement.size(), 0.0), 0.0);
  Eigen::MatrixXd scaled(m, m);
  mass_.resize(m);
  for (Index i = 0; i < m; ++i) mass_(i) = model.mass(make_id<NodeId>(free_[at(i)] / model.dim()));
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < m; ++j) scaled(i, j) = K.coeff(free_[at(i)], free_[at(j)]) / std::sqrt(mass_(i) * mass_(j));
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> modes(scaled);
  squares_ = modes.eigenvalues();
  shapes_ = modes.eigenvectors();
}
std::pair<std::vector<double>, std::vector<double>> ModalMotion::operator()(double t) const {
  const auto m = static_cast<Index>(free_.size());
  Eigen::VectorXd u(m), v(m);
  for (Index i = 0; i < m; ++i) {
    u(i) = std::sqrt(mass_(i)) * u0_[at(free_[at(i)])];
    v(i) = std::sqrt(mass_(i)) * v0_[at(free_[at(i)])];
  }
  const Eigen::VectorXd a = shapes_.transpose() * u, b = shapes_.transpose() * v;
  Eigen::VectorXd x(m), y(m);
  for (Index k = 0; k < m; ++k) {
    const double w = std::sqrt(std::max(0.0, squares_(k)));
    x(k) = a(k) * std::cos(w * t) + b(k) * (w > 0.0 ? std::sin(w * t) / w : t);
    y(k) = b(k) * std::cos(w * t) - a(k) * w * std::sin(w * t);
  }
  x = shapes_ * x, y = shapes_ * y;
  std::vector<double> at_t = u0_, speed = v0_;
  for (Index i = 0; i < m; ++i) {
    at_t[at(free_[at(i)])] = x(i) / std::sqrt(mass_(i));
    speed[at(free_[at(i)])] = y(i) / std::sqrt(mass_(i));
  }
  return {at_t, speed};
}

Body chain() { return make_body_held_at(bar_mesh(6, 0.1, 3), LinearElastic{{1.3, 0.7}}, 1.2, "left"); }
State smooth_motion(const Body& body) {
  State state = reference_state(*body.model);
  for (std::size_t a = 0; a < state.velocity.size(); ++a) {
    const double X = body.mesh->points()[a];
    state.displacement[a] = 0.01 * std::sin(1.3 * X);
    state.velocity[a] = 0.02 * X * (1.0 - 0.3 * X);
  }
  return state;
}

std::array<double, 2> orders_on_the_chain(const MakeStepper& make, double largest_step) {
  const Body body = chain();
  const ModalMotion exact(*body.model, smooth_motion(body));
  const double t = 4.0;
  const auto [u, v] = exact(t);
  std::vector<double> steps, errors_u, errors_v;
  const double base = t / std::ceil(t / (largest_step / exact.largest_frequency()));
  for (const double h : {base, base / 2, base / 4, base / 8}) {
    State state = smooth_motion(body);
    const auto integrator = make(*body.model, h);
    integrator->advance_to(state, t);
    const State at = integrator->synchronized(state, t).state;
    steps.push_back(h);
    errors_u.push_back(largest_difference(at.displacement, u));
    errors_v.push_back(largest_difference(at.velocity, v));
  }
  return {slope(steps, errors_u), slope(steps, errors_v)};
}

double miss_after_running_back(const MakeStepper& make, const Model& model, const State& start, double h, int steps) {
  State state = start;
  for (int way = 0; way < 2; ++way) {
    const auto integrator = make(model, h);
    integrator->advance_to(state, steps * h);
    state = integrator->synchronized(state, steps * h).state;
    for (double& v : state.velocity) v = -v;
    for (double& clock : state.clock) clock = 0.0;
  }
  return std::max(largest_difference(state.displacement, start.displacement),
                  largest_difference(state.velocity, start.velocity));
}

Eigen::MatrixXd tangent_of(const MakeStepper& make, const Model& model, const State& at, double h, int steps) {
  const auto n = static_cast<Index>(at.displacement.size());
  constexpr double spacing = 1e-5;
  const auto m = [&](Index i) { return model.mass(make_id<NodeId>(i / model.dim())); };
  const auto flow = [&](Index j, double by) {
    State state = at;
    const auto i = static_cast<std::size_t>(j % n);
    (j < n ? state.displacement[i] : state.velocity[i]) += j < n ? by : by / m(j % n);
    const auto integrator = make(model, h);
    integrator->advance_to(state, steps * h);
    return integrator->synchronized(state, steps * h).state;
  };
  Eigen::MatrixXd A(2 * n, 2 * n);
  for (Index j = 0; j < 2 * n; ++j) {
    const State up = flow(j, spacing), down = flow(j, -spacing);
    for (Index k = 0; k < n; ++k) {
      const auto row = static_cast<std::size_t>(k);
      A(k, j) = (up.displacement[row] - down.displacement[row]) / (2.0 * spacing);
      A(k + n, j) = m(k) * (up.velocity[row] - down.velocity[row]) / (2.0 * spacing);
    }
  }
  return A;
}

Eigen::MatrixXd form(const Eigen::MatrixXd& dx_dq) {
  const Index n = dx_dq.rows();
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  J.topRightCorner(n, n) = dx_dq.transpose();
  J.bottomLeftCorner(n, n) = -dx_dq;
  return J;
}
double symplectic_defect(const MakeStepper& make, const Model& model, const State& at, double h, int steps) {
  const Eigen::MatrixXd A = tangent_of(make, model, at, h, steps);
  const Eigen::MatrixXd J = form(Eigen::MatrixXd::Identity(A.rows() / 2, A.rows() / 2));
  return (A.transpose() * J * A - J).cwiseAbs().maxCoeff();
}

std::unique_ptr<Model> line_of_masses(std::vector<double> masses, double c) {
  Model::Parts parts;
  parts.dim = 1;
  parts.mass = std::move(masses);
  std::vector<std::array<NodeId, 2>> pairs;
  for (std::size_t a = 0; a < parts.mass.size(); ++a) {
    parts.reference.push_back(static_cast<double>(a));
    if (a > 0) pairs.push_back({make_id<NodeId>(static_cast<Index>(a) - 1), make_id<NodeId>(static_cast<Index>(a))});
  }
  parts.potentials.push_back(std::make_unique<Springs>(parts.reference, 1, std::move(pairs), 2.0, c));
  return std::make_unique<Model>(std::move(parts));
}
State moving_masses(const Model& model) {
  State state = reference_state(model);
  for (std::size_t a = 0; a < state.velocity.size(); ++a) {
    state.displacement[a] = 0.2 * std::sin(3.0 * static_cast<double>(a) + 1.0);
    state.velocity[a] = 0.4 * std::cos(5.0 * static_cast<double>(a));
  }
  return state;
}

double stable_limit(const Model& model) { return 2.0 / ModalMotion(model, reference_state(model)).largest_frequency(); }

}  // namespace tempi::test
