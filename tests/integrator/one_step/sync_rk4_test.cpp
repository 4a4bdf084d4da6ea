// SPDX-License-Identifier: Apache-2.0
// Runge-Kutta 4: of order 4, and a control: what it does not keep, the tests of what is kept must notice.
#include "tempi/integrator/one_step/sync_rk4.hpp"

#include <gtest/gtest.h>

#include "support/sync.hpp"

namespace tempi::test {
namespace {

std::unique_ptr<Integrator> make(const Model& model, double h) { return std::make_unique<SyncRk4>(model, h); }

TEST(Rk4, IsOfOrder4OnAChain) {
  const auto [u, v] = orders_on_the_chain(make, 0.5);
  EXPECT_NEAR(u, 4.0, 0.1);
  EXPECT_NEAR(v, 4.0, 0.1);
}

// |R(i x)|^2 = 1 - x^6/72 + x^8/576 for x = omega h.
TEST(Rk4, ChangesTheEnergyOfAnOscillatorByItsOwnFactor) {
  const auto model = line_of_masses({1.0, 0.6}, 0.0);
  const double omega = std::sqrt(2.0 * (1.0 / 1.0 + 1.0 / 0.6));
  for (const double x : {0.5, 1.0, 2.0, 2.8, 2.9}) {
    SCOPED_TRACE(x);
    SyncRk4 rk4(*model, x / omega);
    State state = reference_state(*model);
    state.displacement = {0.003, -0.005};  // centre of mass at rest
    const double before = sample(*model, rk4.synchronized(state, 0.0)).energy.potential;
    rk4.advance_to(state, 10.5 * x / omega);
    const Snapshot after = rk4.synchronized(state, 10.0 * x / omega);
    const Energies energy = energies(*model, after);
    const double factor = std::pow(1.0 - std::pow(x, 6) / 72.0 + std::pow(x, 8) / 576.0, 10);
    EXPECT_NEAR((energy.kinetic + energy.potential) / before, factor, 1e-11 * std::max(1.0, factor));
  }
}

TEST(Rk4, KeepsLinearMomentumOnly) {
  const auto model = spring_model(3.0);
  const double h = stable_limit(*model);
  SyncRk4 rk4(*model, 0.5 * h);
  State state = spinning_springs(*model);
  const Balance balance = run_and_balance(*model, rk4, state, 500 * h, 100);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_GT(balance.angular_momentum().error, 1e-6);
  EXPECT_LT(balance.energy().drift, -1e-3);
}

TEST(Rk4, DoesNotRunBack) {
  const auto model = spring_model(3.0);
  const double h = 0.5 * stable_limit(*model);
  EXPECT_GT(miss_after_running_back(make, *model, spinning_springs(*model), h, 100), 1e-5);
}

TEST(Rk4, IsNotSymplectic) {
  const auto model = line_of_masses({1.0, 1.0, 0.6}, 5.0);
  EXPECT_GT(symplectic_defect(make, *model, moving_masses(*model), 0.5 * stable_limit(*model), 3), 1e-4);
}

// Work of loads and of moving supports by the method's own quadrature.
TEST(Rk4, BalancesItsEnergyToOrder4) {
  const Body body = make_body_with(bar_mesh(5, 0.1), LinearElastic{{1.3, 0.7}}, 1.2, [](const Mesh& m, auto& parts) {
    parts.supports = one_support(m, moving("left", nodes_of(m, "left"), {"0.02*sin(3*t)"}, 1));
    add_force(parts, make_gravity(m, cells_of(parts), {}, formulas({"0.3*cos(2*t)"}, 1)));
  });
  std::vector<double> steps, errors;
  for (const double h : {0.06, 0.03, 0.015, 0.0075}) {
    SyncRk4 rk4(*body.model, h);
    State state = reference_state(*body.model);
    const Sample start = sample(*body.model, rk4.synchronized(state, 0.0));
    rk4.advance_to(state, 3.0);
    const Sample end = sample(*body.model, rk4.synchronized(state, 3.0));
    const auto total = [](const Sample& s) { return s.energy.kinetic + s.energy.potential - s.external_work; };
    steps.push_back(h);
    errors.push_back(std::abs(total(end) - total(start)));
  }
  EXPECT_GT(slope(steps, errors), 3.9);
}

}  // namespace
}  // namespace tempi::test
