// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/energy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/meshes.hpp"
#include "tempi/force/loads.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"

namespace tempi {
namespace {

constexpr Lame lame{1.3, 0.7};
constexpr double modulus = lame.lambda + 2.0 * lame.mu;

// Two free masses of 2 and 3 kg at (1, 0, 0) and (0, 2, 0).
Model two_masses() {
  Model::Parts parts;
  parts.dim = 3;
  parts.reference = {1, 0, 0, 0, 2, 0};
  parts.mass = {2, 3};
  return Model(std::move(parts));
}

TEST(Energies, of_a_bar_are_those_of_the_formulas) {
  const auto body = test::make_body(test::bar_mesh(2), LinearElastic{lame}, 4.0);  // masses 1, 2, 1
  State state = reference_state(*body.model);
  state.displacement = {0.0, 0.1, 0.05};
  state.velocity = {1.0, -2.0, 3.0};
  const Energies e = energies(*body.model, {0.0, state, {}, body.model->potential_energy(state.displacement, 0.0)});
  EXPECT_DOUBLE_EQ(e.kinetic, 0.5 * (1.0 + 2.0 * 4.0 + 9.0));
  EXPECT_DOUBLE_EQ(e.potential, 0.5 * modulus * 0.5 * (0.2 * 0.2 + 0.1 * 0.1));
}

TEST(Momenta, of_two_masses_are_those_of_the_formulas) {
  const Model model = two_masses();
  State state = reference_state(model);
  state.displacement = {0, 0, 1, 0, 0, 0};  // first mass at (1, 0, 1)
  state.velocity = {0, 3, 0, 0, 0, 4};
  const Momenta m = momenta(model, state);
  EXPECT_EQ(m.linear, (std::array<double, 3>{0, 6, 12}));
  EXPECT_EQ(m.angular, (std::array<double, 3>{-6.0 + 24.0, 0, 6}));  // 2 (1,0,1) x (0,3,0) + 3 (0,2,0) x (0,0,4)
  EXPECT_DOUBLE_EQ(m.linear_scale, 6.0 + 12.0);
  // Centre of mass (0.4, 1.2, 0.4): distances sqrt(0.36 + 1.44 + 0.36) and sqrt(0.16 + 0.64 + 0.16).
  EXPECT_DOUBLE_EQ(m.angular_scale, 6.0 * std::sqrt(2.16) + 12.0 * std::sqrt(0.96));
}

// A rigid turn of rate w about the origin: L = w sum m |x|^2 about z, p = w z x M x_c.
TEST(Momenta, of_a_turning_plate_are_rate_times_inertia) {
  const auto body = test::make_body(test::triangle_mesh(CellType::triangle6, 2, 0.1, 4), NeoHookean{lame}, 4.0);
  const double w = 0.7;
  State state = reference_state(*body.model);
  double inertia = 0.0;
  std::array<double, 2> first{};
  for (std::size_t a = 0; a < body.model->mass().size(); ++a) {
    const double x = body.mesh->points()[2 * a], y = body.mesh->points()[2 * a + 1], m = body.model->mass()[a];
    state.velocity[2 * a] = -w * y;
    state.velocity[2 * a + 1] = w * x;
    inertia += m * (x * x + y * y);
    first[0] += m * x;
    first[1] += m * y;
  }
  const Momenta m = momenta(*body.model, state);
  EXPECT_NEAR(m.angular[2], w * inertia, 1e-14);
  EXPECT_EQ(m.angular[0], 0.0);
  EXPECT_EQ(m.angular[1], 0.0);
  EXPECT_NEAR(m.linear[0], -w * first[1], 1e-14);
  EXPECT_NEAR(m.linear[1], w * first[0], 1e-14);
  EXPECT_EQ(m.linear[2], 0.0);
}

// A bar that hangs at rest pulls at its support with its whole weight, the held node's share included.
TEST(Reactions, of_a_hanging_bar_in_equilibrium_carry_its_weight) {
  const double g = 0.02, rho = 4.0;
  const Mesh mesh = test::bar_mesh(5, 0.15, 8);
  const double length = mesh.point(NodeId{5})[0];
  Model::Parts parts = test::elastic_parts(mesh, LinearElastic{lame}, rho);
  std::vector<Expression> b;
  b.emplace_back(g);
  test::add_force(parts, make_gravity(mesh, dynamic_cast<const ElasticCells&>(*parts.potentials[0]), {},
                                      VectorExpression(std::move(b))));
  parts.supports = test::held_at_rest(mesh, "left");
  const Model model(std::move(parts));
  State state = reference_state(model);
  double below = rho * length * g;  // weight carried by the next cell
  for (Index c = 0; c < 5; ++c) {
    below -= model.mass(make_id<NodeId>(c)) * g;
    const double cell_length = mesh.point(make_id<NodeId>(c + 1))[0] - mesh.point(make_id<NodeId>(c))[0];
    state.displacement[static_cast<std::size_t>(c) + 1] =
        state.displacement[static_cast<std::size_t>(c)] + below / modulus * cell_length;
  }
  const AviExplicit integrator(model, std::vector<double>(5, 1e-3));
  const Snapshot snapshot = integrator.synchronized(state, 0.0);
  for (std::size_t a = 1; a < 6; ++a) EXPECT_NEAR(snapshot.force[a], 0.0, 1e-15);
  const auto reaction = reactions(model, snapshot, 1e-4);
  ASSERT_EQ(reaction.size(), 1u);
  EXPECT_NEAR(reaction[0][0], -rho * length * g, 1e-15);
  EXPECT_EQ(reaction[0][1], 0.0);
}

// A rigid body driven at one end with u = sin(3 t): the support gives the held node its mass times its acceleration.
TEST(Reactions, of_a_driven_support_include_the_inertia_of_its_nodes) {
  const Mesh mesh = test::bar_mesh(2);
  Support support;
  support.name = "drive";
  support.nodes = {NodeId{0}};
  support.motion[0] = Support::Motion::prescribed;
  support.displacement[0] = Expression("sin(3*t)", {});
  std::vector<Support> all;
  all.push_back(std::move(support));
  const auto model = test::make_model(mesh, NeoHookean{lame}, 4.0, Supports(std::move(all), mesh.points(), 1));
  const double t = 0.4;
  Snapshot snapshot{t, reference_state(*model), std::vector<double>(3, 0.0), 0.0};
  EXPECT_NEAR(reactions(*model, snapshot, 1e-3)[0][0], 1.0 * -9.0 * std::sin(3.0 * t), 1e-7);
  snapshot.force[0] = 0.25;  // and takes over what pulls at it
  EXPECT_NEAR(reactions(*model, snapshot, 1e-3)[0][0], -9.0 * std::sin(3.0 * t) - 0.25, 1e-7);
}

Ledger booked(double impulse, double moment, double work) {
  Ledger ledger;
  for (std::size_t c = 0; c < 3; ++c) {
    ledger.impulse[c] += impulse * static_cast<double>(c + 1);
    ledger.moment[c] += moment * static_cast<double>(c + 1);
  }
  ledger.work += work;
  return ledger;
}

TEST(Sample, adds_what_loads_supports_and_dampers_have_given) {
  const auto body = test::make_body_held_at(test::bar_mesh(2), NeoHookean{lame}, 4.0, "left");
  Snapshot snapshot{0.5, reference_state(*body.model), std::vector<double>(3, 0.0), 0.0};
  snapshot.state.velocity = {0, 1, 0};
  snapshot.state.loads = booked(1, 4, 7);
  snapshot.state.supports[0] = booked(10, 40, 70);
  snapshot.state.damping = booked(100, 400, -700);
  const Sample s = sample(*body.model, snapshot);
  EXPECT_EQ(s.time, 0.5);
  EXPECT_EQ(s.energy.kinetic, 1.0);
  EXPECT_EQ(s.momentum.linear[0], 2.0);
  EXPECT_EQ(s.external_work, 77.0);
  EXPECT_EQ(s.booked_impulse, (std::array<double, 3>{111, 222, 333}));
  EXPECT_EQ(s.booked_moment, (std::array<double, 3>{444, 888, 1332}));
  EXPECT_EQ(s.damping_work, -700.0);
}

Sample made_up(double t, double kinetic, double potential, double work = 0.0) {
  return {t, {kinetic, potential}, {{}, {}, 0.0, 0.0}, work, {}, {}};
}

// Total energy 10 + 0.3 t over uneven samples; E_ref = 12, the largest kinetic energy.
TEST(Balance, drift_is_the_slope_of_total_energy_times_the_duration_over_the_reference) {
  Balance balance;
  for (const double t : {0.0, 0.1, 1.0, 1.5, 4.0}) {
    const double kinetic = t == 1.0 ? 12.0 : 5.0;
    balance.add(made_up(t, kinetic, 10.0 + 0.3 * t - kinetic));
  }
  const auto e = balance.energy();
  EXPECT_NEAR(e.drift, 0.3 * 4.0 / 12.0, 1e-15);
  EXPECT_NEAR(e.band, 0.3 * 4.0 / 12.0, 1e-15);
  EXPECT_EQ(e.reference, 12.0);
  EXPECT_EQ(e.initial, 10.0);
  EXPECT_NEAR(e.final, 11.2, 1e-15);
  EXPECT_NEAR(e.min, 10.0, 1e-15);
  EXPECT_NEAR(e.max, 11.2, 1e-15);
}

// Where nothing moves fast, the change of potential energy is the reference: here 8.
TEST(Balance, reference_is_the_larger_of_kinetic_energy_and_change_of_potential_energy) {
  Balance balance;
  balance.add(made_up(0.0, 0.0, 100.0));
  balance.add(made_up(1.0, 6.0, 92.0));
  balance.add(made_up(2.0, 1.0, 99.0));
  EXPECT_EQ(balance.energy().reference, 8.0);
  EXPECT_DOUBLE_EQ(balance.energy().band, 2.0 / 8.0);
}

TEST(Balance, an_oscillation_is_a_band_and_no_drift) {
  Balance balance;
  for (int i = 0; i <= 1000; ++i)
    balance.add(made_up(i * 1e-3, 4.0, 0.1 * std::cos(2.0 * std::numbers::pi * 10.0 * i * 1e-3)));
  EXPECT_NEAR(balance.energy().drift, 0.0, 1e-13);
  EXPECT_NEAR(balance.energy().band, 0.2 / 4.0, 1e-13);
}

TEST(Balance, work_from_outside_is_no_drift) {
  Balance balance;
  for (int i = 0; i <= 10; ++i) balance.add(made_up(i, 5.0 + i, 1.0, i));
  EXPECT_NEAR(balance.energy().drift, 0.0, 1e-15);
  EXPECT_NEAR(balance.energy().band, 0.0, 1e-15);
  EXPECT_EQ(balance.energy().max, 16.0);
}

TEST(Balance, of_one_sample_or_of_nothing_that_moves_is_zero_not_undefined) {
  Balance one;
  one.add(made_up(0.0, 1.0, 2.0));
  EXPECT_EQ(one.energy().drift, 0.0);
  EXPECT_EQ(one.energy().band, 0.0);
  Balance still;
  still.add(made_up(0.0, 0.0, 0.0));
  still.add(made_up(1.0, 0.0, 0.0));
  EXPECT_EQ(still.energy().drift, 0.0);
  EXPECT_EQ(still.linear_momentum().error, 0.0);
  EXPECT_EQ(still.angular_momentum().error, 0.0);
}

// The change that was not booked, over the largest scale: |(3, 4, 0)| / 20; for moments |(0, 0, 2)| / 8.
TEST(Balance, momentum_error_is_the_unbooked_change_over_the_largest_scale) {
  Balance balance;
  Sample s = made_up(0.0, 1.0, 0.0);
  s.momentum = {{1, 1, 1}, {2, 2, 2}, 20.0, 4.0};
  balance.add(s);
  s.time = 1.0;
  s.momentum = {{14, 5, 1}, {2, 2, 9}, 10.0, 8.0};
  s.booked_impulse = {10, 0, 0};
  s.booked_moment = {0, 0, 5};
  balance.add(s);
  s.time = 2.0;
  s.momentum = {{11, 1, 1}, {2, 2, 7}, 10.0, 8.0};
  balance.add(s);  // back on its books: the largest error counts
  EXPECT_DOUBLE_EQ(balance.linear_momentum().error, 5.0 / 20.0);
  EXPECT_DOUBLE_EQ(balance.angular_momentum().error, 2.0 / 8.0);
  EXPECT_EQ(balance.linear_momentum().initial, (std::array<double, 3>{1, 1, 1}));
  EXPECT_EQ(balance.linear_momentum().final, (std::array<double, 3>{11, 1, 1}));
  EXPECT_EQ(balance.angular_momentum().final, (std::array<double, 3>{2, 2, 7}));
}

}  // namespace
}  // namespace tempi
