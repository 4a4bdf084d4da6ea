// SPDX-License-Identifier: Apache-2.0
// The energy-momentum method keeps energy at any step it can solve; momenta as claimed; what it does not claim shows.
#include "tempi/integrator/one_step/sync_energy_momentum.hpp"

#include <gtest/gtest.h>

#include "support/sync.hpp"

namespace tempi::test {
namespace {

std::unique_ptr<Integrator> make(const Model& model, double h) {
  return std::make_unique<SyncEnergyMomentum>(model, h);
}

Body block() {
  return make_body(centred(triangle_mesh(CellType::triangle3, 3, 0.12, 12)), NeoHookean{{1.3, 0.7}}, 1.2);
}
State start_of(const Body& body) { return without_net_momentum(body, moving_state(body, 0.3, 0.05, 5)); }

TEST(EnergyMomentum, IsOfOrder2OnAChain) {
  const auto [u, v] = orders_on_the_chain(make, 0.3);
  EXPECT_NEAR(u, 2.0, 0.1);
  EXPECT_NEAR(v, 2.0, 0.1);
}

// For linear models it is the midpoint rule: tan(theta / 2) = omega h / 2.
TEST(EnergyMomentum, TurnsAnOscillatorAsTheMidpointRule) {
  const auto model = line_of_masses({1.0, 0.6}, 0.0);
  const double omega = std::sqrt(2.0 * (1.0 / 1.0 + 1.0 / 0.6));
  for (const double x : {0.3, 1.0, 5.0}) {
    SCOPED_TRACE(x);
    const double h = x / omega, theta = 2.0 * std::atan(0.5 * x);
    SyncEnergyMomentum method(*model, h);
    State state = reference_state(*model);
    state.displacement = {0.03, -0.05};
    for (int j = 1; j <= 100; ++j) {
      method.advance_to(state, j * h);
      const State at = method.synchronized(state, j * h).state;
      EXPECT_NEAR(at.displacement[0], 0.03 * std::cos(j * theta), 1e-12);
      EXPECT_NEAR(at.velocity[1], 0.05 * omega * std::sin(j * theta), 1e-12);
    }
  }
}

TEST(EnergyMomentum, OfSpringsKeepsEnergyAndMomentaAt20TimesTheLimit) {
  const auto model = spring_model(3.0);
  const double h = 20.0 * stable_limit(*model);
  SyncEnergyMomentum method(*model, h);
  State state = spinning_springs(*model);
  const auto mean = mass_average(*model, state.velocity);  // or it would fly 1e4 lengths away, and lose their digits
  for (std::size_t i = 0; i < state.velocity.size(); ++i) state.velocity[i] = 0.3 * (state.velocity[i] - mean[i % 2]);
  const Balance balance = run_and_balance(*model, method, state, 1000 * h, 1000);
  EXPECT_LT(balance.energy().band, 1e-11);  // displacements are rounded, and (omega h)^2 = 1600
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_LT(balance.angular_momentum().error, 1e-12);
  RecordProperty("measured",
                 fmt::format("{:.2g} {:.2g} {:.2g} {}", balance.energy().band, balance.linear_momentum().error,
                             balance.angular_momentum().error, method.map().iterations()));
}

TEST(EnergyMomentum, OfASpinningSpringKeepsEnergyAndMomentaAt20TimesTheLimit) {
  Model::Parts parts;
  parts.dim = 2;
  parts.reference = {0.0, 0.0, 1.0, 0.0};
  parts.mass = {1.0, 0.6};
  parts.potentials.push_back(std::make_unique<Springs>(parts.reference, 2,
                                                       std::vector<std::array<NodeId, 2>>{{NodeId{0}, NodeId{1}}}, 2.0,
                                                       5.0));
  const Model model(std::move(parts));
  const double h = 20.0 * stable_limit(model);
  SyncEnergyMomentum method(model, h);
  State state = reference_state(model);
  state.displacement[2] = 0.2;
  state.velocity = {-0.06, -0.03, 0.1, 0.05};
  const Balance balance = run_and_balance(model, method, state, 1000 * h, 1000);
  EXPECT_LT(balance.energy().band, 1e-12);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_LT(balance.angular_momentum().error, 1e-12);
  RecordProperty("measured",
                 fmt::format("{:.2g} {:.2g} {:.2g} {}", balance.energy().band, balance.linear_momentum().error,
                             balance.angular_momentum().error, method.map().iterations()));
}

TEST(EnergyMomentum, OfSpringsKeepsEnergyAndMomentaAtSmallSteps) {
  const auto model = spring_model(3.0);
  for (const double part : {0.5, 0.05, 0.001}) {
    SCOPED_TRACE(part);
    const double h = part * stable_limit(*model);
    SyncEnergyMomentum method(*model, h);
    State state = spinning_springs(*model);
    const Balance balance = run_and_balance(*model, method, state, 1000 * h, 100);
    EXPECT_LT(balance.energy().band, 1e-12);
    EXPECT_LT(balance.linear_momentum().error, 1e-13);
    EXPECT_LT(balance.angular_momentum().error, 1e-12);
    RecordProperty(fmt::format("at_{}", 1000 * part),
                   fmt::format("{:.2g} {:.2g} {:.2g} {}", balance.energy().band, balance.linear_momentum().error,
                               balance.angular_momentum().error, method.map().iterations()));
  }
}

TEST(EnergyMomentum, OfANeoHookeanBlockKeepsEnergyAt20TimesTheLimit) {
  const Body body = block();
  const double h = 20.0 * stable_limit(*body.model);
  SyncEnergyMomentum method(*body.model, h);
  State state = start_of(body);
  const Balance balance = run_and_balance(*body.model, method, state, 1000 * h, 200);
  EXPECT_LT(balance.energy().band, 1e-11);  // of rounding: 0.8e-12 to 2.4e-12, as the BLAS at hand rounds
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  RecordProperty("measured",
                 fmt::format("{:.2g} {:.2g} {:.2g} {}", balance.energy().band, balance.linear_momentum().error,
                             balance.angular_momentum().error, method.map().iterations()));
}

TEST(EnergyMomentum, OfElementsDoesNotKeepAngularMomentum) {
  const Body body = block();
  const double h = stable_limit(*body.model);
  SyncEnergyMomentum method(*body.model, h);
  EXPECT_EQ(method.claims().angular_momentum, Conservation::none);
  EXPECT_EQ(SyncEnergyMomentum(*spring_model(1.0), 0.1).claims().angular_momentum, Conservation::exact);
  State state = start_of(body);
  const Balance balance = run_and_balance(*body.model, method, state, 200 * h, 50);
  EXPECT_GT(balance.angular_momentum().error, 1e-9);
  RecordProperty("measured", fmt::format("{:.2g}", balance.angular_momentum().error));
}

TEST(EnergyMomentum, BalancesTheWorkOfLoadsAndMovingSupports) {
  const Body body = make_body_with(
      triangle_mesh(CellType::triangle6, 2, 0.12, 21, 0.05), NeoHookean{{1.3, 0.7}}, 1.2,
      [](const Mesh& mesh, Model::Parts& parts) {
        parts.supports = one_support(mesh, moving("left", nodes_of(mesh, "left"), {"0.02*sin(3*t)", "0.01*Y*t"}, 2));
        add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.1", "-0.3*cos(t)"}, 2)));
        add_force(parts, make_pressure(mesh, facets_of(mesh, "right"), Expression("0.02*(1+sin(t))", Constants{}),
                                       PressureFrame::deformed));
      });
  const double h = 1.0 * stable_limit(*body.model);
  SyncEnergyMomentum method(*body.model, h);
  State state = moving_state(body, 0.1, 0.02, 5);
  const Balance balance = run_and_balance(*body.model, method, state, 200 * h, 200);
  EXPECT_LT(balance.energy().band, 1e-12);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
}

TEST(EnergyMomentum, RunsBack) {
  const auto springs = spring_model(3.0);
  EXPECT_LT(miss_after_running_back(make, *springs, spinning_springs(*springs), stable_limit(*springs), 100), 1e-10);
  const Body body = block();
  EXPECT_LT(miss_after_running_back(make, *body.model, start_of(body), stable_limit(*body.model), 100), 1e-10);
}

TEST(EnergyMomentum, IsNotSymplectic) {
  const auto model = line_of_masses({1.0, 1.0, 0.6}, 5.0);
  EXPECT_GT(symplectic_defect(make, *model, moving_masses(*model), 0.5 * stable_limit(*model), 3), 1e-5);
}

}  // namespace
}  // namespace tempi::test
