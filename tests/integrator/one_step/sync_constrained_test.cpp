// SPDX-License-Identifier: Apache-2.0
// SHAKE and RATTLE: what they share and where they differ, what they refuse, what they book. The motions they must give
// are in verification/constrained_motion_test.cpp.
#include "tempi/integrator/one_step/sync_constrained.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/constrained.hpp"
#include "support/damping.hpp"
#include "support/variational_methods.hpp"
#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"

namespace tempi::test {
namespace {

const std::vector<double> rates = {1.3, -2.1, 0.8};
Rods three_rods() { return {{1.0, 0.7, 1.3}, {0.9, 1.4, 0.6}, {0.9, -0.4, 1.7}}; }

template <class Error>
std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
void expect_words(const std::string& message, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
}

State after(const MakeStepper& make, const Model& model, State state, double h, int steps) {
  const auto integrator = make(model, h);
  integrator->advance_to(state, steps * h);
  return integrator->synchronized(state, steps * h).state;
}

TEST(Rattle, WithoutConstraintsIsNewmarksMethod) {
  const auto model = spring_model(3.0);
  const double h = 0.5 * stable_limit(*model);
  SyncNewmarkImplicit newmark(*model, h, 0.0, 0.5);
  State expected = spinning_springs(*model);
  newmark.advance_to(expected, 50.5 * h);
  for (const ConstrainedMethod& method : constrained_methods()) {
    State state = spinning_springs(*model);
    method.make(*model, h)->advance_to(state, 50.5 * h);
    EXPECT_LT(largest_difference(state.displacement, expected.displacement), 1e-13) << method.name;
    EXPECT_LT(largest_difference(state.velocity, expected.velocity), 1e-13) << method.name;
  }
}

// The triple pendulum makes of rounding e^3 times as much in a second.
TEST(Shake, HasThePositionsOfRattleAndVelocitiesOfItsOwn) {
  const Rods rods = three_rods();
  const auto model = rods.model();
  const double h = 0.01;
  const State shake = after(make_shake, *model, rods.start(*model, rates), h, 100);
  const State rattle = after(make_rattle, *model, rods.start(*model, rates), h, 100);
  EXPECT_LT(largest_difference(shake.displacement, rattle.displacement), 1e-12);
  EXPECT_LT(constraint_rate(*model, rattle), 1e-14);
  EXPECT_GT(constraint_rate(*model, shake), 1e-5);
  EXPECT_GT(largest(rattle.displacement), 0.5);
}

// (q_2 - q_0) / (2h), and the equation (25a) in the form the paper has it.
TEST(Shake, HasTheVelocityAndTheDifferenceEquationOfVerletsMethod) {
  const Rods rods = three_rods();
  const auto model = rods.model();
  const double h = 0.01;
  std::vector<State> at;
  for (int k = 7; k <= 9; ++k) at.push_back(after(make_shake, *model, rods.start(*model, rates), h, k));
  Eigen::VectorXd rest(6);
  for (Index i = 0; i < 6; ++i) {
    const auto k = static_cast<std::size_t>(i);
    EXPECT_NEAR(at[1].velocity[k], (at[2].displacement[k] - at[0].displacement[k]) / (2.0 * h), 1e-12);
    const double m = model->mass(make_id<NodeId>(i / 2)), weight = i % 2 == 0 ? 0.0 : -m * rods.g;
    rest(i) = m * (at[2].displacement[k] - 2.0 * at[1].displacement[k] + at[0].displacement[k]) / (h * h) - weight;
  }
  // The rest is J^T lambda / h: it lies in the span of the gradients, and is not nothing.
  Eigen::MatrixXd Jt = Eigen::MatrixXd::Zero(6, 3);
  for (Index c = 0; c < 3; ++c) {
    const HolonomicConstraint& constraint = *model->constraints()[static_cast<std::size_t>(c)];
    std::vector<double> gradient(constraint.stencil().size() * 2);
    constraint.gradient(at[1].displacement, gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i)
      Jt(index(constraint.stencil()[i / 2]) * 2 + static_cast<Index>(i % 2), c) = gradient[i];
  }
  const Eigen::VectorXd left = rest - Jt * Jt.colPivHouseholderQr().solve(rest);
  EXPECT_GT(rest.norm(), 1.0);
  EXPECT_LT(left.norm(), 1e-9 * rest.norm());  // rounding 1e-16 / h^2
}

class KeepsConstraints : public testing::TestWithParam<ConstrainedMethod> {
 protected:
  const MakeStepper& make() const { return GetParam().make; }
};

// Velocities are turned round, and freed of what shake's have along the gradients (which moves nothing).
TEST_P(KeepsConstraints, AndRunsBack) {
  const Rods rods = three_rods();
  const auto model = rods.model();
  const ConstraintEquations equations(*model);
  const State start = rods.start(*model, rates);
  State state = start;
  for (int way = 0; way < 2; ++way) {
    state = after(make(), *model, state, 0.01, 100);
    Eigen::VectorXd v = -map_of(state.velocity);
    equations.project(map_of(state.displacement), v, 0.0);
    map_of(state.velocity) = v;
    for (double& clock : state.clock) clock = 0.0;
    if (way == 0) {
      EXPECT_GT(largest_difference(state.displacement, start.displacement), 0.5);
    }
  }
  EXPECT_LT(largest_difference(state.displacement, start.displacement), 1e-11);
  // The velocity of shake is (q_1 - q_-1) / (2h), which is not what it was started with.
  if (GetParam().name == "rattle") {
    EXPECT_LT(largest_difference(state.velocity, start.velocity), 1e-11);
  }
}

TEST_P(KeepsConstraints, OfThousandsOfMolecules) {
  const Index side = 13, count = side * side * side;
  const std::vector<double> shape = {0.0, 0.0, 0.0, 0.76, 0.59, 0.0, -0.76, 0.59, 0.0};
  std::vector<double> x, m;
  Random random(5);
  for (Index k = 0; k < count; ++k)
    for (std::size_t i = 0; i < 9; ++i) {
      const Index cell = i % 3 == 0 ? k % side : i % 3 == 1 ? k / side % side : k / side / side;
      x.push_back(3.0 * static_cast<double>(cell) + shape[i]);
      if (i % 3 == 0) m.push_back(i == 0 ? 16.0 : 1.0);
    }
  Model::Parts parts = particles(3, x, m);
  for (Index k = 0; k < count; ++k)
    add(parts, make_rigid_body(points_of(parts), std::array{make_id<NodeId>(3 * k), make_id<NodeId>(3 * k + 1),
                                                            make_id<NodeId>(3 * k + 2)}));
  const Model model(std::move(parts));
  State state = reference_state(model);
  for (Index k = 0; k < count; ++k) {  // a spin about z, and a drift
    const double spin = random.uniform(-1.0, 1.0), drift = random.uniform(-1.0, 1.0);
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t i = static_cast<std::size_t>(9 * k) + 3 * a;
      state.velocity[i] = -spin * shape[3 * a + 1];
      state.velocity[i + 1] = spin * shape[3 * a];
      state.velocity[i + 2] = drift;
    }
  }
  const auto integrator = make()(model, 0.05);
  const Balance balance = run_and_balance(model, *integrator, state, 0.15, 3);
  EXPECT_LT(constraint_error(model, state), 1e-14);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_LT(balance.angular_momentum().error, 1e-13);
}

// A chain that swings freely, without weight: all it gets it gets from its link or its pivot.
TEST_P(KeepsConstraints, AndBooksWhatTheyGiveFromOutside) {
  Rods rods = three_rods();
  rods.g = 0.0;
  for (const Pivot pivot : {Pivot::fixed_point, Pivot::held_node}) {
    const auto model = rods.model(pivot);
    State state = rods.start(*model, rates);
    const auto integrator = make()(*model, 0.01);
    const Balance balance = run_and_balance(*model, *integrator, state, 3.0, 30);
    EXPECT_LT(balance.linear_momentum().error, 1e-13);
    EXPECT_LT(balance.angular_momentum().error, 1e-13);
    const auto change = balance.linear_momentum();
    EXPECT_GT(std::abs(change.final[0] - change.initial[0]), 0.1);  // control: it did get something
    EXPECT_EQ(state.constraints.impulse[0].value() != 0.0, pivot == Pivot::fixed_point);
    EXPECT_EQ(state.constraints.work.value(), 0.0);
  }
}

TEST_P(KeepsConstraints, AndBooksWhatSurfacesGive) {
  Model::Parts parts = particles(3, {0.6, 0.0, 0.8, 1.6, 0.0, 0.8}, {1.3, 0.4});
  add(parts, make_surface(points_of(parts), std::array{NodeId{0}}, Expression("X^2 + 2*Y^2 + Z^2 - 1", {})));
  add(parts, make_distances(points_of(parts), chain(2)));
  const Model model(std::move(parts));
  State state = reference_state(model);
  state.velocity = {0.0, 0.7, 0.0, 0.0, -0.3, 0.2};
  const auto integrator = make()(model, 0.01);
  const Balance balance = run_and_balance(model, *integrator, state, 5.0, 50);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_LT(balance.angular_momentum().error, 1e-13);
  EXPECT_GT(std::abs(balance.linear_momentum().final[1] - balance.linear_momentum().initial[1]), 0.1);
  EXPECT_LT(balance.energy().band, 1e-3);
  EXPECT_LT(constraint_error(model, state), 1e-14);
}

// An elastic body on a link, its corner on a moving support, under gravity and a follower pressure; each node's drag
// [kg/s].
Body hung_body(double drag = 0.0) {
  return make_body_with(triangle_mesh(CellType::triangle3, 2, 0.1, 9), NeoHookean{{5.3, 2.7}}, 1.2,
                        [drag](const Mesh& mesh, Model::Parts& parts) {
                          const auto corner = nodes_of(mesh, "left").front(), end = nodes_of(mesh, "right").back();
                          parts.supports = one_support(mesh, moving("corner", {corner}, {"0.1*sin(2*t)^2", "0"}, 2));
                          add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0", "-0.8"}, 2)));
                          add_force(parts, make_pressure(mesh, facets_of(mesh, "right"), Expression("0.1*t", {}),
                                                         PressureFrame::deformed));
                          add(parts, make_links(points_of(parts), std::array{end}, {1.1, 1.9, 0.0}));
                          if (drag > 0.0) host_drag(parts, drag);
                        });
}

TEST_P(KeepsConstraints, BesideSupportsAndLoads) {
  const Body body = hung_body();
  std::vector<double> steps, errors;
  for (const double h : {0.02, 0.01, 0.005}) {
    State state = reference_state(*body.model);
    const auto integrator = make()(*body.model, h);
    const Balance balance = run_and_balance(*body.model, *integrator, state, 2.0, 10);
    EXPECT_LT(balance.linear_momentum().error, 1e-12);
    EXPECT_LT(balance.angular_momentum().error, 1e-12);
    EXPECT_LT(constraint_error(*body.model, state), 1e-14);
    steps.push_back(h), errors.push_back(balance.energy().band);
  }
  EXPECT_GT(slope(steps, errors), 1.8);  // what is booked as work is what the energy gains
  EXPECT_LT(errors.back(), 1e-3);
}

TEST_P(KeepsConstraints, AboutAHeldNodeAsAboutAFixedPoint) {
  const Rods rods = three_rods();
  const auto held = rods.model(Pivot::held_node), linked = rods.model(Pivot::fixed_point);
  const State a = after(make(), *held, rods.start(*held, rates), 0.01, 100);
  const State b = after(make(), *linked, rods.start(*linked, rates), 0.01, 100);
  EXPECT_EQ(a.displacement[0], 0.0);
  EXPECT_EQ(a.displacement[1], 0.0);
  EXPECT_LT(largest_difference(std::span(a.displacement).subspan(2), b.displacement), 1e-12);
  EXPECT_LT(largest_difference(std::span(a.velocity).subspan(2), b.velocity), 1e-11);
}

// Of a rod that swings about a held node: the reaction is its tension, m (l theta'^2 + g cos theta), and the pivot's
// weight.
TEST_P(KeepsConstraints, AndShowsReactionsAtTheSupports) {
  const Rods rod{{1.2}, {0.8}, {0.7}};
  const auto model = rod.model(Pivot::held_node);
  State state = rod.start(*model, {2.0});
  const auto integrator = make()(*model, 0.001);
  for (const double t : {0.0, 0.5}) {
    integrator->advance_to(state, t);
    const Snapshot snapshot = integrator->synchronized(state, t);
    const auto& u = snapshot.state.displacement;
    const auto& v = snapshot.state.velocity;
    const double angle = std::atan2(rod.positions()[0] + u[2], -(rod.positions()[1] + u[3]));
    const double tension = 0.8 * ((v[2] * v[2] + v[3] * v[3]) / 1.2 + rod.g * std::cos(angle));
    const auto reaction = reactions(*model, snapshot, 1e-4)[0];
    EXPECT_NEAR(reaction[0], -tension * std::sin(angle), 1e-9);
    EXPECT_NEAR(reaction[1], tension * std::cos(angle) + 0.5 * rod.g, 1e-9);
  }
}

TEST_P(KeepsConstraints, AndGoesOnFromACheckpointWithTheSameBits) {
  const auto file = std::filesystem::temp_directory_path() / ("tempi_constrained_" + GetParam().name);
  const double h = 0.02;
  for (const double drag : {0.0, 0.3}) {
    const Body body = hung_body(drag);
    State expected = reference_state(*body.model);
    make()(*body.model, h)->advance_to(expected, 40.5 * h);
    EXPECT_NE(expected.constraints.impulse[1].value(), 0.0);
    EXPECT_EQ(expected.damping.work.value() < -1e-4, drag > 0.0);
    for (const double stop : {0.0, 0.5 * h, 7.0 * h, 23.7 * h}) {
      State state = reference_state(*body.model);
      const auto first = make()(*body.model, h);
      first->advance_to(state, stop);
      first->synchronized(state, stop);  // output leaves no trace
      write_checkpoint(file, state, *first);
      State resumed = reference_state(*body.model);
      const auto second = make()(*body.model, h);
      read_checkpoint(file, resumed, *second);
      second->advance_to(resumed, 40.5 * h);
      EXPECT_TRUE(same_bits(resumed, expected)) << stop << ", drag " << drag;
    }
  }
  std::filesystem::remove(file);
}

TEST_P(KeepsConstraints, OrStopsWithTheHistoryAndTheStateOfBefore) {
  const Rods rods = three_rods();
  const auto model = rods.model();
  State state = rods.start(*model, {0.0, 0.0, 40.0});
  const State before = state;
  const auto integrator = make()(*model, 0.5);
  expect_words(message_of<SolveError>([&] { integrator->advance_to(state, 2.0); }),
               {"constraint equations", "t = 0 s", "relative to the constraints' lengths", "smaller step",
                "the distance of nodes 1 and 2"});
  EXPECT_LT(largest_difference(state.displacement, before.displacement), 1e-15);
  EXPECT_LT(largest_difference(state.velocity, before.velocity), 1e-13);  // made consistent at the start
}

// ---- what is refused at the start ----

TEST_P(KeepsConstraints, AndRefusesAStartThatDoesNot) {
  const Rods rods = three_rods();
  const auto model = rods.model();
  const auto start = [&](const State& state) {
    return message_of<InputError>([&] { make()(*model, 0.01)->synchronized(state, 0.0); });
  };
  EXPECT_EQ(start(rods.start(*model, rates)), "");
  State far = rods.start(*model, rates);
  far.displacement[5] += 0.01;
  expect_words(start(far), {"the distance of nodes 1 and 2", "g = ", "1.3 m", "positions"});
  State fast = rods.start(*model, rates);
  fast.velocity[0] += 0.1;
  expect_words(start(fast), {"velocities", "node 0", "m/s", "must be 0"});
  fast.velocity[0] = NAN;
  EXPECT_NE(start(fast), "");
}

TEST_P(KeepsConstraints, AndMendsAStartThatRoundingHasSpoilt) {
  const Rods rods = three_rods();
  const auto model = rods.model();
  State state = rods.start(*model, rates);
  for (double& u : state.displacement) u += 1e-8;
  for (double& v : state.velocity) v *= 1.0 + 1e-8 * v;
  EXPECT_GT(constraint_error(*model, state), 1e-9);
  EXPECT_GT(constraint_rate(*model, state), 1e-9);
  const State mended = make()(*model, 0.01)->synchronized(state, 0.0).state;
  EXPECT_LT(constraint_error(*model, mended), 1e-14);
  EXPECT_LT(constraint_rate(*model, mended), 1e-14);
  EXPECT_LT(largest_difference(mended.displacement, state.displacement), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Of, KeepsConstraints, testing::ValuesIn(constrained_methods()),
                         [](const auto& c) { return c.param.name; });

Model::Parts unit_square() { return particles(2, {0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0}, {1.0, 2.0, 1.5, 0.7}); }
std::string refusal_of_start(Model::Parts parts) {
  const Model model(std::move(parts));
  return message_of<InputError>([&] { make_rattle(model, 0.1)->synchronized(reference_state(model), 0.0); });
}

TEST(RedundantConstraints, AreRefusedWithOneThatFollowsFromOthers) {
  Model::Parts braced = unit_square();
  add(braced, make_distances(points_of(braced), all_pairs(4)));
  expect_words(refusal_of_start(std::move(braced)), {"not independent", "the distance of nodes", "follows"});

  Model::Parts twice = unit_square();
  add(twice, make_links(points_of(twice), std::array{NodeId{2}}, {0.0, 0.0, 0.0}));
  add(twice, make_distances(points_of(twice), chain(3)));
  add(twice, make_links(points_of(twice), std::array{NodeId{2}}, {0.0, 0.0, 0.0}));
  expect_words(refusal_of_start(std::move(twice)), {"node", "follows"});

  Model::Parts rigid = unit_square();  // control
  add(rigid, make_rigid_body(points_of(rigid), std::array{NodeId{0}, NodeId{1}, NodeId{2}, NodeId{3}}));
  EXPECT_EQ(refusal_of_start(std::move(rigid)), "");
}

// Of bodies so large that their equations are bordered.
TEST(RedundantConstraints, OfLargeRigidBodiesAreRefusedToo) {
  for (const bool flat : {true, false}) {
    SCOPED_TRACE(flat);
    std::vector<double> x = random_cloud(3, 150, 4.0, 0.2, 9);
    for (std::size_t i = 2; i < x.size() && flat; i += 3) x[i] = 0.3 * x[i - 2] - 0.1 * x[i - 1] + 2.0;
    std::vector<NodeId> nodes;
    for (Index a = 0; a < 150; ++a) nodes.push_back(make_id<NodeId>(a));
    const auto body = [&] {
      Model::Parts parts = particles(3, x, std::vector<double>(150, 1.3));
      add(parts, make_rigid_body(points_of(parts), nodes));
      return parts;
    };
    EXPECT_EQ(refusal_of_start(body()), "");  // control
    Model::Parts braced = body();
    add(braced, make_distances(points_of(braced), std::vector<NodePair>{{NodeId{71}, NodeId{103}}}));
    expect_words(refusal_of_start(std::move(braced)), {"not independent", "follows"});
  }
}

TEST(RedundantConstraints, BetweenHeldNodesAreRefused) {
  Model::Parts parts = unit_square();
  std::vector<Support> supports;
  supports.push_back(resting("bottom", {NodeId{0}, NodeId{1}}, 2));
  parts.supports = Supports(std::move(supports), parts.reference, 2);
  add(parts, make_distances(points_of(parts), chain(3)));
  expect_words(refusal_of_start(std::move(parts)), {"the distance of nodes 0 and 1", "free to move", "supports"});
}

TEST(Model, RefusesMoreConstraintsThanFreeComponentsAndNodesThatAreNotThere) {
  const auto refusal = [](Model::Parts parts) {
    return message_of<InputError>([&] { const Model model(std::move(parts)); });
  };
  Model::Parts many = unit_square();
  for (const double x : {3.0, 4.0, 5.0}) add(many, make_links(points_of(many), std::array{NodeId{1}}, {x, 1.0, 0.0}));
  expect_words(refusal(std::move(many)), {"3 constraint equations", "2 free components", "(5, 1)"});
  Model::Parts few = particles(2, {0.0, 0.0}, {1.0});
  add(few, make_links(points_of(unit_square()), std::array{NodeId{3}}, {0.0, 0.0, 0.0}));
  expect_words(refusal(std::move(few)), {"node 3", "there are 1 nodes"});
}

TEST(ConstrainedModel, IsRefusedByAllOtherMethods) {
  const auto model = three_rods().model();
  std::vector<Method> others = methods();
  for (const auto& more : {variational_methods(), other_synchronous_methods()})
    others.insert(others.end(), more.begin(), more.end());
  for (const Method& method : others) {
    SCOPED_TRACE(method.name);
    const std::string message = message_of<InputError>([&] {
      method.make(*model, std::vector<double>{0.01, 0.01, 0.01});
    });
    expect_words(message, {"3 constraint equations", "node 0 from (0, 0)", "shake and rattle"});
  }
}

// A node on two circles that touch: both gradients along x. Away from there they are independent.
TEST(ConstraintEquations, StopWhereConstraintsBecomeDependent) {
  Model::Parts parts = particles(2, {1.0, 0.5}, {1.0});
  add(parts, make_links(points_of(parts), std::array{NodeId{0}}, {0.0, 0.0, 0.0}));
  add(parts, make_links(points_of(parts), std::array{NodeId{0}}, {2.0, 0.0, 0.0}));
  const Model model(std::move(parts));
  const ConstraintEquations equations(model);
  Eigen::VectorXd u = Eigen::VectorXd::Zero(2), v = Eigen::VectorXd::Ones(2);
  equations.project(u, v, 0.0);
  EXPECT_LT(v.norm(), 1e-15);
  u(1) = -0.5;
  expect_words(message_of<SolveError>([&] { equations.project(u, v, 0.3); }), {"dependent", "t = 0.3 s"});
}

}  // namespace
}  // namespace tempi::test
