// SPDX-License-Identifier: Apache-2.0
// Energy stays in a band of second order without trend; with loads and supports, energy minus booked work does.
#include <gtest/gtest.h>

#include "support/runs.hpp"

namespace tempi::test {
namespace {

struct Example {
  std::string name;
  std::function<Body()> body;
};

Body of_two(Mesh mesh) {
  return make_body_of_two(centred(mesh), NeoHookean{{1.3, 0.7}}, 1.2, SaintVenantKirchhoff{{3.0, 2.0}}, 0.8);
}

std::vector<Example> free_bodies() {
  using enum CellType;
  const Material nh = NeoHookean{{1.3, 0.7}};
  return {{"bar", [=] { return make_body(centred(bar_mesh(5, 0.15, 11)), nh, 1.2); }},
          {"triangle3", [=] { return make_body(centred(triangle_mesh(triangle3, 3, 0.15, 12)), nh, 1.2); }},
          {"triangle6", [=] { return make_body(centred(triangle_mesh(triangle6, 2, 0.12, 13, 0.05)), nh, 1.2); }},
          {"tetrahedron4", [=] { return make_body(centred(tetrahedron_mesh(tetrahedron4, 2, 0.15, 14)), nh, 1.2); }},
          {"tetrahedron10", [=] { return make_body(centred(tetrahedron_mesh(tetrahedron10, 1, 0.1, 15)), nh, 1.2); }},
          {"triangle3_of_two_materials", [=] { return of_two(triangle_mesh(triangle3, 3, 0.15, 16)); }},
          {"tetrahedron4_of_two_materials", [=] { return of_two(tetrahedron_mesh(tetrahedron4, 2, 0.15, 17)); }}};
}
void PrintTo(const Example& e, std::ostream* out) { *out << e.name; }

void move_and_load(const Mesh& mesh, Model::Parts& parts) {
  std::vector<Support> supports;
  supports.push_back(
      moving("left", nodes_of(mesh, "left"), {"0.03*sin(t)", "0.02*(1-cos(2*t))", "0.01*t*t/(1+t)"}, mesh.dim()));
  parts.supports = Supports(std::move(supports), mesh.points(), mesh.dim());
  add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.05", "-0.1*cos(2*t)", "0.03*X"}, mesh.dim())));
  add_force(parts, make_traction(mesh, facets_of(mesh, "right"),
                                 formulas({"0.03*sin(1.5*t)", "0.02", "-0.01*Y"}, mesh.dim())));
  add_force(parts, make_pressure(mesh, facets_of(mesh, "right"), Expression("0.04*(1-cos(t))", Constants{}),
                                 PressureFrame::deformed));
}

std::vector<Example> loaded_bodies() {
  using enum CellType;
  const auto make = [](Mesh mesh) {
    return make_body_with(std::move(mesh), NeoHookean{{1.3, 0.7}}, 1.2, move_and_load);
  };
  return {{"bar", [=] { return make(bar_mesh(5, 0.15, 11)); }},
          {"triangle3", [=] { return make(triangle_mesh(triangle3, 3, 0.15, 12)); }},
          {"triangle6", [=] { return make(triangle_mesh(triangle6, 2, 0.12, 13, 0.05)); }},
          {"tetrahedron4", [=] { return make(tetrahedron_mesh(tetrahedron4, 2, 0.15, 14)); }},
          {"tetrahedron10", [=] { return make(tetrahedron_mesh(tetrahedron10, 1, 0.1, 15)); }}};
}

// A smooth motion: stretched and spinning, so that the band is not all the rounding of high modes.
State stretched(const Body& body) {
  State state = reference_state(*body.model);
  const auto d = static_cast<std::size_t>(body.mesh->dim());
  std::vector<double> A(d * d, 0.01), c(d, 0.0);
  for (std::size_t i = 0; i < d; ++i) A[i * d + i] = 0.05;
  state.displacement = affine_displacements(*body.mesh, A, c);
  state.velocity = spinning_velocities(*body.mesh, 0.1);
  return state;
}

// Steps by a factor: 2, 3 and 5 tenths of it in turn, times the smallest stable step; or each term's own.
using StepsAt = std::function<std::vector<double>(const Model&, double)>;
// A base of few digits: all multiples are exact, and those that coincide do so to the bit.
std::vector<double> nested(const Model& model, double factor) {
  const double base = std::ldexp(std::round(std::ldexp(0.1 * smallest(own_steps(model, 1.0)), 20)), -20) * factor;
  std::vector<double> steps = uniform_steps(model, base);
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] *= std::array{2.0, 3.0, 5.0}[i % 3];
  return steps;
}
// The same but for rounding: what coincides does so nearly, in either order.
std::vector<double> nearly_nested(const Model& model, double factor) {
  std::vector<double> steps = nested(model, factor);
  Random random(3);
  for (double& step : steps) step *= 1.0 + random.uniform(-1e-12, 1e-12);
  return steps;
}
std::vector<double> own(const Model& model, double factor) { return own_steps(model, factor); }

// Bands over the same time at 1, 1/2, 1/4, 1/8 of `factor`; the same instants are sampled.
double slope_of_bands(const Body& body, const Method& method, const State& start, const StepsAt& steps, double factor) {
  std::vector<double> h, bands;
  const double t_end = 400 * smallest(own_steps(*body.model, 0.1));
  for (double f = factor; f > factor / 9; f *= 0.5) {
    const auto integrator = method.make(*body.model, steps(*body.model, f));
    State state = start;
    h.push_back(f);
    bands.push_back(run_and_balance(*body.model, *integrator, state, t_end, 300).energy().band);
  }
  return slope(h, bands);
}

class EnergyOfAFreeBody : public testing::TestWithParam<Example> {};

TEST_P(EnergyOfAFreeBody, StaysInABandOfSecondOrder) {
  const Body body = GetParam().body();
  for (const Method& method : methods()) {
    const double order = slope_of_bands(body, method, stretched(body), own, 0.3);
    RecordProperty(method.name, std::to_string(order));
    EXPECT_NEAR(order, 2.0, 0.2) << method.name;  // the instants sampled fall differently between the kicks
  }
}

TEST_P(EnergyOfAFreeBody, HasNoTrendOverAHundredThousandSteps) {
  const Body body = GetParam().body();
  for (const Method& method : methods()) {
    const bool synchronous = method.make(*body.model, own_steps(*body.model, 0.1))->name() == "newmark";
    const double safety = synchronous ? 0.5 : 0.25;
    const std::vector<double> steps = own_steps(*body.model, safety);
    const auto integrator = method.make(*body.model, steps);
    State state = without_net_momentum(body, moving_state(body, 0.2, 0.03, 5));
    const Balance::Energy energy =
        run_and_balance(*body.model, *integrator, state, 1e5 * smallest(steps), 400).energy();
    RecordProperty(method.name, std::to_string(energy.band) + " " + std::to_string(energy.drift));
    // A mode's energy varies by (omega h)^2 / 4, which is safety^2 for the stiffest.
    EXPECT_LT(energy.band, safety * safety) << method.name;
    EXPECT_LT(std::abs(energy.drift), 0.05 * safety * safety) << method.name;  // no trend: a part of the band allowed
  }
}

INSTANTIATE_TEST_SUITE_P(Of, EnergyOfAFreeBody, testing::ValuesIn(free_bodies()),
                         [](const auto& c) { return c.param.name; });

class EnergyBalanceOfALoadedBody : public testing::TestWithParam<Example> {};

TEST_P(EnergyBalanceOfALoadedBody, IsOffByTheSecondOrderOfTheStepsOnly) {
  const Body body = GetParam().body();
  for (const Method& method : methods()) {
    const State start = reference_state(*body.model);
    const double order = slope_of_bands(body, method, start, nested, 0.5);
    const double own_order = slope_of_bands(body, method, start, own, 0.3);
    const auto integrator = method.make(*body.model, own_steps(*body.model, 0.1));
    State state = reference_state(*body.model);
    const double t_end = 400 * smallest(own_steps(*body.model, 0.1));
    const Balance balance = run_and_balance(*body.model, *integrator, state, t_end, 300);
    const Sample last = sample(*body.model, integrator->synchronized(state, t_end));
    RecordProperty(method.name, std::to_string(order) + " " + std::to_string(own_order) + " " +
                                    std::to_string(balance.energy().band) + " " +
                                    std::to_string(last.external_work / balance.energy().reference));
    EXPECT_NEAR(order, 2.0, 0.2) << method.name;
    EXPECT_NEAR(own_order, 2.0, 0.2) << method.name;
    EXPECT_LT(balance.energy().band, 5e-3) << method.name;
    EXPECT_GT(std::abs(last.external_work), 0.1 * balance.energy().reference);  // there was work to book
  }
}

// Nearly equal times stay nearly equal for the whole run: a preference for one order would be an error of first order.
TEST_P(EnergyBalanceOfALoadedBody, IsOffByTheSecondOrderOfTheStepsOnlyWhenStrikesNearlyCoincide) {
  const Body body = GetParam().body();
  const double order = slope_of_bands(body, methods().front(), reference_state(*body.model), nearly_nested, 0.5);
  RecordProperty("avi", std::to_string(order));
  EXPECT_NEAR(order, 2.0, 0.2);
}

INSTANTIATE_TEST_SUITE_P(Of, EnergyBalanceOfALoadedBody, testing::ValuesIn(loaded_bodies()),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace tempi::test
