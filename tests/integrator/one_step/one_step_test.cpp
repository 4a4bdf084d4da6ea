// SPDX-License-Identifier: Apache-2.0
// What all methods share that step the whole model at once: going on, checkpoints, ledgers, supports, refusals.
#include "tempi/integrator/one_step/one_step.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "support/sync.hpp"
#include "tempi/integrator/one_step/sync_energy_momentum.hpp"
#include "tempi/integrator/one_step/sync_newmark_implicit.hpp"
#include "tempi/integrator/one_step/sync_rk4.hpp"

namespace tempi::test {
namespace {

struct Stepper {
  std::string name;
  MakeStepper make;
};
void PrintTo(const Stepper& stepper, std::ostream* out) { *out << stepper.name; }
std::vector<Stepper> steppers() {
  const auto newmark = [](double beta, double gamma) {
    return [=](const Model& model, double h) { return std::make_unique<SyncNewmarkImplicit>(model, h, beta, gamma); };
  };
  return {{"rk4", [](const Model& model, double h) { return std::make_unique<SyncRk4>(model, h); }},
          {"newmark_explicit", newmark(0.0, 0.5)},
          {"newmark_implicit", newmark(0.25, 0.5)},
          {"newmark_damped", newmark(0.3, 0.6)},
          {"energy_momentum",
           [](const Model& model, double h) { return std::make_unique<SyncEnergyMomentum>(model, h); }}};
}

// A moving and a resting support, gravity, a follower pressure.
Body loaded_body(double density = 1.2) {
  return make_body_with(
      triangle_mesh(CellType::triangle6, 2, 0.12, 21, 0.05), NeoHookean{{1.3, 0.7}}, density,
      [](const Mesh& mesh, Model::Parts& parts) {
        std::vector<Support> supports;
        supports.push_back(moving("left", nodes_of(mesh, "left"), {"0.02*sin(3*t)", "0.01*Y*t"}, 2));
        supports.push_back(resting("corner", {nodes_of(mesh, "right").front()}, 2));
        supports.back().motion[1] = Support::Motion::free;
        parts.supports = Supports(std::move(supports), mesh.points(), 2);
        add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.1", "-0.3*cos(t)"}, 2)));
        add_force(parts, make_pressure(mesh, facets_of(mesh, "right"), Expression("0.02*(1+sin(t))", Constants{}),
                                       PressureFrame::deformed));
      });
}

class SyncSteppers : public testing::TestWithParam<Stepper> {
 protected:
  Body body = loaded_body();
  double h = 0.6 * stable_limit(*body.model), end = 20.3 * h;

  std::unique_ptr<Integrator> make() const { return GetParam().make(*body.model, h); }
  State start() const { return moving_state(body, 0.1, 0.02, 5); }
  State uninterrupted() const {
    State state = start();
    make()->advance_to(state, end);
    return state;
  }
};

// Nor does output cost them forces of theirs.
TEST_P(SyncSteppers, GoOnWithTheSameBits) {
  State expected = start();
  const auto whole = make(), integrator = make();
  whole->advance_to(expected, end);
  State state = start();
  for (const double stop : {0.0, 0.3 * h, h, 2.0 * h, 7.7 * h, 15.0 * h, end}) {
    integrator->advance_to(state, stop);
    const State before = state;
    const Snapshot now = integrator->synchronized(state, stop);
    EXPECT_TRUE(same_bits(state, before));
    for (const double clock : now.state.clock) EXPECT_EQ(clock, stop);
    const double V = body.model->potential_energy(now.state.displacement, stop);
    EXPECT_NEAR(now.potential_energy, V, 1e-13 * V);
  }
  EXPECT_TRUE(same_bits(state, expected));
  EXPECT_EQ(integrator->measures(), whole->measures());
  EXPECT_EQ(integrator->updates(TermId{0}), 20);
}

TEST_P(SyncSteppers, GoOnThroughACheckpointWithTheSameBits) {
  for (const double stop : {0.0, 0.3 * h, 7.0 * h, 7.7 * h}) {
    std::stringstream file;
    const auto whole = make();
    State there = start();
    whole->advance_to(there, stop);
    whole->synchronized(there, stop);
    {
      ArchiveWriter archive(file);
      there.save(archive);
      whole->save(archive);
    }
    whole->advance_to(there, end);
    const auto integrator = make();
    State state = reference_state(*body.model);
    ArchiveReader archive(file);
    state.load(archive);
    integrator->load(archive);
    integrator->advance_to(state, end);
    EXPECT_TRUE(same_bits(state, uninterrupted())) << stop;
    EXPECT_EQ(integrator->measures(), whole->measures()) << stop;  // evaluations are counted as if nothing had been
  }
}

TEST_P(SyncSteppers, RefuseTheCheckpointOfAnotherMethodStepOrModel) {
  const Body heavier = loaded_body(1.3);
  const auto refuses = [&](Integrator& reader) {
    std::stringstream file;
    ArchiveWriter writer(file);
    make()->save(writer);
    ArchiveReader archive(file);
    try {
      reader.load(archive);
    } catch (const InputError&) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refuses(*make()));
  EXPECT_TRUE(refuses(*GetParam().make(*body.model, h * (1.0 + 1e-12))));
  EXPECT_TRUE(refuses(*GetParam().make(*heavier.model, h)));
  for (const Stepper& other : steppers())
    EXPECT_EQ(refuses(*other.make(*body.model, h)), other.name != GetParam().name) << other.name;
}

TEST_P(SyncSteppers, BookEveryImpulse) {
  const auto integrator = make();
  State state = start();
  const Balance balance = run_and_balance(*body.model, *integrator, state, 200 * h, 100);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_LT(balance.angular_momentum().error,
            0.05);  // no method here keeps moments exactly: of the order of (omega h)^2
  RecordProperty("measured",
                 fmt::format("{:.2g} {:.2g}", balance.linear_momentum().error, balance.angular_momentum().error));
}

// Without the supports' part the same balance does not close.
TEST_P(SyncSteppers, WithoutTheReactionsDoNotBalanceMomentum) {
  const auto integrator = make();
  State state = start();
  Balance balance;
  for (int i = 0; i <= 20; ++i) {
    integrator->advance_to(state, i * h);
    Snapshot now = integrator->synchronized(state, i * h);
    for (Ledger& ledger : now.state.supports) ledger = Ledger{};
    balance.add(sample(*body.model, now));
  }
  EXPECT_GT(balance.linear_momentum().error, 1e-3);
}

TEST_P(SyncSteppers, FollowPrescribedMotionsExactly) {
  const auto integrator = make();
  State state = start();
  for (const double t : {0.0, 0.4 * h, h, 10.0 * h, 11.7 * h}) {
    integrator->advance_to(state, t);
    const State at = integrator->synchronized(state, t).state;
    for (const NodeId a : nodes_of(*body.mesh, "left")) {
      const auto i = static_cast<std::size_t>(2 * index(a));
      EXPECT_EQ(at.displacement[i], 0.02 * std::sin(3.0 * t));
      EXPECT_NEAR(at.velocity[i], 0.06 * std::cos(3.0 * t), 1e-6);
      EXPECT_NEAR(at.displacement[i + 1], 0.01 * body.mesh->point(a)[1] * t, 1e-16);
    }
  }
}

TEST_P(SyncSteppers, LetABodyFallExactly) {
  const std::array<double, 2> g = {0.3, -9.81}, v0 = {0.7, 1.1};
  const Body falling =
      make_body_with(triangle_mesh(CellType::triangle3, 2, 0.1), NeoHookean{{1.3, 0.7}}, 1.2,
                     [](const Mesh& m, Model::Parts& parts) {
                       add_force(parts, make_gravity(m, cells_of(parts), {}, formulas({"0.3", "-9.81"}, 2)));
                     });
  const double step = 0.5 * stable_limit(*falling.model), t = 50.5 * step;
  State state = reference_state(*falling.model);
  for (std::size_t i = 0; i < state.velocity.size(); ++i) state.velocity[i] = v0[i % 2];
  const auto integrator = GetParam().make(*falling.model, step);
  integrator->advance_to(state, t);
  const State at = integrator->synchronized(state, t).state;
  const double scale = 9.81 * t * t + t;
  for (std::size_t i = 0; i < at.velocity.size(); ++i) {
    EXPECT_NEAR(at.displacement[i], v0[i % 2] * t + 0.5 * g[i % 2] * t * t, 1e-12 * scale);
    EXPECT_NEAR(at.velocity[i], v0[i % 2] + g[i % 2] * t, 1e-12 * scale / t);
  }
}

// The right end is pushed through the left one: no step can be solved.
TEST_P(SyncSteppers, StopWhereAStepCannotBeSolvedAndLeaveTheLastStateBehind) {
  const Body bar = make_body_with(bar_mesh(2), NeoHookean{{1.3, 0.7}}, 1.2, [](const Mesh& mesh, Model::Parts& p) {
    std::vector<Support> supports;
    supports.push_back(resting("left", {NodeId{0}}, 1));
    supports.push_back(moving("right", {NodeId{2}}, {"-0.5*t"}, 1));
    p.supports = Supports(std::move(supports), mesh.points(), 1);
  });
  const double step = 0.1 * stable_limit(*bar.model);
  const auto integrator = GetParam().make(*bar.model, step);
  State state = reference_state(*bar.model);
  bool stopped = false;
  try {
    integrator->advance_to(state, 3.0);
  } catch (const SolveError& error) {
    stopped = true;
    EXPECT_NE(std::string(error.what()).find("t = "), std::string::npos) << error.what();
  }
  EXPECT_TRUE(stopped);
  const double t = static_cast<double>(integrator->updates(TermId{0})) * step;
  EXPECT_GT(t, 1.0);
  EXPECT_LT(t, 2.0 + step);
  EXPECT_EQ(state.clock[0], t);
  EXPECT_NEAR(state.displacement[2], -0.5 * t, 1e-15);
}

TEST_P(SyncSteppers, StopAtAVelocityThatIsNotANumber) {
  State state = start();
  state.velocity.back() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(make()->advance_to(state, end), SolveError);
}

TEST_P(SyncSteppers, RefuseAStepThatIsNotPositive) {
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(GetParam().make(*body.model, bad), InputError);
}

INSTANTIATE_TEST_SUITE_P(Of, SyncSteppers, testing::ValuesIn(steppers()),
                         [](const auto& c) { return plain(c.param.name); });

}  // namespace
}  // namespace tempi::test
