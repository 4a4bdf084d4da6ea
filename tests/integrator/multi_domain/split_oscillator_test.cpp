// SPDX-License-Identifier: Apache-2.0
// The split oscillator of Gates, Matous, Heath (2008), section 4.1: orders of all frameworks (Fig. 13), limits of
// stability (Figs 8 to 10), its period, its energy in the long run (Fig. 6). At the amplitude 1; the paper gives none.
#include <gtest/gtest.h>

#include <cmath>

#include "support/split_oscillator.hpp"
#include "tempi/diagnostic/energy.hpp"

namespace tempi {
namespace {

using namespace test;

struct Rules {
  double alpha_a, alpha_b;
  int substeps_a, substeps_b;
};

Snapshot at(const Model& model, const Rules& r, double step, double t, Framework framework = Framework::canonical) {
  MultiDomain method(model, SplitOscillator::domains({r.alpha_a, r.substeps_a}, {r.alpha_b, r.substeps_b}), step,
                     framework);
  State state = SplitOscillator::state(model, 1.0, 0.0);
  method.advance_to(state, t);
  return method.synchronized(state, t);
}

// ---- orders ----

struct Orders {
  double position, velocity;
};
Orders orders(const Rules& rules, Framework framework) {
  const auto model = SplitOscillator().model();
  constexpr double t = 3.0;
  const State exact = at(*model, {0.0, 0.0, 1, 1}, t / 60000, t).state;
  const auto error = [&](int steps) {
    const State state = at(*model, rules, t / steps, t, framework).state;
    return std::array{std::abs(state.displacement[1] - exact.displacement[1]),
                      std::abs(state.velocity[1] - exact.velocity[1])};
  };
  const auto coarse = error(240), fine = error(480);
  return {std::log2(coarse[0] / fine[0]), std::log2(coarse[1] / fine[1])};
}

TEST(SplitOscillator, PositionsAreOfSecondOrderAndVelocitiesAsThePaperHasThem) {
  for (const double alpha : {0.0, 0.5})
    for (const int substeps : {1, 8})
      for (const Framework framework : {Framework::canonical, Framework::hamiltonian, Framework::lagrangian}) {
        const Orders found = orders({alpha, alpha, substeps, 1}, framework);
        EXPECT_NEAR(found.position, 2.0, 0.2);
        const double velocity = framework == Framework::hamiltonian && substeps > 1 ? 1.0 : 2.0;
        EXPECT_NEAR(found.velocity, velocity, 0.25);
      }
}

// ---- stability where it rests ----

// Whether the map of a system step, linearised at rest, keeps its eigenvalues on the unit circle.
bool is_stable(const Model& model, const Rules& r, double step) {
  constexpr double small = 1e-6;
  double M[2][2];
  for (int j = 0; j < 2; ++j) {
    MultiDomain method(model, SplitOscillator::domains({r.alpha_a, r.substeps_a}, {r.alpha_b, r.substeps_b}), step);
    State state = SplitOscillator::state(model, j == 0 ? small : 0.0, j == 1 ? small : 0.0);
    method.advance_to(state, 1.5 * step);
    M[0][j] = state.displacement[1] / small;
    M[1][j] = state.velocity[1] / small;
  }
  EXPECT_NEAR(M[0][0] * M[1][1] - M[0][1] * M[1][0], 1.0, 1e-6);  // symplectic
  return std::abs(M[0][0] + M[1][1]) <= 2.0 + 1e-9;
}

double limit(const Rules& rules) {
  const auto model = SplitOscillator().model();
  double step = 0.1;
  while (step < 8.0 && is_stable(*model, rules, step)) step *= 1.005;
  return step;
}

TEST(SplitOscillator, HasTheLimitsOfItsLinearMotion) {
  for (const auto& [substeps, expected] : {std::pair{1, 0.577}, {2, 0.792}, {4, 0.897}, {8, 0.931}})
    EXPECT_NEAR(limit({0.0, 0.0, substeps, 1}), expected, 0.015 * expected) << substeps;
  for (const auto& [substeps, expected] : {std::pair{2, 1.19}, {4, 1.07}, {8, 1.04}})
    EXPECT_NEAR(limit({0.5, 0.5, substeps, 1}), expected, 0.015 * expected) << substeps;
  EXPECT_GE(limit({0.5, 0.5, 1, 1}), 8.0);  // none
  for (const auto& [substeps, expected] : {std::pair{2, 0.587}, {8, 0.589}})
    EXPECT_NEAR(limit({0.0, 0.0, 1, substeps}), expected, 0.015 * expected) << substeps;
  for (const auto& [substeps, expected] : {std::pair{2, 4.63}, {8, 4.04}})
    EXPECT_NEAR(limit({0.5, 0.5, 1, substeps}), expected, 0.015 * expected) << substeps;
}

TEST(SplitOscillator, MixedRulesHaveLimitsBetweenThoseOfTheirOwn) {
  for (const int substeps : {2, 8}) {
    const double explicit_ones = limit({0.0, 0.0, substeps, 1}), implicit_ones = limit({0.5, 0.5, substeps, 1});
    EXPECT_GE(limit({0.5, 0.0, substeps, 1}), 0.99 * explicit_ones);
    EXPECT_LE(limit({0.0, 0.5, substeps, 1}), 1.01 * implicit_ones);
  }
}

// ---- period and energy ----

// 4 q'' = -48 tanh q from the amplitude 1, by quadrature of dq / v with q = cos s.
double exact_period() {
  constexpr int n = 20000;
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    const double s = (i + 0.5) * 0.5 * std::numbers::pi / n, q = std::cos(s);
    sum += std::sin(s) / std::sqrt(2.0 * 12.0 * std::log(std::cosh(1.0) / std::cosh(q)));
  }
  return 4.0 * sum * 0.5 * std::numbers::pi / n;
}

double mean_period(const Rules& rules, double step, int periods) {
  const auto model = SplitOscillator().model();
  MultiDomain method(*model,
                     SplitOscillator::domains({rules.alpha_a, rules.substeps_a}, {rules.alpha_b, rules.substeps_b}),
                     step);
  State state = SplitOscillator::state(*model, 1.0, 0.0);
  std::vector<double> falls;  // through zero
  double before = 1.0;
  for (Index k = 1; std::ssize(falls) <= periods; ++k) {
    method.advance_to(state, (static_cast<double>(k) + 0.5) * step);
    const double q = state.displacement[1];
    if (before > 0.0 && q <= 0.0) falls.push_back(step * (static_cast<double>(k) + q / (before - q)));
    before = q;
  }
  return (falls.back() - falls.front()) / periods;
}

TEST(SplitOscillator, KeepsItsPeriodAndTheStiffSideDecidesHowWell) {
  const double exact = exact_period();
  EXPECT_NEAR(exact, 2.0149, 1e-3);
  const auto error = [&](int a, int b) { return std::abs(mean_period({0.5, 0.5, a, b}, 0.1, 40) / exact - 1.0); };
  const double plain = error(1, 1);
  EXPECT_LE(plain, 0.01);
  EXPECT_NEAR(error(8, 1) / plain, 0.5, 0.15);  // "reduced by half"
  EXPECT_NEAR(error(1, 8) / plain, 1.0, 0.1);
}

// The band of the energy over the first and the last steps.
double band_ratio(const Rules& rules, Index steps) {
  const auto model = SplitOscillator().model();
  constexpr double step = 0.1;
  MultiDomain method(*model,
                     SplitOscillator::domains({rules.alpha_a, rules.substeps_a}, {rules.alpha_b, rules.substeps_b}),
                     step);
  State state = SplitOscillator::state(*model, 1.0, 0.0);
  const auto band = [&](Index from, Index to) {
    double least = 1e300, most = -1e300;
    for (Index k = from; k < to; ++k) {
      method.advance_to(state, (static_cast<double>(k) + 0.5) * step);
      const double T = 0.5 * 4.0 * state.velocity[1] * state.velocity[1],
                   V = model->potential_energy(state.displacement, 0.0);
      least = std::min(least, T + V);
      most = std::max(most, T + V);
    }
    return most - least;
  };
  constexpr Index look = 5000;
  const double first = band(1, look);
  method.advance_to(state, static_cast<double>(steps - look) * step);
  return band(steps - look, steps) / first;
}

TEST(SplitOscillator, KeepsItsEnergyBand) {
  for (const Rules& rules : {Rules{0.0, 0.0, 1, 1}, {0.0, 0.0, 8, 1}, {0.5, 0.5, 8, 1}})
    EXPECT_NEAR(band_ratio(rules, 30'000), 1.0, 0.02);
}
TEST(FullSplitOscillator, KeepsItsEnergyBandOverAMillionSteps) {
  for (const Rules& rules : {Rules{0.0, 0.0, 1, 1}, {0.0, 0.0, 8, 1}, {0.5, 0.5, 1, 1}, {0.5, 0.5, 8, 1}})
    EXPECT_NEAR(band_ratio(rules, 1'000'000), 1.0, 0.02);
}

}  // namespace
}  // namespace tempi
