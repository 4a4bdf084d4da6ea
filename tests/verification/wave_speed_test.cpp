// SPDX-License-Identifier: Apache-2.0
// Longitudinal waves travel at c = sqrt((lambda + 2 mu) / rho), for every element: the fundamental period of a bar
// fixed at one end, its lateral motion suppressed, is 4 L / c.
#include <gtest/gtest.h>

#include "support/runs.hpp"

namespace tempi::test {
namespace {

constexpr Lame lame{1.3, 0.7};
constexpr double density = 1.2, length = 1.0;

struct Case {
  std::string name;
  std::function<Mesh()> mesh;
};
// Undistorted, so that a plane wave stays plane but for the cut of the cells.
std::vector<Case> cases() {
  using enum CellType;
  return {{"bar", [] { return bar_mesh(20); }},
          {"triangle3", [] { return triangle_mesh(triangle3, 10); }},
          {"triangle6", [] { return triangle_mesh(triangle6, 5); }},
          {"tetrahedron4", [] { return tetrahedron_mesh(tetrahedron4, 6); }},
          {"tetrahedron10", [] { return tetrahedron_mesh(tetrahedron10, 4); }}};
}
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// x held at the left end, y and z held everywhere.
Supports uniaxial(const Mesh& mesh) {
  Support end, sides;
  end.name = "end", end.nodes = nodes_of(mesh, "left");
  end.motion[0] = Support::Motion::at_rest;
  sides.name = "sides", sides.nodes = all_nodes(mesh);
  for (int c = 1; c < mesh.dim(); ++c) sides.motion[static_cast<std::size_t>(c)] = Support::Motion::at_rest;
  std::vector<Support> all;
  all.push_back(std::move(end));
  if (mesh.dim() > 1) all.push_back(std::move(sides));
  return Supports(std::move(all), mesh.points(), mesh.dim());
}

double mode(double X) { return std::sin(0.5 * std::numbers::pi * X / length); }

// Amplitude of the fundamental mode: the projection on its shape by mass.
double amplitude(const Body& body, const State& state) {
  const auto d = static_cast<std::size_t>(body.mesh->dim());
  double sum = 0.0, norm = 0.0;
  for (std::size_t a = 0; a < body.model->mass().size(); ++a) {
    const double phi = mode(body.mesh->points()[a * d]), m = body.model->mass()[a];
    sum += m * phi * state.displacement[a * d];
    norm += m * phi * phi;
  }
  return sum / norm;
}

// From the first to the fifth passage through zero: two periods. Linear interpolation between 64 samples a period.
double measured_period(const Body& body, Integrator& integrator, double amplitude_at_start, double guess) {
  State state = reference_state(*body.model);
  const auto d = static_cast<std::size_t>(body.mesh->dim());
  for (std::size_t a = 0; a < body.model->mass().size(); ++a)
    state.displacement[a * d] = amplitude_at_start * mode(body.mesh->points()[a * d]);
  std::vector<double> crossings;
  double before = amplitude_at_start;
  for (int i = 1; crossings.size() < 5 && i < 64 * 4; ++i) {
    const double t = guess * i / 64;
    integrator.advance_to(state, t);
    const double now = amplitude(body, integrator.synchronized(state, t).state);
    if (before * now <= 0.0) crossings.push_back(t - guess / 64 * now / (now - before));
    before = now;
  }
  return crossings.size() == 5 ? 0.5 * (crossings[4] - crossings[0]) : 0.0;
}

// The cells are congruent; what makes AVI asynchronous is chance.
std::vector<double> spread_steps(const Model& model, double safety) {
  std::vector<double> steps = own_steps(model, safety);
  Random random(7);
  for (double& step : steps) step *= random.uniform(0.5, 1.0);
  return steps;
}

class BarOf : public testing::TestWithParam<Case> {};

TEST_P(BarOf, HasTheWaveSpeedOfItsMaterialWithinOnePercent) {
  const double c = std::sqrt((lame.lambda + 2.0 * lame.mu) / density), period = 4.0 * length / c;
  for (const Material& material : materials(lame))
    for (const Method& method : methods()) {
      SCOPED_TRACE(name_of(material) + " " + method.name);
      Body body;
      body.mesh = std::make_unique<Mesh>(GetParam().mesh());
      body.model = make_model(*body.mesh, material, density, uniaxial(*body.mesh));
      const auto integrator = method.make(*body.model, spread_steps(*body.model, 0.3));
      const double measured = measured_period(body, *integrator, 1e-6, period);
      RecordProperty(plain(name_of(material) + method.name), std::to_string(measured / period - 1.0));
      EXPECT_NEAR(measured / period, 1.0, 0.01);
    }
}

// What asynchrony costs. Of the leapfrog's modified energy, h^2/24 |dV/dx|^2 / m too stiff, only the terms of single
// elements survive averaging over phases that are not related; those between neighbours, which cancel them in slow
// waves, are lost. A slow wave in a bar of cells of length L then runs too fast by the mean of (h_K c / L)^2 / 12,
// however fine the mesh.
TEST(AsynchronousBar, CarriesSlowWavesTooFastByTheMeanSquareOfItsCourantNumbersOverTwelve) {
  const double c = std::sqrt((lame.lambda + 2.0 * lame.mu) / density), period = 4.0 * length / c;
  for (const int cells : {20, 40}) {
    const Body body = make_body_held_at(bar_mesh(cells), LinearElastic{lame}, density, "left");
    for (const double safety : {0.3, 0.5}) {
      const std::vector<double> steps = spread_steps(*body.model, safety);
      double expected = 0.0;
      for (const double h : steps) expected += std::pow(h * c * cells, 2) / 12.0 / cells;
      AviExplicit avi(*body.model, steps);
      const double measured = 1.0 - measured_period(body, avi, 1e-6, period) / period;
      RecordProperty("cells" + std::to_string(cells) + (safety < 0.4 ? "slow" : "fast"),
                     std::to_string(measured) + " " + std::to_string(expected));
      EXPECT_NEAR(measured, expected, 0.15 * expected);  // the steps are few and weighed by the local strain
    }
  }
}

// The sides matter: left free, the body shortens and bulges, and the same check fails.
TEST_P(BarOf, WithFreeSidesHasAnotherPeriod) {
  if (GetParam().name == "bar") return;
  const double period = 4.0 * length / std::sqrt((lame.lambda + 2.0 * lame.mu) / density);
  const Body body = make_body_held_at(GetParam().mesh(), LinearElastic{lame}, density, "left");
  const auto integrator = make_newmark(*body.model, own_steps(*body.model, 0.5));
  EXPECT_GT(std::abs(measured_period(body, *integrator, 1e-6, period) / period - 1.0), 0.03);
}

INSTANTIATE_TEST_SUITE_P(EveryElement, BarOf, testing::ValuesIn(cases()), [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace tempi::test
