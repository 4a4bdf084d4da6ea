// SPDX-License-Identifier: Apache-2.0
// SHAKE and RATTLE against motions that are known: the plane pendulum's period by elliptic integrals, the precession of
// a symmetric top, and the invariants of a spherical pendulum and of free rigid bodies. The map they make on the
// constraint set is symplectic; that of Euler's method with projection is not, and drifts.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include "support/constrained.hpp"

namespace tempi::test {
namespace {

class ConstrainedMotion : public testing::TestWithParam<ConstrainedMethod> {
 protected:
  std::unique_ptr<Integrator> make(const Model& model, double h) const { return GetParam().make(model, h); }
};

// ---- the plane pendulum ----

// Relative error of the period of a pendulum let go at 1 rad, T = 4 sqrt(l/g) K(sin(1/2)): where it is after 1.25 T is
// nearly straight down, and it gets there late by 1.25 times the error.
double period_error(const MakeStepper& make, int steps_a_period) {
  const Rods rod{{1.2}, {0.7}, {1.0}};
  const auto model = rod.model();
  const double T = 4.0 * std::sqrt(1.2 / rod.g) * std::comp_ellint_1(std::sin(0.5)), h = T / steps_a_period;
  State state = reference_state(*model);
  const auto integrator = make(*model, h);
  integrator->advance_to(state, 1.25 * T);
  const State at = integrator->synchronized(state, 1.25 * T).state;
  const double angle = std::atan2(rod.positions()[0] + at.displacement[0], -(rod.positions()[1] + at.displacement[1]));
  const double rate = at.velocity[0] / 1.2;
  return std::abs(angle / rate) / (1.25 * T);
}

TEST_P(ConstrainedMotion, HasThePeriodOfThePendulum) {
  std::vector<double> steps, errors;
  for (const int n : {40, 80, 160, 320}) steps.push_back(1.0 / n), errors.push_back(period_error(GetParam().make, n));
  EXPECT_NEAR(slope(steps, errors), 2.0, 0.02);
  EXPECT_LT(period_error(GetParam().make, 2500), 1e-6);
  const double wrong = std::comp_ellint_1(std::sin(0.5)) / (0.5 * std::numbers::pi) - 1.0;
  EXPECT_GT(wrong, 0.06);  // control: the period of small swings is no match
}

// ---- the spherical pendulum ----

// On the unit sphere about the origin, in uneven loops between two heights.
struct SphericalPendulum {
  SphericalPendulum() {
    Model::Parts parts = under_gravity(3, {0.6, 0.0, -0.8}, {1.3}, {0.0, 0.0, -1.0});
    add(parts, make_links(points_of(parts), std::array{NodeId{0}}, {0.0, 0.0, 0.0}));
    model = std::make_unique<Model>(std::move(parts));
    start = reference_state(*model);
    start.velocity = {0.0, 0.7, 0.0};
  }
  double vertical_momentum(const State& s) const {  // about the vertical
    return 1.3 * ((0.6 + s.displacement[0]) * s.velocity[1] - s.displacement[1] * s.velocity[0]);
  }
  double energy(const State& s) const {
    const auto& v = s.velocity;
    return 1.3 * (0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + s.displacement[2]);
  }
  std::unique_ptr<Model> model;
  State start;
};

struct Trend {
  double band, drift;  // of the samples, relative to the first: largest less smallest, slope times duration
};
Trend trend_of(const std::vector<double>& samples) {
  const auto n = static_cast<double>(samples.size());
  double mean = 0.0, xx = 0.0, xy = 0.0;
  for (const double value : samples) mean += value / n;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double x = static_cast<double>(i) - 0.5 * (n - 1.0);
    xx += x * x, xy += x * (samples[i] - mean);
  }
  const auto [low, high] = std::ranges::minmax(samples);
  return {(high - low) / std::abs(samples[0]), xy / xx * n / std::abs(samples[0])};
}

// About 30 steps an oscillation. Each rounds the momentum by some 1e-16, at random.
void expect_that_it_keeps_its_vertical_momentum_and_its_energy(const MakeStepper& make, int hundreds) {
  const SphericalPendulum pendulum;
  const double h = 0.1;
  State state = pendulum.start;
  const auto integrator = make(*pendulum.model, h);
  std::vector<double> energies;
  double momentum_error = 0.0;
  const double L = pendulum.vertical_momentum(state);
  for (int k = 1; k <= hundreds; ++k) {
    integrator->advance_to(state, (100 * k + 0.5) * h);
    energies.push_back(pendulum.energy(state));
    momentum_error = std::max(momentum_error, std::abs(pendulum.vertical_momentum(state) / L - 1.0));
  }
  EXPECT_EQ(integrator->updates(TermId{0}), 100 * hundreds);
  EXPECT_LT(momentum_error, 1e-12);
  EXPECT_LT(constraint_error(*pendulum.model, state), 1e-14);
  const auto [band, drift] = trend_of(energies);
  EXPECT_LT(band, 0.02);
  EXPECT_GT(band, 1e-5);  // it is not exact
  EXPECT_LT(std::abs(drift), 0.05 * band);
}

TEST_P(ConstrainedMotion, OfASphericalPendulumKeepsItsVerticalAngularMomentumAndItsEnergy) {
  expect_that_it_keeps_its_vertical_momentum_and_its_energy(GetParam().make, 200);
}
class FullConstrainedMotion : public ConstrainedMotion {};
TEST_P(FullConstrainedMotion, OfASphericalPendulumKeepsItsVerticalAngularMomentumAndItsEnergyFor100000Steps) {
  expect_that_it_keeps_its_vertical_momentum_and_its_energy(GetParam().make, 1000);
}

// ---- a control: Euler's method, brought back to the constraints after every step ----

State projected_euler(const Model& model, State state, double h, int steps) {
  const ConstraintEquations equations(model);
  const auto n = static_cast<Index>(state.velocity.size());
  for (int k = 0; k < steps; ++k) {
    const Eigen::VectorXd u = map_of(state.displacement), v = map_of(state.velocity);
    Eigen::VectorXd a(n);
    for (Index i = 0; i < n; ++i) {
      const Index node = i / model.dim();
      std::vector<double> g(static_cast<std::size_t>(model.dim()), 0.0);
      model.potential(0).add_gradient(node, span_of(u), 0.0, g);
      a(i) = -g[static_cast<std::size_t>(i % model.dim())] / model.mass(make_id<NodeId>(node));
    }
    const Eigen::VectorXd force = equations.forces(u, v, a, 0.0);
    Eigen::VectorXd v1 = v;
    for (Index i = 0; i < n; ++i) v1(i) += h * (a(i) + force(i) / model.mass(make_id<NodeId>(i / model.dim())));
    ConstraintEquations::Leap nearest{u + h * v, Eigen::VectorXd::Zero(n), {}, 0};
    equations.leap(
        Eigen::VectorXd(nearest.u), 1.0, 0.0, [](auto&) {}, nearest);
    equations.project(nearest.u, v1, 0.0);
    map_of(state.displacement) = nearest.u;
    map_of(state.velocity) = v1;
  }
  return state;
}

TEST(ProjectedEuler, KeepsTheConstraintButNotTheEnergyOrTheMomentumOfASphericalPendulum) {
  const SphericalPendulum pendulum;
  std::vector<double> energies;
  State state = pendulum.start;
  for (int k = 0; k < 100; ++k) {
    state = projected_euler(*pendulum.model, state, 0.01, 10);
    energies.push_back(pendulum.energy(state));
  }
  EXPECT_LT(constraint_error(*pendulum.model, state), 1e-14);
  EXPECT_GT(std::abs(pendulum.vertical_momentum(state) / pendulum.vertical_momentum(pendulum.start) - 1.0), 1e-3);
  const auto [band, drift] = trend_of(energies);
  EXPECT_GT(std::abs(drift), 0.5 * band);
}

// ---- symplecticity on the constraint set, by the angles of a double pendulum and their momenta ----

using Flow = std::function<State(const Model&, State)>;

// max |A^T J A - J| of the map of (theta, p), p_i = sum m v . dx/dtheta_i, by central differences. p does not see what
// a velocity has along the gradients.
double reduced_symplectic_defect(const Flow& flow) {
  const std::vector<double> l = {1.0, 0.7}, m = {0.9, 1.4};
  const Rods reference{l, m, {0.5, -0.3}};
  const auto model = reference.model();
  const auto map = [&](const Eigen::Vector4d& z) -> Eigen::Vector4d {
    const Rods rods{l, m, {z(0), z(1)}};
    const double coupling = m[1] * l[0] * l[1] * std::cos(z(0) - z(1));
    Eigen::Matrix2d inertia;
    inertia << (m[0] + m[1]) * l[0] * l[0], coupling, coupling, m[1] * l[1] * l[1];
    const Eigen::Vector2d rates = inertia.inverse() * z.tail<2>();
    State state = rods.start(*model, {rates(0), rates(1)});
    const std::vector<double> X = reference.positions(), x0 = rods.positions();
    for (std::size_t i = 0; i < 4; ++i) state.displacement[i] = x0[i] - X[i];
    state = flow(*model, state);
    std::vector<double> x = X;
    for (std::size_t i = 0; i < 4; ++i) x[i] += state.displacement[i];
    const auto& v = state.velocity;
    const double angle1 = std::atan2(x[0], -x[1]), angle2 = std::atan2(x[2] - x[0], x[1] - x[3]);
    const auto along = [&](double angle, std::size_t a) {
      return m[a] * (v[2 * a] * std::cos(angle) + v[2 * a + 1] * std::sin(angle));
    };
    return {angle1, angle2, l[0] * (along(angle1, 0) + along(angle1, 1)), l[1] * along(angle2, 1)};
  };
  const Eigen::Vector4d at(0.5, -0.3, 1.1, 0.6);
  Eigen::Matrix4d A, J = Eigen::Matrix4d::Zero();
  constexpr double spacing = 1e-5;
  for (int j = 0; j < 4; ++j) {
    const Eigen::Vector4d by = spacing * Eigen::Vector4d::Unit(j);
    A.col(j) = (map(at + by) - map(at - by)) / (2.0 * spacing);
  }
  J.topRightCorner<2, 2>().setIdentity();
  J.bottomLeftCorner<2, 2>() = -Eigen::Matrix2d::Identity();
  return (A.transpose() * J * A - J).cwiseAbs().maxCoeff();
}

// Differences of spacing 1e-5: 1e-10 of third derivatives, 1e-11 of rounding.
TEST_P(ConstrainedMotion, IsSymplecticOnTheConstraintSet) {
  const double defect = reduced_symplectic_defect([this](const Model& model, State state) {
    const auto integrator = make(model, 0.06);
    integrator->advance_to(state, 10 * 0.06);
    return integrator->synchronized(state, 10 * 0.06).state;
  });
  RecordProperty("defect", std::to_string(defect * 1e9) + "e-9");
  EXPECT_LT(defect, 1e-7);
}

TEST(ProjectedEuler, IsFarFromSymplectic) {
  const double defect = reduced_symplectic_defect(
      [](const Model& model, const State& state) { return projected_euler(model, state, 0.06, 10); });
  EXPECT_GT(defect, 1e-2);
}

// ---- free rigid bodies ----

// Equal masses, together 3 m, in a regular polygon, a symmetric top with I_3 = 2 I_1: it turns with L / I_1 about L,
// and meanwhile with Omega = spin_3 (I_1 - I_3) / I_1 about its own axis.
struct Top {
  static constexpr double m = 0.8, R = 0.9;
  std::size_t corners;
  RigidBody body;
  Eigen::Vector3d turning{0.7, -0.4, 1.1}, drift{0.1, 0.2, -0.3};
  std::vector<double> x;

  explicit Top(std::size_t n) : corners(n) {
    for (std::size_t a = 0; a < n; ++a) {
      const double angle = 0.3 + 2.0 * std::numbers::pi * static_cast<double>(a) / static_cast<double>(n);
      x.insert(x.end(), {R * std::cos(angle), R * std::sin(angle), 0.0});
    }
    body = rigid_body(x, std::vector<double>(n, 3.0 * m / static_cast<double>(n)), {drift(0), drift(1), drift(2)},
                      {turning(0), turning(1), turning(2)});
  }
  std::vector<double> displacement(double t) const {
    const double I1 = 1.5 * m * R * R, I3 = 2.0 * I1, own = turning(2) * (I1 - I3) / I1;
    const Eigen::Vector3d L(I1 * turning(0), I1 * turning(1), I3 * turning(2));
    const Eigen::AngleAxisd about_L(L.norm() / I1 * t, L.normalized()), about_axis(own * t, Eigen::Vector3d::UnitZ());
    std::vector<double> u(3 * corners);
    for (std::size_t a = 0; a < corners; ++a) {
      const Eigen::Vector3d X(x[3 * a], x[3 * a + 1], x[3 * a + 2]), y = about_L * (about_axis * X) + t * drift - X;
      std::copy(y.begin(), y.end(), u.begin() + static_cast<std::ptrdiff_t>(3 * a));
    }
    return u;
  }
  std::vector<double> velocity(double t) const {  // exact to 1e-11
    const std::vector<double> ahead = displacement(t + 1e-5), behind = displacement(t - 1e-5);
    std::vector<double> v(3 * corners);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = (ahead[i] - behind[i]) / 2e-5;
    return v;
  }
};

TEST_P(ConstrainedMotion, OfASymmetricTopApproachesItsPrecessionWithOrderTwo) {
  // More than three in a plane are held as combinations of three; the equations of the last are bordered.
  for (const std::size_t corners : {3U, 4U, 9U, 70U}) {
    SCOPED_TRACE(corners);
    const Top top(corners);
    EXPECT_LT(largest_difference(top.velocity(0.0), top.body.start.velocity), 1e-9);
    const double t = 6.0;
    std::vector<double> steps, errors_u, errors_v;
    for (const int n : {100, 200, 400, 800}) {
      State state = top.body.start;
      const auto integrator = make(*top.body.model, t / n);
      integrator->advance_to(state, t);
      const State at = integrator->synchronized(state, t).state;
      steps.push_back(t / n);
      errors_u.push_back(largest_difference(at.displacement, top.displacement(t)));
      errors_v.push_back(largest_difference(at.velocity, top.velocity(t)));
    }
    EXPECT_NEAR(slope(steps, errors_u), 2.0, 0.05);
    EXPECT_NEAR(slope(steps, errors_v), 2.0, 0.05);
    EXPECT_LT(errors_u.back(), 1e-3);
  }
}

// A linear molecule turns uniformly about its angular momentum, square to its axis: by asin(omega h) a step, as each
// atom is h omega r to the side of where it was before the constraints pull it back towards the centre.
TEST_P(ConstrainedMotion, OfALinearMoleculeTurnsByTheSameAngleEachStep) {
  const std::vector<double> m = {1.2, 0.7, 1.2, 0.4}, s = {-1.0, 0.1, 0.9, 1.7};
  const Eigen::Vector3d axis = Eigen::Vector3d(1.0, 2.0, -0.5).normalized(), drift(0.2, 0.1, -0.3);
  const Eigen::Vector3d spin = 1.3 * axis.cross(Eigen::Vector3d::UnitZ()).normalized();
  double centre = 0.0, total = 0.0;
  for (std::size_t a = 0; a < m.size(); ++a) centre += m[a] * s[a], total += m[a];
  centre /= total;
  std::vector<double> x;
  for (const double at : s) {
    const Eigen::Vector3d X = (at - centre) * axis;
    x.insert(x.end(), X.begin(), X.end());
  }
  const RigidBody body = rigid_body(x, m, {drift(0), drift(1), drift(2)}, {spin(0), spin(1), spin(2)});
  ASSERT_EQ(body.model->constraints().size(), 3 * m.size() - 5);
  const double t = 8.0;
  const int n = 100;
  State state = body.start;
  const auto integrator = make(*body.model, t / n);
  integrator->advance_to(state, t);
  const State at = integrator->synchronized(state, t).state;
  for (std::size_t a = 0; a < m.size(); ++a) {
    const Eigen::Vector3d X = Eigen::Vector3d::Map(&x[3 * a]);
    const Eigen::Vector3d turned = Eigen::AngleAxisd(n * std::asin(spin.norm() * t / n), spin.normalized()) * X;
    EXPECT_LT((Eigen::Vector3d::Map(&at.displacement[3 * a]) - (turned + t * drift - X)).norm(), 1e-11);
  }
}

// Seven uneven masses, 15 distances, turning about an axis between the principal ones.
TEST_P(ConstrainedMotion, OfATumblingBodyKeepsItsMomentaAndItsShape) {
  const auto x = random_cloud(3, 7, 1.0, 0.4, 11);
  RigidBody body = rigid_body(x, {1.0, 0.3, 0.8, 1.5, 0.4, 0.9, 0.6}, {0.2, -0.1, 0.3}, {1.0, 0.6, -0.8});
  const auto integrator = make(*body.model, 0.05);
  State state = body.start;
  const Balance balance = run_and_balance(*body.model, *integrator, state, 100.0, 200);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_LT(balance.angular_momentum().error, 1e-12);
  // One free body: J M^-1 J^T is the same in all its positions, and rattle keeps the energy, too.
  EXPECT_LT(balance.energy().band, GetParam().name == "rattle" ? 1e-12 : 0.02);
  EXPECT_LT(std::abs(balance.energy().drift), 0.2 * balance.energy().band + 1e-12);
  double change = 0.0;  // of all distances, those that follow from the 15 too
  for (std::size_t a = 0; a < 7; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const auto distance = [&](const std::vector<double>& u) {
        const auto w = [&](std::size_t c) { return x[3 * b + c] + u[3 * b + c] - x[3 * a + c] - u[3 * a + c]; };
        return std::hypot(w(0), w(1), w(2));
      };
      change = std::max(change, std::abs(distance(state.displacement) - distance(body.start.displacement)));
    }
  EXPECT_LT(change, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Of, ConstrainedMotion, testing::ValuesIn(constrained_methods()),
                         [](const auto& c) { return c.param.name; });
INSTANTIATE_TEST_SUITE_P(Of, FullConstrainedMotion, testing::ValuesIn(constrained_methods()),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace tempi::test
