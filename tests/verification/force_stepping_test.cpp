// SPDX-License-Identifier: Apache-2.0
// Force-stepping: against the definition evaluated by brute force, the thesis' figures, its own invariants. Gonzalez
// (2011), chapter 3.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <filesystem>
#include <numbers>

#include "support/measure.hpp"
#include "support/pair_cases.hpp"
#include "support/stepping_methods.hpp"
#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"
#include "tempi/integrator/one_step/sync_variational.hpp"
#include "tempi/integrator/stepping/stepping_force.hpp"
#include "tempi/potential/wells.hpp"

namespace tempi::test {
namespace {

constexpr double pi = std::numbers::pi;

// V = -1/r about the origin, as a field: a point with unit mass.
class Centre final : public LocalPotential {
 public:
  explicit Centre(std::vector<double> at) : at_(std::move(at)) {}
  Index size() const override { return 1; }
  int dim() const override { return 2; }
  std::span<const NodeId> stencil(Index) const override { return node_; }
  double energy(Index, std::span<const double> u, double) const override { return -1.0 / r(u); }
  double add_gradient(Index, std::span<const double> u, double, std::span<double> g) const override {
    for (std::size_t c = 0; c < 2; ++c) g[c] += (at_[c] + u[c]) / std::pow(r(u), 3);
    return 1.0;
  }
  void add_hessian(Index, std::span<const double>, double, std::span<double>) const override {}
  double mass(Index, std::size_t) const override { return 0.0; }
  std::string describe(Index) const override { return "centre"; }

 private:
  double r(std::span<const double> u) const { return std::hypot(at_[0] + u[0], at_[1] + u[1]); }
  std::vector<double> at_;
  std::array<NodeId, 1> node_ = {NodeId{0}};
};

// Section 3.6.1.1: from the pericentre of an ellipse of semi-axis 1; a period is 2 pi.
std::unique_ptr<Model> kepler(double e) {
  Model::Parts parts = particles(2, {1.0 - e, 0.0}, {1.0});
  parts.add(std::make_unique<Centre>(parts.reference));
  return std::make_unique<Model>(std::move(parts));
}
State start_of_kepler(const Model& model, double e) {
  State state = reference_state(model);
  state.velocity = {0.0, std::sqrt((1.0 + e) / (1.0 - e))};
  return state;
}

State start_of_atoms(const Body& body) {
  State state = reference_state(*body.model);
  Random random(3);
  for (double& v : state.velocity) v = random.uniform(-0.4, 0.4);
  for (double& u : state.displacement) u = random.uniform(-0.01, 0.01);  // off the planes of every grid
  return state;
}

double mean_step(const SteppingForce& method) { return method.step(TermId{0}); }

// Mean step, T + V_h to rounding and angular momentum in a band over the thesis' 32 orbits.
TEST(ForceStepping, takes_the_mean_step_of_the_thesis_around_keplers_centre) {
  const double e = 0.85;
  const auto model = kepler(e);
  SteppingForce method(*model, {{0.022}}, 1.0);
  State state = start_of_kepler(*model, e);
  method.advance_to(state, 1e-9);
  const double energy = method.stepped_energy();
  double strayed = 0.0, least = 1e9, most = 0.0;
  for (int i = 1; i <= 640; ++i) {
    method.advance_to(state, 64.0 * pi * i / 640);
    strayed = std::max(strayed, std::abs(method.stepped_energy() - energy));
    const auto& u = state.displacement;
    const double L = (1.0 - e + u[0]) * state.velocity[1] - u[1] * state.velocity[0];
    least = std::min(least, L), most = std::max(most, L);
  }
  EXPECT_NEAR(0.0125, mean_step(method), 0.01 * 0.0125);
  EXPECT_LT(strayed, 1e-11 * std::abs(energy));
  EXPECT_LT((most - least) / std::sqrt(1.0 - e * e), 0.1);
  EXPECT_GT(most - least, 1e-6) << "angular momentum is not exact";
}

// Faces are the planes q_i = n h and q_i - q_j = n h, so the number of steps is the total variation of q_i and q_i -
// q_j along the path over h: around an ellipse of semi-axes 1 and b, (4 + 4 b + 4 sqrt(1 + b^2)) / h.
TEST(ForceStepping, takes_as_many_steps_as_the_path_crosses_planes) {
  const double e = 0.85, b = std::sqrt(1.0 - e * e);
  const auto model = kepler(e);
  for (const double h : {0.022, 0.011, 0.0055}) {
    SCOPED_TRACE(h);
    SteppingForce method(*model, {{h}}, 1.0);
    State state = start_of_kepler(*model, e);
    method.advance_to(state, 64.0 * pi);
    const double expected = 32.0 * (4.0 + 4.0 * b + 4.0 * std::sqrt(1.0 + b * b)) / h;
    EXPECT_NEAR(expected, static_cast<double>(method.updates(TermId{0})), 0.05 * expected);
  }
}

// The interpolation by brute force: V_h where we are from the corners of the simplex found by sorting fractions, forces
// by the differences.
std::vector<double> interpolated_force(const Model& model, double h, const std::vector<double>& at) {
  const std::size_t n = at.size();
  std::vector<std::size_t> order(n);
  std::vector<double> fraction(n), u(n), f(n);
  for (std::size_t j = 0; j < n; ++j) {
    order[j] = j;
    fraction[j] = at[j] / h - std::floor(at[j] / h);
    u[j] = h * std::floor(at[j] / h) - model.reference()[j];
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return fraction[a] > fraction[b]; });
  double before = model.potential_energy(u, 0.0);
  for (const std::size_t j : order) {
    u[j] += h;
    const double after = model.potential_energy(u, 0.0);
    f[j] = -(after - before) / h;
    before = after;
  }
  return f;
}

// The motion by many small steps of the exact parabola of whichever simplex we are in.
TEST(ForceStepping, follows_the_piecewise_linear_potential) {
  const Body body = atoms();
  const Model& model = *body.model;
  const double h = 0.05, end = 0.4;
  const std::size_t n = 14;
  SteppingForce method(model, {{h}}, 1.0);
  State state = start_of_atoms(body);
  method.advance_to(state, end);
  const State ours = method.synchronized(state, end).state;
  std::vector<double> q = start_of_atoms(body).displacement;
  for (std::size_t j = 0; j < n; ++j) q[j] += model.reference()[j];
  const auto force = [&](const std::vector<double>& at) { return interpolated_force(model, h, at); };
  // Small steps miss where faces are by their length: order one.
  std::vector<double> lengths, errors;
  for (const int steps : {10'000, 40'000, 160'000}) {
    const double dt = end / steps;
    std::vector<double> x = q, v = start_of_atoms(body).velocity;
    for (int i = 0; i < steps; ++i) {
      const auto f = force(x);
      for (std::size_t j = 0; j < n; ++j) x[j] += dt * (v[j] + 0.5 * dt * f[j]), v[j] += dt * f[j];
    }
    for (std::size_t j = 0; j < n; ++j) x[j] -= model.reference()[j];
    lengths.push_back(dt);
    errors.push_back(std::max(largest_difference(x, ours.displacement), largest_difference(v, ours.velocity)));
  }
  EXPECT_GT(method.updates(TermId{0}), 50);
  EXPECT_LT(errors.back(), 3e-3);
  EXPECT_GT(slope(lengths, errors), 0.5);
}

TEST(ForceStepping, keeps_its_energy_over_a_hundred_thousand_steps) {
  const Body body = atoms();
  SteppingForce method(*body.model, {{0.01}}, 1.0);
  State state = start_of_atoms(body);
  method.advance_to(state, 1e-9);
  const double before = method.stepped_energy();
  double worst = 0.0;
  for (int i = 1; method.updates(TermId{0}) < 100'000; ++i) {
    method.advance_to(state, 0.5 * i);
    worst = std::max(worst, std::abs(method.stepped_energy() - before));
  }
  EXPECT_LT(worst, 1e-11 * std::abs(before));
}

TEST(ForceStepping, runs_elastic_bodies_and_books_supports) {
  const Body body =
      make_body_held_at(triangle_mesh(CellType::triangle3, 2, 0.1, 2), NeoHookean{{1.3, 0.7}}, 1.2, "left");
  State state = moving_state(body, 0.0, 0.05, 4);
  for (const NodeId a : body.model->supports().held_nodes())
    for (std::size_t c = 0; c < 2; ++c) state.velocity[2 * ordinal(a) + c] = 0.0;
  SteppingForce method(*body.model, {{0.003}}, 1.0);
  method.advance_to(state, 1e-9);
  const double before = method.stepped_energy();
  method.advance_to(state, 3.0);
  EXPECT_GT(method.updates(TermId{0}), 1000);
  EXPECT_LT(std::abs(method.stepped_energy() - before), 1e-12 * std::abs(before) + 1e-16);
  for (const NodeId a : body.model->supports().held_nodes()) EXPECT_EQ(0.0, state.displacement[2 * ordinal(a)]);
}

TEST(ForceStepping, is_reversible) {
  const double e = 0.85;
  const auto model = kepler(e);
  const State start = start_of_kepler(*model, e);
  State state = start;
  for (int way = 0; way < 2; ++way) {
    SteppingForce method(*model, {{0.022}}, 1.0);
    method.advance_to(state, 4.0 * pi);
    state = method.synchronized(state, 4.0 * pi).state;
    for (double& v : state.velocity) v = -v;
    std::ranges::fill(state.clock, 0.0);
  }
  EXPECT_LT(largest_difference(state.displacement, start.displacement), 1e-6);
}

TEST(ForceStepping, is_symplectic_across_faces) {
  const Body body = atoms();
  const auto n = static_cast<Eigen::Index>(2 * body.model->node_count());
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  J.topRightCorner(n, n).setIdentity();
  J.bottomLeftCorner(n, n) = -Eigen::MatrixXd::Identity(n, n);
  const double spacing = 1e-8, omega = 20.0;  // about the fastest: scales momenta to be like places
  for (const double loss : {0.0, 0.02}) {
    std::vector<Index> counts;
    const auto flow = [&](State state) {
      SteppingForce method(*body.model, {{0.1937}}, 1.0);
      method.advance_to(state, 0.15);
      counts.push_back(method.updates(TermId{0}));
      State end = method.synchronized(state, 0.15).state;
      for (double& v : end.velocity) v *= 1.0 - loss;
      return end;
    };
    Eigen::MatrixXd A = derivative_by_differences(start_of_atoms(body), spacing, flow);
    A.topRightCorner(n, n) *= omega;
    A.bottomLeftCorner(n, n) /= omega;
    ASSERT_EQ(std::ranges::count(counts, counts.front()), std::ssize(counts)) << "a face lies within the differences";
    ASSERT_GE(counts.front(), 10);
    const double defect = (A.transpose() * J * A - J).cwiseAbs().maxCoeff();
    EXPECT_EQ(defect < 1e-4, loss == 0.0) << defect << " where entries are up to " << A.cwiseAbs().maxCoeff();
  }
}

// Eqs. (3.63) to (3.69) with the sign of (3.70) kept: what is before and after a face of normal n ~ dV_II - dV_I, unit
// masses, `q`, `v` a time `tau` before it and the end at `T`. Forces, not their negatives, are given.
Eigen::MatrixXd across_face(const Eigen::VectorXd& v, const Eigen::VectorXd& before, const Eigen::VectorXd& after,
                            double tau, double T) {
  const Eigen::Index d = v.size();
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(d, d);
  const Eigen::VectorXd jump = before - after, n = jump.normalized();
  const Eigen::RowVectorXd by_q = -n.transpose() / (v + tau * before).dot(n);  // of the time of the face
  Eigen::MatrixXd A(2 * d, 2 * d);
  A << one + (T - tau) * jump * by_q, T * one + (T - tau) * tau * jump * by_q, jump * by_q, one + tau * jump * by_q;
  return A;
}

TEST(ForceStepping, has_the_derivative_of_the_closed_form) {
  const Body body = atoms();
  const Model& model = *body.model;
  const double h = 0.1937, end = 0.15;
  constexpr int parts = 4000;
  const auto n = static_cast<Eigen::Index>(2 * model.node_count());
  Eigen::MatrixXd A = Eigen::MatrixXd::Identity(2 * n, 2 * n), J = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  J.topRightCorner(n, n).setIdentity();
  J.bottomLeftCorner(n, n) = -Eigen::MatrixXd::Identity(n, n);
  SteppingForce method(model, {{h}}, 1.0);
  State state = start_of_atoms(body);
  const auto force_at = [&](const State& at) {
    std::vector<double> q = at.displacement;
    for (std::size_t j = 0; j < q.size(); ++j) q[j] += model.reference()[j];
    const std::vector<double> f = interpolated_force(model, h, q);
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(f.data(), n));
  };
  const auto velocity = [&](const State& at) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(at.velocity.data(), n));
  };
  Index faces = 0;
  for (int i = 0; i < parts; ++i) {
    const double dt = end / parts;
    const State before = method.synchronized(state, i * dt).state;
    method.advance_to(state, (i + 1) * dt);
    const State after = method.synchronized(state, (i + 1) * dt).state;
    const Index crossed = method.updates(TermId{0}) - faces;
    faces += crossed;
    ASSERT_LE(crossed, 1) << "finer parts";
    Eigen::MatrixXd one = Eigen::MatrixXd::Identity(2 * n, 2 * n);
    one.topRightCorner(n, n) = dt * Eigen::MatrixXd::Identity(n, n);
    const Eigen::VectorXd f = force_at(before), g = force_at(after);
    if ((g - f).norm() > 1e-9 * f.norm()) {  // else a face whose sides have the same force
      EXPECT_EQ(crossed, 1);
      const Eigen::VectorXd v = velocity(before);
      Eigen::Index most = 0;
      (g - f).cwiseAbs().maxCoeff(&most);
      const double tau = ((velocity(after) - v)[most] - g[most] * dt) / (f - g)[most];
      EXPECT_GE(tau, -1e-9 * dt);
      EXPECT_LE(tau, (1.0 + 1e-9) * dt);
      // Eq. (3.70): a face has the normal e_i, or e_i - e_j.
      EXPECT_LE(((g - f).array().abs() > 1e-9 * (g - f).norm()).count(), 2);
      one = across_face(v, f, g, tau, dt);
      EXPECT_LT((one.transpose() * J * one - J).cwiseAbs().maxCoeff(), 1e-12 * std::pow(one.cwiseAbs().maxCoeff(), 2));
    }
    A = one * A;
  }
  EXPECT_GE(faces, 10);
  const auto flow = [&](State s) {
    SteppingForce again(model, {{h}}, 1.0);
    again.advance_to(s, end);
    return again.synchronized(s, end).state;
  };
  const double worst = (derivative_by_differences(start_of_atoms(body), 1e-8, flow) - A).cwiseAbs().maxCoeff();
  EXPECT_LT(worst, 1e-5 * A.cwiseAbs().maxCoeff());
}

TEST(ForceStepping, goes_on_to_the_same_bits) {
  const Body body = atoms();
  const State start = start_of_atoms(body);
  for (const bool parity : {false, true})
    for (const bool reduced : {false, true})
      expect_same_bits_through_checkpoints(*body.model, start, 3.0, 10, [&] {
        return std::make_unique<SteppingForce>(*body.model, ForceGrid{{0.02}, parity, reduced}, 1.0);
      });
  Model::Parts parts = particles(2, {0.0, 0.0, 0.15, 0.0}, {3.0, 1.0});
  parts.add(make_pairs(parts.reference, 2, parts.mass, all_pairs(2), Gravitation{1.0 / 3.0}));
  const Model two(std::move(parts));
  State orbit = reference_state(two);
  orbit.velocity = {0.1, -0.8, 0.1, 2.4};
  expect_same_bits_through_checkpoints(two, orbit, 9.0, 10, [&] {
    return std::make_unique<SteppingForce>(two, ForceGrid{{0.0067}, false, true}, 1.0);
  });
  const auto file = std::filesystem::temp_directory_path() / "tempi_force_stepping.bin";
  SteppingForce written(*body.model, {{0.02}}, 1.0), other(*body.model, {{0.03}}, 1.0);
  State state = start;
  written.advance_to(state, 1.0);
  write_checkpoint(file, state, written);
  EXPECT_THROW(read_checkpoint(file, state, other), InputError);
  std::filesystem::remove(file);
}

TEST(ForceStepping, converges_with_the_grid) {
  const double e = 0.5, end = 2.0 * pi;
  const auto model = kepler(e);
  std::vector<double> h, errors;
  for (const double grid : {0.02, 0.01, 0.005, 0.0025, 0.00125}) {
    SteppingForce method(*model, {{grid}}, 1.0);
    State state = start_of_kepler(*model, e);
    method.advance_to(state, end);
    h.push_back(grid);
    errors.push_back(largest(method.synchronized(state, end).state.displacement));  // back where it began
  }
  EXPECT_GT(slope(h, errors), 0.7);
  EXPECT_LT(slope(h, errors), 2.3);
}

// Theorems 3.4.1, 3.4.2: momenta tend to be kept as the grid becomes finer, over any time that is fixed.
TEST(ForceStepping, keeps_momenta_the_better_the_finer_the_grid_is) {
  const Body body = atoms();
  const State start = start_of_atoms(body);
  const Momenta before = momenta(*body.model, start);
  std::vector<double> grids = {0.04, 0.02, 0.01, 0.005, 0.0025}, linear, angular;
  for (const double h : grids) {
    SteppingForce method(*body.model, {{h}}, 1.0);
    State state = start;
    double worst_linear = 0.0, worst_angular = 0.0;
    for (int i = 1; i <= 50; ++i) {
      method.advance_to(state, 0.06 * i);
      const Momenta now = momenta(*body.model, method.synchronized(state, 0.06 * i).state);
      for (std::size_t c = 0; c < 3; ++c) {
        worst_linear = std::max(worst_linear, std::abs(now.linear[c] - before.linear[c]) / before.linear_scale);
        worst_angular = std::max(worst_angular, std::abs(now.angular[c] - before.angular[c]) / before.angular_scale);
      }
    }
    linear.push_back(worst_linear);
    angular.push_back(worst_angular);
  }
  for (const auto* errors : {&linear, &angular}) {
    EXPECT_GT(slope(grids, *errors), 0.8) << fmt::format("{}", fmt::join(*errors, " "));
    EXPECT_LT(slope(grids, *errors), 2.5) << fmt::format("{}", fmt::join(*errors, " "));
  }
}

// ---- mirrored grids, reduced coordinates ----

double linear_error(const Model& model, const State& before, const State& now) {
  const Momenta a = momenta(model, before), b = momenta(model, now);
  double worst = 0.0;
  for (std::size_t c = 0; c < 3; ++c) worst = std::max(worst, std::abs(a.linear[c] - b.linear[c]) / a.linear_scale);
  return worst;
}

TEST(ForceStepping, moves_mirror_images_alike_where_the_grid_is_mirrored) {
  const Body body = atoms();
  for (const bool reduced : {false, true})
    for (const bool parity : {true, false}) {
      SteppingForce one(*body.model, {{0.05}, parity, reduced}, 1.0),
          other(*body.model, {{0.05}, parity, reduced}, 1.0);
      State state = start_of_atoms(body), image = state;
      for (std::size_t i = 1; i < image.displacement.size(); i += 2) {  // in a plane parity turns one axis round
        image.displacement[i] = -2.0 * body.model->reference()[i] - state.displacement[i];
        image.velocity[i] = -state.velocity[i];
      }
      one.advance_to(state, 2.0);
      other.advance_to(image, 2.0);
      double apart = 0.0;
      const State a = one.synchronized(state, 2.0).state, b = other.synchronized(image, 2.0).state;
      for (std::size_t i = 0; i < a.velocity.size(); ++i)
        apart = std::max(apart, std::abs(a.velocity[i] + (i % 2 == 1 ? 1.0 : -1.0) * b.velocity[i]));
      if (parity) {
        EXPECT_LT(apart, 1e-9) << reduced;
        EXPECT_EQ(one.updates(TermId{0}), other.updates(TermId{0}));
      } else {
        EXPECT_GT(apart, 1e-5) << reduced;  // the control
      }
      EXPECT_LT(std::abs(measure(one, "level_error")), 1e-12);
    }
}

TEST(ForceStepping, keeps_the_linear_momentum_in_jacobis_coordinates) {
  Model::Parts parts = particles(3, {0.1, 0.2, 0, 1.2, 0.3, 0.1, 0.4, 1.25, -0.1, 0.6, 0.5, 1.0}, {1.0, 2.5, 0.7, 1.6});
  add_pairs(parts, all_pairs(4), LennardJones{1.0, 1.0, {}});
  const Model model(std::move(parts));
  State start = reference_state(model);
  Random random(9);
  for (double& v : start.velocity) v = random.uniform(-0.3, 0.4);
  for (const bool reduced : {true, false}) {
    SteppingForce method(model, {{0.03}, false, reduced}, 1.0);
    State state = start;
    method.advance_to(state, 0.0);
    const State there = method.synchronized(state, 0.0).state;
    for (std::size_t i = 0; i < there.velocity.size(); ++i) {
      EXPECT_NEAR(there.displacement[i], start.displacement[i], 1e-14);
      EXPECT_NEAR(there.velocity[i], start.velocity[i], 1e-14);
    }
    method.advance_to(state, 20.0);
    const double error = linear_error(model, start, method.synchronized(state, 20.0).state);
    EXPECT_GT(method.updates(TermId{0}), 10'000);
    EXPECT_LT(std::abs(measure(method, "level_error")), 1e-11);
    if (reduced) {
      EXPECT_LT(error, 1e-14);
    } else {
      EXPECT_GT(error, 1e-4);  // the control
    }
  }
  // It is the same motion: against Verlet, as the grid becomes finer.
  SyncVariational reference(model, trapezoidal_action(0.5), 1e-4);
  State moved = start;
  reference.advance_to(moved, 1.0);
  const State verlet = reference.synchronized(moved, 1.0).state;
  std::vector<double> errors;
  for (const double h : {0.02, 0.005}) {
    SteppingForce method(model, {{h}, false, true}, 1.0);
    State state = start;
    method.advance_to(state, 1.0);
    const State now = method.synchronized(state, 1.0).state;
    double worst = 0.0;
    for (std::size_t i = 0; i < now.displacement.size(); ++i)
      worst = std::max(worst, std::abs(now.displacement[i] - verlet.displacement[i]));
    errors.push_back(worst);
  }
  EXPECT_LT(errors[1], 0.5 * errors[0]);
  EXPECT_LT(errors[1], 0.01);
}

TEST(ForceStepping, reduces_two_particles_to_their_distance) {
  const double e = 0.85;
  for (const bool held : {true, false}) {
    Model::Parts parts = particles(2, {0.0, 0.0, 1.0 - e, 0.0}, {held ? 1.0 : 3.0, 1.0});
    parts.add(make_pairs(parts.reference, 2, parts.mass, all_pairs(2), Gravitation{held ? 1.0 : 1.0 / 3.0}));
    std::vector<Support> sun(1);
    sun[0].nodes = {NodeId{0}};
    sun[0].motion = {Support::Motion::at_rest, Support::Motion::at_rest, Support::Motion::free};
    if (held) parts.supports = Supports(std::move(sun), parts.reference, 2);
    const Model model(std::move(parts));
    const double mu = held ? 1.0 : 0.75;
    State state = reference_state(model);
    const double speed = std::sqrt((1.0 + e) / (1.0 - e) / mu);
    state.velocity[3] = held ? speed : 0.75 * speed + 0.1;
    if (!held) state.velocity[1] = -0.25 * speed + 0.1;
    const State start = state;
    SteppingForce method(model, {{0.0067}, false, true}, 1.0);
    const double period = 2.0 * pi * std::sqrt(mu), end = 32.0 * period;
    const double L = (1.0 - e) * speed;
    for (int i = 1; i <= 500; ++i) {
      const double t = end * i / 500, delta = 1e-6;
      method.advance_to(state, t);
      const State at = method.synchronized(state, t).state;
      const auto x = [&](const State& s, std::size_t c) {
        return model.reference()[2 + c] + s.displacement[2 + c] - model.reference()[c] - s.displacement[c];
      };
      const auto v = [&](std::size_t c) { return at.velocity[2 + c] - at.velocity[c]; };
      ASSERT_NEAR(x(at, 0) * v(1) - x(at, 1) * v(0), L, 1e-12);
      if (!held) {
        EXPECT_LT(linear_error(model, start, at), 1e-14);
      }
      const State later = method.synchronized(state, t + delta).state;  // the angle is the velocity's integral
      for (std::size_t c = 0; c < 2; ++c) {
        const double mean = (x(later, c) - x(at, c)) / delta;
        ASSERT_NEAR(mean, v(c), 2e-4) << t;
      }
    }
    EXPECT_LT(std::abs(measure(method, "level_error")), 1e-11);
    if (held) {
      EXPECT_NEAR(mean_step(method), 0.0125, 0.03 * 0.0125);  // of the thesis, Y6
    }
  }
}

TEST(ForceStepping, turns_the_distance_of_two_that_feel_nothing_straight) {
  Model::Parts parts = particles(3, {0.0, 0.0, 0.0, 1.0, 0.2, -0.3}, {2.0, 1.0});
  parts.add(make_pairs(parts.reference, 3, parts.mass, all_pairs(2), Gravitation{1e-30}));
  const Model model(std::move(parts));
  std::vector<double> errors;
  for (const double h : {2e-3, 2e-4}) {
    State state = reference_state(model);
    state.velocity = {0.1, 0.0, 0.0, -0.5, 0.3, 0.2};
    SteppingForce method(model, {{h}, false, true}, 1.0);
    method.advance_to(state, 3.0);
    const State at = method.synchronized(state, 3.0).state;
    double worst = 0.0;
    const std::array<double, 6> expected = {0.3, 0.0, 0.0, -1.5, 0.9, 0.6};
    for (std::size_t i = 0; i < 6; ++i) worst = std::max(worst, std::abs(at.displacement[i] - expected[i]));
    errors.push_back(worst);
  }
  EXPECT_LT(errors[0], 5e-3);
  EXPECT_LT(errors[1], 0.3 * errors[0]);
}

TEST(ForceStepping, refuses_what_it_does_not_take) {
  const Body loaded = loaded_body();
  EXPECT_THROW(SteppingForce(*loaded.model, {{0.1}}, 1.0), InputError);
  const auto model = kepler(0.5);
  for (const double h : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(SteppingForce(*model, {{h}}, 1.0), InputError);
  EXPECT_THROW(SteppingForce(*model, {{1.0, 1.0, 1.0}}, 1.0), InputError);
}

}  // namespace
}  // namespace tempi::test
