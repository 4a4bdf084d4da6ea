// SPDX-License-Identifier: Apache-2.0
// Motions known in closed form, of the body or of the time-discrete equations themselves.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "support/runs.hpp"

namespace tempi::test {
namespace {

constexpr Lame lame{1.3, 0.7};
constexpr double density = 1.2;

// A regular simplex of circumradius R, centred at the origin: segment, equilateral triangle, regular tetrahedron.
Mesh regular_simplex(int dim, double R) {
  if (dim == 1) return mesh_of(1, {-R, R}, CellType::line2, {{0, 1}});
  if (dim == 2) {
    const double s = 0.5 * std::sqrt(3.0) * R;
    return mesh_of(2, {R, 0.0, -0.5 * R, s, -0.5 * R, -s}, CellType::triangle3, {{0, 1, 2}});
  }
  const double s = R / std::sqrt(3.0);
  return mesh_of(3, {s, s, s, s, -s, -s, -s, s, -s, -s, -s, s}, CellType::tetrahedron4, {{0, 2, 1, 3}});
}

// Breathing, F = (1 + s) I: |dN_a/dX| = D / ((D + 1) R), m = rho V / (D + 1), P = (D lambda + 2 mu) s, so
// omega^2 = D (D lambda + 2 mu) / (rho R^2). In 1-D: two masses on a spring, 4 c^2 / L^2.
double breathing_frequency(int dim, double R) {
  return std::sqrt(dim * (dim * lame.lambda + 2.0 * lame.mu) / (density * R * R));
}

class BreathingSimplex : public testing::TestWithParam<int> {};

// The leapfrog's own solution: s_j = s_0 cos(j theta), cos theta = 1 - (omega h)^2 / 2, v_j = -s_0 sin(theta)/h sin(j
// theta); its modified energy v^2 + omega^2 (1 - (omega h)^2 / 4) s^2 is constant.
TEST_P(BreathingSimplex, OscillatesWithTheLeapfrogsOwnPhase) {
  const int dim = GetParam();
  const double R = 0.8, omega = breathing_frequency(dim, R), s0 = 1e-3;
  const Body body = make_body(regular_simplex(dim, R), LinearElastic{lame}, density);
  for (const double omega_h : {0.1, 1.0, 1.4})
    for (const Method& method : methods()) {
      SCOPED_TRACE(method.name + " at omega h = " + std::to_string(omega_h));
      const double h = omega_h / omega, theta = std::acos(1.0 - 0.5 * omega_h * omega_h);
      const auto integrator = method.make(*body.model, {h});
      State state = reference_state(*body.model);
      for (std::size_t i = 0; i < state.displacement.size(); ++i) state.displacement[i] = s0 * body.mesh->points()[i];
      const std::vector<double> u0 = state.displacement;
      double worst_u = 0.0, worst_v = 0.0, worst_energy = 0.0;
      for (int j = 1; j <= 1000; ++j) {
        const double t = j * h;
        integrator->advance_to(state, t);
        const State at = integrator->synchronized(state, t).state;
        const double c = std::cos(j * theta), v = -std::sin(theta) / h * std::sin(j * theta);
        for (std::size_t i = 0; i < u0.size(); ++i) {
          worst_u = std::max(worst_u, std::abs(at.displacement[i] - c * u0[i]));
          worst_v = std::max(worst_v, std::abs(at.velocity[i] - v * u0[i]) / omega);
        }
        const double q = at.displacement[0] / u0[0], p = at.velocity[0] / u0[0] / omega;
        worst_energy = std::max(worst_energy, std::abs(p * p + (1.0 - 0.25 * omega_h * omega_h) * (q * q - 1.0)));
      }
      // Each of 1000 steps rounds the velocity, which then runs on for up to 1000 steps: at random 1e-16 * 1000^1.5.
      EXPECT_LT(worst_u / largest(u0), 1e-11);
      EXPECT_LT(worst_v / largest(u0), 1e-11);
      EXPECT_LT(worst_energy, 1e-11);
    }
}

TEST_P(BreathingSimplex, HasTheStableStepOfItsFrequencyOrLess) {
  const Body body = make_body(regular_simplex(GetParam(), 0.8), LinearElastic{lame}, density);
  const double breathing = 2.0 / breathing_frequency(GetParam(), 0.8);
  const double stable = stable_steps(*body.model, reference_state(*body.model).displacement).front();
  EXPECT_LT(std::abs(stable - breathing), 1e-12 * breathing);  // breathing is the stiffest mode where lambda > 0
}

INSTANTIATE_TEST_SUITE_P(EveryDimension, BreathingSimplex, testing::Values(1, 2, 3));

// The same energy without its correction is not constant: the check above can tell.
TEST(BreathingSimplexControl, ItsPlainEnergyOscillates) {
  const double R = 0.8, h = 1.0 / breathing_frequency(1, R);
  const Body body = make_body(regular_simplex(1, R), LinearElastic{lame}, density);
  SyncNewmark newmark(*body.model, h);
  State state = reference_state(*body.model);
  for (std::size_t i = 0; i < 2; ++i) state.displacement[i] = 1e-3 * body.mesh->points()[i];
  const Balance balance = run_and_balance(*body.model, newmark, state, 100 * h, 100);
  EXPECT_GT(balance.energy().band, 0.2);
}

// An equilateral triangle, stretched by g and spinning: each node is pulled inwards by w^2(g) g R m, so the leapfrog
// turns it by theta a step, 2 (1 - cos theta) = (w h)^2, without changing its shape. Nonlinear and exact.
TEST(SpinningTriangle, TurnsByTheSameAngleEveryStep) {
  const double R = 0.8, g = 1.1;
  const double neo_hookean = 2.0 * lame.lambda * std::log(g) / g + lame.mu * (g - 1.0 / g);
  const double E = 0.5 * (g * g - 1.0), svk = g * (2.0 * lame.lambda + 2.0 * lame.mu) * E;
  const std::vector<std::pair<Material, double>> stress = {{NeoHookean{lame}, neo_hookean},
                                                           {SaintVenantKirchhoff{lame}, svk}};
  for (const auto& [material, P] : stress)
    for (const Method& method : methods()) {
      SCOPED_TRACE(method.name + " " + name_of(material));
      const Body body = make_body(regular_simplex(2, R), material, density);
      const double w2 = P * 2.0 / (density * R * R * g);  // V P (2 / 3R) = rho V / 3 w^2 g R
      const double h = 0.5 / std::sqrt(w2), theta = std::acos(1.0 - 0.5 * w2 * h * h);
      State state = reference_state(*body.model);
      const auto X = body.mesh->points();
      for (std::size_t a = 0; a < 3; ++a) {
        state.displacement[2 * a] = (g - 1.0) * X[2 * a], state.displacement[2 * a + 1] = (g - 1.0) * X[2 * a + 1];
        state.velocity[2 * a] = -std::sin(theta) / h * g * X[2 * a + 1];
        state.velocity[2 * a + 1] = std::sin(theta) / h * g * X[2 * a];
      }
      const auto integrator = method.make(*body.model, {h});
      double worst = 0.0;
      for (int j = 1; j <= 200; ++j) {
        integrator->advance_to(state, j * h);
        const State at = integrator->synchronized(state, j * h).state;
        for (std::size_t a = 0; a < 3; ++a) {
          const double c = std::cos(j * theta), s = std::sin(j * theta);
          const double x = g * (c * X[2 * a] - s * X[2 * a + 1]), y = g * (s * X[2 * a] + c * X[2 * a + 1]);
          worst = std::max(worst, std::hypot(X[2 * a] + at.displacement[2 * a] - x,
                                             X[2 * a + 1] + at.displacement[2 * a + 1] - y));
        }
      }
      EXPECT_LT(worst, 1e-12);  // 200 roundings of lengths of size 1, grown by the shear of neighbouring orbits
    }
}

// At the Courant number 1 the uniform bar of linear elements solves the wave equation exactly at its nodes:
// u_j^{n+1} + u_j^{n-1} = u_{j+1}^n + u_{j-1}^n, here with reflections at one fixed and one free end (d'Alembert).
TEST(LinearBar, AtItsStableStepCarriesWavesWithoutError) {
  const int n = 64;
  const Body body = make_body_held_at(bar_mesh(n), LinearElastic{lame}, density, "left");
  const double c = dilatational_wave_speed(lame, density), h = 1.0 / (n * c);
  const auto pulse = [](double X) { return 1e-3 * std::exp(-200.0 * (X - 0.5) * (X - 0.5)); };
  // Odd about X = 0 (fixed), even about X = 1 (free): period 4.
  const auto extended = [&](double X) {
    X = X - 4.0 * std::floor(X / 4.0);
    return X <= 1.0 ? pulse(X) : X <= 2.0 ? pulse(2.0 - X) : X <= 3.0 ? -pulse(X - 2.0) : -pulse(4.0 - X);
  };
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    const auto integrator = method.make(*body.model, uniform_steps(*body.model, h));
    State state = reference_state(*body.model);
    for (std::size_t a = 0; a < state.displacement.size(); ++a) state.displacement[a] = pulse(body.mesh->points()[a]);
    double worst = 0.0;
    for (int j = 1; j <= 10 * n; ++j) {
      integrator->advance_to(state, j * h);
      const State at = integrator->synchronized(state, j * h).state;
      for (std::size_t a = 0; a < at.displacement.size(); ++a) {
        const double X = body.mesh->points()[a], shift = static_cast<double>(j) / n;
        worst = std::max(worst, std::abs(at.displacement[a] - 0.5 * (extended(X - shift) + extended(X + shift))));
      }
    }
    // At the stability limit rounding grows linearly; pulse(0) = 2e-22 of its height is cut off at the fixed end.
    EXPECT_LT(worst, 1e-12 * 1e-3 * 10 * n);
  }
}

// Axis of the largest moment of inertia: about others a free body in space tumbles.
Eigen::Vector3d spin_axis(const Body& body) {
  if (body.mesh->dim() == 2) return Eigen::Vector3d::UnitZ();
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
  for (Index a = 0; a < body.mesh->node_count(); ++a) {
    const auto X = body.mesh->point(make_id<NodeId>(a));
    const Eigen::Vector3d x(X[0], X[1], X[2]);
    inertia +=
        body.model->mass(make_id<NodeId>(a)) * (x.squaredNorm() * Eigen::Matrix3d::Identity() - x * x.transpose());
  }
  return Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(inertia).eigenvectors().col(2);
}

// A X at every node, for a matrix A of space or its upper left part in the plane.
std::vector<double> mapped(const Body& body, const Eigen::Matrix3d& A) {
  const auto d = static_cast<std::size_t>(body.mesh->dim());
  std::vector<double> rows(d * d);
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j < d; ++j) rows[i * d + j] = A(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
  return affine_displacements(*body.mesh, rows, std::vector<double>(d, 0.0));
}

// After an eighth of a turn at angular velocity `spin`: the deviation from rigid rotation.
double spinning_deviation(const Body& body, const Method& method, double spin) {
  const double angle = 0.25 * std::numbers::pi, t = angle / spin;
  const Eigen::Vector3d axis = spin_axis(body);
  Eigen::Matrix3d cross;
  cross << 0.0, -axis[2], axis[1], axis[2], 0.0, -axis[0], -axis[1], axis[0], 0.0;
  const auto integrator = method.make(*body.model, own_steps(*body.model, 0.5));
  State state = reference_state(*body.model);
  state.velocity = mapped(body, spin * cross);
  integrator->advance_to(state, t);
  const Eigen::Matrix3d R = Eigen::AngleAxisd(angle, axis).toRotationMatrix();
  return largest_difference(integrator->synchronized(state, t).state.displacement,
                            mapped(body, R - Eigen::Matrix3d::Identity()));
}

// A free body set spinning without stress stretches by about rho spin^2 r^2 / (lambda + 2 mu) and lags accordingly: the
// deviation falls with the square of the angular velocity, and (spin h)^2 is smaller still.
TEST(SpinningBody, StaysRigidUpToItsStretch) {
  for (const MeshCase& mesh : mesh_cases()) {
    if (mesh.name == "bar") continue;
    for (const Method& method : methods()) {
      SCOPED_TRACE(mesh.name + " " + method.name);
      const Material material = NeoHookean{lame};
      const Body body = make_body(centred(mesh.make()), material, density);
      const std::vector<double> spins = {0.04, 0.02, 0.01};
      std::vector<double> deviations;
      for (const double spin : spins) deviations.push_back(spinning_deviation(body, method, spin));
      const double stretch = density * spins.back() * spins.back() / (lame.lambda + 2.0 * lame.mu);
      EXPECT_LT(deviations.back(), 3.0 * stretch);       // lengths and radii of size 1; lag adds pi/2 times the stretch
      EXPECT_NEAR(slope(spins, deviations), 2.0, 0.35);  // the phase of the breathing after the turn varies
    }
  }
}

TEST(SpinningBody, OfLinearElasticityDoesNotStayRigid) {
  const Material material = LinearElastic{lame};
  const Body body = make_body(centred(triangle_mesh(CellType::triangle3, 3, 0.15, 12)), material, density);
  EXPECT_GT(spinning_deviation(body, methods().front(), 0.01), 1e-2);
}

// Constant forces are integrated exactly at multiples of the step: x = x0 + v0 t + g t^2 / 2, v = v0 + g t.
TEST(FallingBody, WithUniformStepsFallsExactlyAndUndeformed) {
  for (const MeshCase& mesh : mesh_cases())
    for (const Method& method : methods()) {
      SCOPED_TRACE(mesh.name + " " + method.name);
      const Body body = make_body_with(mesh.make(), NeoHookean{lame}, density, [](const Mesh& m, Model::Parts& parts) {
        add_force(parts, make_gravity(m, cells_of(parts), {}, formulas({"0.3", "-9.81", "2.5"}, m.dim())));
      });
      const std::array<double, 3> g = {0.3, -9.81, 2.5}, v0 = {0.7, 1.1, -0.4};
      const auto d = static_cast<std::size_t>(body.mesh->dim());
      const double h = smallest(own_steps(*body.model, 0.5)), t = 200 * h;
      State state = reference_state(*body.model);
      for (std::size_t i = 0; i < state.velocity.size(); ++i) state.velocity[i] = v0[i % d];
      const auto integrator = method.make(*body.model, uniform_steps(*body.model, h));
      integrator->advance_to(state, t);
      const State at = integrator->synchronized(state, t).state;
      double worst_u = 0.0, worst_v = 0.0;
      for (std::size_t i = 0; i < at.velocity.size(); ++i) {
        const std::size_t c = i % d;
        worst_u = std::max(worst_u, std::abs(at.displacement[i] - (v0[c] * t + 0.5 * g[c] * t * t)));
        worst_v = std::max(worst_v, std::abs(at.velocity[i] - (v0[c] + g[c] * t)));
      }
      const double scale = 9.81 * t * t + t;
      EXPECT_LT(worst_u, 1e-12 * scale);  // some hundred roundings
      EXPECT_LT(worst_v, 1e-12 * scale / t);
    }
}

// With steps of their own the elements kick at different times and the body trembles, but at a multiple of all steps
// its centre of mass is where it must be; its momentum always is.
TEST(FallingBody, WithStepsOfItsElementsFallsExactlyWithItsCentreOfMass) {
  for (const MeshCase& mesh : mesh_cases()) {
    SCOPED_TRACE(mesh.name);
    const Body body = make_body_with(mesh.make(), NeoHookean{lame}, density, [](const Mesh& m, Model::Parts& parts) {
      add_force(parts, make_gravity(m, cells_of(parts), {}, formulas({"0.3", "-9.81", "2.5"}, m.dim())));
    });
    const double base = 0.2 * 0.4 * smallest(own_steps(*body.model, 1.0)), t = 20 * 30 * base;
    std::vector<double> steps;
    for (Index i = 0; i < body.model->term_count(); ++i)
      steps.push_back(base * std::array{2.0, 3.0, 5.0}[static_cast<std::size_t>(i % 3)]);
    AviExplicit avi(*body.model, steps);
    State state = reference_state(*body.model);
    avi.advance_to(state, t);
    const State at = avi.synchronized(state, t).state;
    const std::array<double, 3> g = {0.3, -9.81, 2.5};
    const auto d = static_cast<std::size_t>(body.mesh->dim());
    for (std::size_t c = 0; c < d; ++c) {
      double mass = 0.0, u = 0.0, v = 0.0;
      for (std::size_t a = 0; a < body.model->mass().size(); ++a) {
        mass += body.model->mass()[a];
        u += body.model->mass()[a] * at.displacement[a * d + c];
        v += body.model->mass()[a] * at.velocity[a * d + c];
      }
      EXPECT_LT(std::abs(u / mass - 0.5 * g[c] * t * t), 1e-12 * 9.81 * t * t);
      EXPECT_LT(std::abs(v / mass - g[c] * t), 1e-12 * 9.81 * t);
    }
  }
}

}  // namespace
}  // namespace tempi::test
