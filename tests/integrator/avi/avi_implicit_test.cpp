// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/avi/avi_implicit.hpp"

#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include <sstream>

#include "support/implicit.hpp"
#include "support/pair_cases.hpp"
#include "support/sync.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/integrator/one_step/sync_newmark_implicit.hpp"
#include "tempi/integrator/one_step/sync_variational.hpp"

namespace tempi::test {
namespace {

// ---- without alpha ----

TEST(AviImplicit, WithoutAlphaHasTheBitsOfAviExplicit) {
  const Body body = loaded_body();
  const std::vector<double> steps = own_steps(*body.model, 0.4);
  const double end = 40.3 * smallest(steps);
  const auto run = [&](const Method& method) {
    State state = moving_state(body, 0.1, 0.02, 5);
    const auto integrator = method.make(*body.model, steps);
    integrator->advance_to(state, 0.3 * end);
    EnergyResidual residual(*body.model);
    integrator->advance_to(state, 0.6 * end, residual);
    integrator->advance_to(state, end);
    return std::pair(state, integrator->synchronized(state, end));
  };
  const auto [expected, expected_snapshot] = run({"avi", make_avi});
  const auto [state, snapshot] = run(avi_implicit(0.0));
  EXPECT_TRUE(same_bits(state, expected));
  EXPECT_TRUE(same_bits(snapshot.state, expected_snapshot.state));
  EXPECT_TRUE(same_bits(snapshot.force, expected_snapshot.force));
  EXPECT_EQ(snapshot.potential_energy, expected_snapshot.potential_energy);
  EXPECT_FALSE(same_motion(run(avi_implicit(0.01)).first, expected));  // control
}

// ---- one spring: known exactly ----

// Two masses, stretched by s at first: an oscillator of frequency 1.
struct Oscillator {
  static constexpr double m1 = 2.0, m2 = 0.6, s = 0.3;
  Oscillator() {
    Model::Parts parts = particles(2, {0.0, 0.0, 0.6, 0.8}, {m1, m2});
    add_pairs(parts, chain(2), Spring{1.0 / (1.0 / m1 + 1.0 / m2), 1.0});
    model = std::make_unique<Model>(std::move(parts));
    start = reference_state(*model);
    const double a = -s * m2 / (m1 + m2), b = s * m1 / (m1 + m2);
    start.displacement = {0.6 * a, 0.8 * a, 0.6 * b, 0.8 * b};
  }
  double stretch(const State& state) const {
    const auto& u = state.displacement;
    return 0.6 * (u[2] - u[0]) + 0.8 * (u[3] - u[1]);
  }
  // Of a run of `steps` steps, at every step.
  std::vector<double> stretches(double h, double alpha, int steps) const {
    AviImplicit avi(*model, {h}, {alpha});
    State state = start;
    std::vector<double> result;
    for (int j = 1; j <= steps; ++j) {
      avi.advance_to(state, j * h);
      result.push_back(stretch(avi.synchronized(state, j * h).state));
    }
    return result;
  }
  std::unique_ptr<Model> model;
  State start;
};

// 2 (1 - cos phi) = h^2 w^2 / (1 + alpha^2 h^2 w^2) a step.
TEST(AviImplicitOscillator, TurnsByThePhaseOfItsSoftenedFrequency) {
  const Oscillator oscillator;
  for (const double alpha : {0.2, 0.5, 0.75, 1.0})
    for (const double h : {0.1, 1.0, 10.0}) {
      const double h2 = h * h / (1.0 + alpha * alpha * h * h);
      if (h2 > 4.0) continue;
      const double phi = std::acos(1.0 - 0.5 * h2);
      const std::vector<double> q = oscillator.stretches(h, alpha, 400);
      double worst = 0.0;
      for (std::size_t j = 0; j < q.size(); ++j)
        worst = std::max(worst, std::abs(q[j] - Oscillator::s * std::cos(static_cast<double>(j + 1) * phi)));
      EXPECT_LT(worst, 1e-11) << "alpha = " << alpha << ", h w = " << h;
    }
}

// The limit h w = 2 / sqrt(1 - 4 alpha^2), none from alpha = 1/2 on.
TEST(AviImplicitOscillator, IsStableUpToTheLimitOfAlphaAndNotBeyond) {
  const Oscillator oscillator;
  for (const double alpha : {0.0, 0.3, 0.45}) {
    const double limit = 2.0 / std::sqrt(1.0 - 4.0 * alpha * alpha);
    EXPECT_LT(largest(oscillator.stretches(0.999 * limit, alpha, 63)), 1.01 * Oscillator::s);
    EXPECT_GT(largest(oscillator.stretches(1.001 * limit, alpha, 63)), 3.0 * Oscillator::s);
    const auto too_long = [&] { (void)oscillator.stretches(1.001 * limit, alpha, 65); };  // looked after at 64
    EXPECT_THROW(too_long(), SolveError);
  }
  // y is rounded to 1e-16, so the force to 1e-16 (h w)^2 / 4 of its size at the stretch s: not beyond h w = 1e5 or so.
  for (const double h : {2.001, 10.0, 1e3, 1e4})
    EXPECT_LT(largest(oscillator.stretches(h, 0.5, 1000)), 1.01 * Oscillator::s) << h;
}

// One cell is all there is: update by update the generalised midpoint rule, alpha^2 = a (1 - a), seen (1 - a) h later.
TEST(AviImplicit, OfASingleCellIsTheGeneralisedMidpointRule) {
  const Body body =
      make_body(mesh_of(3, {0, 0, 0, 1, 0.1, 0, 0.2, 0.9, 0, 0.1, 0.3, 0.8}, CellType::tetrahedron4, {{0, 1, 2, 3}}),
                NeoHookean{{1.3, 0.7}}, 1.2);
  const double h = 3.0 * smallest(own_steps(*body.model, 1.0));
  for (const double a : {0.5, 0.4}) {
    AviImplicit avi(*body.model, {h}, {std::sqrt(a * (1.0 - a))});
    State state = moving_state(body, 0.2, 0.05, 5);
    avi.advance_to(state, 0.5 * h);  // the starting half kick, no update
    State rule = state;
    const auto drifted = [&](State s, double dt) {
      for (std::size_t i = 0; i < s.displacement.size(); ++i) s.displacement[i] += dt * s.velocity[i];
      return s;
    };
    rule = drifted(rule, (1.0 - a) * h);
    SyncVariational midpoint(*body.model, midpoint_action(a), h);
    const int steps = 50;
    avi.advance_to(state, (steps + 0.5) * h);
    midpoint.advance_to(rule, steps * h + 1e-9 * h);
    const State expected = drifted(state, (1.0 - a) * h);
    EXPECT_LT(largest_difference(rule.displacement, expected.displacement), 1e-12) << a;
    EXPECT_LT(largest_difference(rule.velocity, expected.velocity), 1e-12) << a;
    EXPECT_GT(largest_difference(rule.displacement, drifted(state, a * h + 0.01 * h).displacement), 1e-4);  // control
  }
}

// ---- stiff among soft ----

// Seven cells of a free bar, every other one stiffer: (ratio)^2 times, so that its stable step is `ratio` times shorter
// than that of the soft ones. Both nodes of a stiff cell start with the same velocity.
struct StiffBar {
  explicit StiffBar(double ratio) {
    const double k = ratio * ratio;
    body = make_body_of_two(bar_mesh(7, 0.1, 3), NeoHookean{{1.3 * k, 0.7 * k}}, 1.2, NeoHookean{{1.3, 0.7}}, 1.2);
    start = reference_state(*body.model);
    for (std::size_t a = 0; a < 8; ++a) start.velocity[a] = 0.05 * std::sin(2.0 * static_cast<double>(a / 2) + 1.0);
    const auto own = own_steps(*body.model, 1.0);
    stiff_limit = *std::max_element(own.begin(), own.begin() + stiff);
    soft_limit = *std::min_element(own.begin() + stiff, own.end());
  }
  enum class Steps { nested, unequal };
  // h and h / 2 at different cells; or between 0.7 h and h, of irrational ratios.
  static std::vector<double> steps(Steps which, double h) {
    if (which == Steps::nested) return {0.5 * h, h, 0.5 * h, h, h, 0.5 * h, h};
    Random random(4);
    std::vector<double> result;
    for (int i = 0; i < 7; ++i) result.push_back(h * random.uniform(0.7, 1.0));
    return result;
  }
  static std::vector<double> alphas(double alpha) {
    std::vector<double> result(7, 0.0);
    std::fill_n(result.begin(), stiff, alpha);
    return result;
  }
  Balance balance(Steps which, double h, double alpha, int steps_taken, int samples) const {
    AviImplicit avi(*body.model, steps(which, h), alphas(alpha));
    State state = start;
    return run_and_balance(*body.model, avi, state, steps_taken * h, samples);
  }
  static constexpr int stiff = 4;  // terms
  Body body;
  State start;
  double stiff_limit, soft_limit;
};

// Energy in a band without trend, momentum to rounding. Explicit, and implicit but not enough, the same run does not
// come far.
struct Run {
  double times;  // stable steps of the stiff cells
  StiffBar::Steps which;
  double alpha;
  int steps;
};
class StiffBarAt : public testing::TestWithParam<Run> {};
TEST_P(StiffBarAt, ManyTimesItsStableStepIsBoundedOverManySteps) {
  const auto [times, which, alpha, steps] = GetParam();
  const StiffBar bar(times / 0.17);
  const double h = 0.35 * bar.soft_limit;
  for (int i = 0; i < StiffBar::stiff; ++i)
    ASSERT_GT(StiffBar::steps(which, h)[static_cast<std::size_t>(i)], times * bar.stiff_limit);
  const Balance balance = bar.balance(which, h, alpha, steps, 500);
  RecordProperty("energy", fmt::format("{} {}", balance.energy().band, balance.energy().drift));
  EXPECT_LT(balance.energy().band, 0.06);  // the soft bar by explicit AVI at the same steps: 0.058
  EXPECT_LT(std::abs(balance.energy().drift), 0.5 * balance.energy().band);
  EXPECT_LT(balance.linear_momentum().error, 1e-12);
  EXPECT_THROW((void)bar.balance(which, h, 0.0, 200, 1), SolveError);
  EXPECT_THROW((void)bar.balance(which, h, 0.3, 200, 1), SolveError);
}
INSTANTIATE_TEST_SUITE_P(Its, StiffBarAt,
                         testing::Values(Run{5.0, StiffBar::Steps::nested, 0.55, 20000},
                                         Run{20.0, StiffBar::Steps::nested, 0.55, 100000},
                                         Run{20.0, StiffBar::Steps::unequal, 1.5, 20000}));

// Against the bar resolved by steps below the stiff cells' limit.
TEST(StiffBar, ConvergesWithOrderTwoWhileItsStiffCellsAreFarFromResolved) {
  const StiffBar bar(300.0);
  const double t = 4.0 * bar.soft_limit;
  SyncVariational gauss(*bar.body.model, gauss_action(6), 0.5 * bar.stiff_limit);
  State reference = bar.start;
  gauss.advance_to(reference, t);
  reference = gauss.synchronized(reference, t).state;
  std::vector<double> h, errors;
  for (const double part : {0.4, 0.2, 0.1, 0.05}) {
    const double step = part * bar.soft_limit;
    EXPECT_GT(0.7 * step, 8.0 * bar.stiff_limit);
    AviImplicit avi(*bar.body.model, StiffBar::steps(StiffBar::Steps::unequal, step), StiffBar::alphas(0.75));
    State state = bar.start;
    avi.advance_to(state, t);
    h.push_back(step);
    errors.push_back(largest_difference(avi.synchronized(state, t).state.displacement, reference.displacement));
  }
  RecordProperty("order", fmt::format("{}: {}", slope(h, errors), fmt::join(errors, " ")));
  EXPECT_NEAR(slope(h, errors), 2.0, 0.2);
  EXPECT_LT(errors.back(), 0.01 * largest(reference.displacement));
}

// Tangent by differences: 1e-10 of entries up to (stiffness of the stiff cells) * time.
TEST(StiffBar, HasASymplecticMapWithItsStiffCellsAtManyStableSteps) {
  const StiffBar bar(30.0);
  const double h = 0.35 * bar.soft_limit;
  ASSERT_GT(0.7 * h, 7.0 * bar.stiff_limit);
  const auto implicit = [](const Model& model, double step) {
    return std::make_unique<AviImplicit>(model, StiffBar::steps(StiffBar::Steps::unequal, step),
                                         StiffBar::alphas(0.75));
  };
  const auto damped = [](const Model& model, double step) {
    return std::make_unique<SyncNewmarkImplicit>(model, step, 0.3025, 0.6);
  };
  EXPECT_LT(symplectic_defect(implicit, *bar.body.model, bar.start, h, 10), 1e-6);
  EXPECT_GT(symplectic_defect(damped, *bar.body.model, bar.start, h, 10), 1e-2);  // control
}

// A mesh with slivers: points of one row moved towards the next.
Mesh mesh_with_slivers(double flatness) {
  const Mesh sound = triangle_mesh(CellType::triangle3, 5, 0.1, 3);
  std::vector<double> points(sound.points().begin(), sound.points().end());
  for (const int a : {14, 21}) {  // inner points; the neighbour below is 6 before
    const auto i = static_cast<std::size_t>(2 * a);
    for (std::size_t c = 0; c < 2; ++c)
      points[i + c] = points[i - 12 + c] + flatness * (points[i + c] - points[i - 12 + c]);
  }
  std::vector<std::vector<int>> cells;
  for (Index k = 0; k < sound.cells().size(); ++k) {
    cells.emplace_back();
    for (const NodeId a : sound.cells()[k]) cells.back().push_back(static_cast<int>(index(a)));
  }
  return mesh_of(2, points, CellType::triangle3, cells);
}

struct SliverRun {
  Balance balance;
  double worst_ratio;  // step over stable step
  int implicit;        // terms
};
SliverRun run_with_slivers(double flatness, bool implicit, int steps) {
  const Body body = make_body(mesh_with_slivers(flatness), NeoHookean{{1.3, 0.7}}, 1.2);
  const Model& model = *body.model;
  std::vector<double> own = own_steps(model, 1.0), sorted = own;
  std::ranges::sort(sorted);
  const double h = 0.4 * sorted[sorted.size() / 2];  // of sound cells
  std::vector<double> taken;
  Random random(6);
  for (const double s : own) taken.push_back(std::max(0.4 * s, h) * random.uniform(0.8, 1.0));
  for (std::size_t i = 0; i < own.size(); ++i) taken[i] = std::min(taken[i], 2.0 * h);
  const State start = moving_state(body, 0.2, 0.02, 5);
  const auto alphas =
      implicit ? least_alphas(model, reference_state(model).displacement, taken, 0.6) : alike(model, 0.0);
  SliverRun result{{}, 0.0, 0};
  for (std::size_t i = 0; i < own.size(); ++i) {
    result.worst_ratio = std::max(result.worst_ratio, taken[i] / own[i]);
    result.implicit += alphas[i] > 0.0 ? 1 : 0;
  }
  AviImplicit avi(model, taken, alphas);
  State state = start;
  result.balance = run_and_balance(model, avi, state, steps * h, 200);
  return result;
}

class MeshWithSlivers : public testing::TestWithParam<double> {};
TEST_P(MeshWithSlivers, GoesAtTheStepsOfItsSoundCells) {
  const SliverRun run = run_with_slivers(GetParam(), true, 5000);
  const Balance::Energy energy = run.balance.energy();
  RecordProperty("run", fmt::format("{} times, {} implicit, band {}, drift {}", run.worst_ratio, run.implicit,
                                    energy.band, energy.drift));
  EXPECT_GT(run.worst_ratio, 0.3 / GetParam());
  EXPECT_GT(run.implicit, 1);
  EXPECT_LT(run.implicit, 15);
  EXPECT_LT(energy.band, 0.05);
  EXPECT_LT(std::abs(energy.drift), 0.5 * energy.band);
  EXPECT_LT(run.balance.linear_momentum().error, 1e-12);
  EXPECT_LT(run.balance.angular_momentum().error, 1e-12);
  EXPECT_THROW((void)run_with_slivers(GetParam(), false, 5000), SolveError);  // control
}
INSTANTIATE_TEST_SUITE_P(Flatness, MeshWithSlivers, testing::Values(0.1, 0.03));

// Every cell implicit at 5 times its stable step, all different.
struct FreeCase {
  std::string name;
  std::function<Mesh()> mesh;
};
TEST(AviImplicit, KeepsTheMomentaOfFreeBodiesAtFiveTimesTheStableStep) {
  using enum CellType;
  for (const auto& [name, mesh] :
       std::vector<FreeCase>{{"triangle6", [] { return triangle_mesh(triangle6, 2, 0.1, 13, 0.05); }},
                             {"tetrahedron4", [] { return tetrahedron_mesh(tetrahedron4, 2, 0.15, 14); }},
                             {"tetrahedron10", [] { return tetrahedron_mesh(tetrahedron10, 1, 0.1, 15); }}}) {
    const Body body = make_body(mesh(), NeoHookean{{1.3, 0.7}}, 1.2);
    std::vector<double> steps = own_steps(*body.model, 5.0);
    const auto avi = avi_implicit(1.0).make(*body.model, steps);
    State state = moving_state(body, 0.2, 0.02, 5);
    const Balance balance = run_and_balance(*body.model, *avi, state, 200 * smallest(steps), 100);
    EXPECT_LT(balance.linear_momentum().error, 1e-13) << name;
    EXPECT_LT(balance.angular_momentum().error, 1e-13) << name;
    EXPECT_LT(balance.energy().band, 0.2) << name;
  }
}

// ---- refusals ----

TEST(AviImplicit, RefusesAlphasThatAreNegativeOrNotFinite) {
  const Oscillator oscillator;
  for (const double alpha : {-0.1, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(AviImplicit(*oscillator.model, {0.1}, {alpha}), InputError);
}

TEST(AviImplicit, RefusesTheCheckpointsOfOtherAlphasAndOfAviExplicit) {
  const Oscillator oscillator;
  std::stringstream implicit_file, explicit_file;
  ArchiveWriter implicit_out(implicit_file), explicit_out(explicit_file);
  AviImplicit(*oscillator.model, {0.1}, {0.5}).save(implicit_out);
  AviExplicit(*oscillator.model, {0.1}).save(explicit_out);
  AviImplicit other(*oscillator.model, {0.1}, {0.6});
  AviExplicit plain(*oscillator.model, {0.1});
  ArchiveReader from_implicit(implicit_file), from_explicit(explicit_file);
  EXPECT_THROW(other.load(from_implicit), InputError);
  EXPECT_THROW(other.load(from_explicit), InputError);
  implicit_file.seekg(0);
  EXPECT_THROW(plain.load(from_implicit), InputError);
}

TEST(LeastAlphas, BringEveryStepToTheWantedFractionOfItsSoftenedStableStep) {
  const StiffBar bar(30.0);
  const std::vector<double> steps = StiffBar::steps(StiffBar::Steps::unequal, 0.3 * bar.soft_limit),
                            u = bar.start.displacement;
  for (const double safety : {0.5, 0.9}) {
    const std::vector<double> alphas = least_alphas(*bar.body.model, u, steps, safety);
    const AviImplicit avi(*bar.body.model, steps, alphas);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const double stable = avi.softened_model().stable_step(make_id<TermId>(static_cast<Index>(i)), u);
      if (i < StiffBar::stiff)
        EXPECT_NEAR(steps[i], safety * stable, 1e-9 * stable);
      else
        EXPECT_LT(steps[i], safety * stable);
      EXPECT_EQ(alphas[i] > 0.0, i < StiffBar::stiff);
    }
  }
}

}  // namespace
}  // namespace tempi::test
