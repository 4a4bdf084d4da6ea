// SPDX-License-Identifier: Apache-2.0
// Dampers of methods of one step for all: their forces by packs against those term by term, what they leave of
// velocities against a dense solution and in closed form. What supports prescribe and give, component by component.
#include "tempi/integrator/one_step/stage_forces.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "support/damping.hpp"
#include "tempi/integrator/one_step/sync_newmark_implicit.hpp"
#include "tempi/integrator/one_step/sync_rk4.hpp"
#include "tempi/integrator/one_step/sync_variational.hpp"
#include "tempi/potential/uniform_field.hpp"

namespace tempi::test {
namespace {

using Vector = StageForces::Vector;

struct Damped {
  std::string name;
  Body body;
  State state;
};

// Viscosity and drag; a side held as a whole, a corner in one component.
Damped damped_body(const MeshCase& of, bool held) {
  Body body = make_body_with(of.make(), NeoHookean{{1.3, 0.7}}, 1.2, [&](const Mesh& mesh, Model::Parts& parts) {
    host(parts, make_kelvin_voigt(cells_of(parts), {0.4, 0.3}));
    host_drag(parts, 0.2);
    if (!held) return;
    std::vector<Support> supports;
    supports.push_back(resting("left", nodes_of(mesh, "left"), mesh.dim()));
    supports.push_back(resting("right", {nodes_of(mesh, "right").front()}, mesh.dim()));
    for (int c = 1; c < mesh.dim(); ++c) supports.back().motion[static_cast<std::size_t>(c)] = Support::Motion::free;
    parts.supports = Supports(std::move(supports), mesh.points(), mesh.dim());
  });
  State state = moving_state(body, 0.3, 0.2, 4);
  state.displacement = random_displacements(*body.mesh, 0.03, 5);
  return {of.name + (held ? "_held" : ""), std::move(body), std::move(state)};
}

// A crooked chain of springs with dashpots, and what their stiffness resists, in space; wells at its ends.
Damped damped_chain() {
  Model::Parts parts;
  parts.dim = 3;
  std::vector<std::array<NodeId, 2>> pairs;
  for (Index i = 0; i < 40; ++i) {
    parts.reference.insert(parts.reference.end(), {static_cast<double>(i), 0.3 * static_cast<double>(i % 3), 0.1});
    parts.mass.push_back(1.0 + 0.5 * static_cast<double>(i % 3));
    if (i > 0) pairs.push_back({make_id<NodeId>(i - 1), make_id<NodeId>(i)});
  }
  parts.add(make_pairs(parts.reference, 3, parts.mass, pairs, Spring{1.0, 1.0}, Box()));
  host(parts, make_dashpots(parts.reference, 3, pairs, 0.7, Box()));
  host(parts, make_stiffness_damping(*parts.potentials.back()->as_local(), 0.3));
  parts.add(make_wells(parts.reference, 3, {NodeId{0}, NodeId{39}}, Well{{1.0, 2.0, 0.0}, {}}));
  host(parts, make_stiffness_damping(*parts.potentials.back()->as_local(), 0.3), 39);
  Body body{nullptr, std::make_unique<Model>(std::move(parts))};
  State state = reference_state(*body.model);
  for (std::size_t i = 0; i < state.velocity.size(); ++i) state.velocity[i] = std::sin(1.7 * static_cast<double>(i));
  return {"chain", std::move(body), std::move(state)};
}

std::vector<Damped> all_damped() {
  std::vector<Damped> all;
  for (const MeshCase& of : mesh_cases())
    for (const bool held : {false, true}) all.push_back(damped_body(of, held));
  all.push_back(damped_chain());
  return all;
}

Stage stage_of(const Vector& u, const Vector& v) { return {u, v, Vector::Zero(u.size()), {}}; }

TEST(StageForces, TakeDampersInPacksAsTermByTerm) {
  for (const Damped& of : all_damped()) {
    const StageForces forces(*of.body.model, 0.1);
    const Vector u = map_of(of.state.displacement), v = map_of(of.state.velocity);
    Stage packed = stage_of(u, v), single = stage_of(u, v);
    forces.add_dampings(packed, 0.0);
    for (Index k = 0; k < of.body.model->term_count(); ++k) forces.add_damping(make_id<TermId>(k), single, 0.0);
    const double size = single.damping.cwiseAbs().maxCoeff();
    ASSERT_GT(size, 0.0) << of.name;
    EXPECT_LT((packed.damping - single.damping).cwiseAbs().maxCoeff(), 1e-13 * size) << of.name;
    EXPECT_EQ(packed.force, packed.damping) << of.name;
    forces.use_threads(2);
    Stage shared = stage_of(u, v);
    forces.add_dampings(shared, 0.0);
    EXPECT_EQ(shared.damping, packed.damping) << of.name;
  }
}

TEST(StageForces, DampAsADenseSolutionDoes) {
  constexpr double c = 0.8;
  for (const Damped& of : all_damped()) {
    const StageForces forces(*of.body.model, 0.1);
    const Vector u = map_of(of.state.displacement), v = map_of(of.state.velocity);
    const Index n = v.size();
    Eigen::MatrixXd C(n, n);
    for (Index j = 0; j < n; ++j) {
      Stage unit = stage_of(u, Vector::Unit(n, j));
      for (Index k = 0; k < of.body.model->term_count(); ++k) forces.add_damping(make_id<TermId>(k), unit, 0.0);
      C.col(j) = -unit.damping;
    }
    Eigen::MatrixXd A = c * C;
    A.diagonal() += forces.mass();
    Vector b = forces.mass().cwiseProduct(v);
    for (const Index i : forces.held()) {  // v_i is given
      A.row(i).setZero();
      A(i, i) = 1.0;
      b(i) = v(i);
    }
    const Vector exact = A.partialPivLu().solve(b);
    Vector found = v;
    forces.damp(span_of(u), 0.0, c, found);
    EXPECT_GT((v - exact).norm(), 0.01 * v.norm()) << of.name;  // there is something to find
    EXPECT_LT((found - exact).norm(), 1e-13 * v.norm()) << of.name;
    for (const Index i : forces.held()) EXPECT_EQ(found(i), v(i)) << of.name;
  }
}

// Conjugate gradients that look at masses alone do not get through these.
TEST(StageForces, DampDragsOfAllSizesAtOnce) {
  Model::Parts parts;
  parts.dim = 2;
  std::vector<NodeId> nodes;
  std::vector<NodalDrag> drags;
  std::vector<TermId> hosts;
  for (Index a = 0; a < 400; ++a) {
    parts.reference.insert(parts.reference.end(), {static_cast<double>(a), 0.0});
    parts.mass.push_back(1.0 + 0.1 * static_cast<double>(a % 7));
    nodes.push_back(make_id<NodeId>(a));
    drags.push_back({nodes.back(), std::pow(10.0, 0.02 * static_cast<double>(a))});  // to 1e8
    hosts.push_back(make_id<TermId>(a));
  }
  parts.add(make_uniform_field(parts.reference, 2, parts.mass, nodes, {}));
  parts.forces.push_back(make_drag(2, drags));
  parts.hosts.push_back(hosts);
  const Model model(std::move(parts));
  const StageForces forces(model, 0.1);
  const Vector u = Vector::Zero(800);
  Vector v = Vector::Ones(800);
  forces.damp(span_of(u), 0.0, 0.3, v);
  for (Index i = 0; i < v.size(); ++i) {
    const double m = forces.mass()(i), c = drags[static_cast<std::size_t>(i / 2)].coefficient;
    EXPECT_NEAR(v(i), m / (m + 0.3 * c), 1e-15);
  }
}

// A free particle with drag, a = c h / (2 m): (1 - a) / (1 + a) of its velocity is left by the trapezoidal action and
// by Newmark's rule, 1 / (1 + 2 a) by symplectic Euler A, 1 - 2 a by B; and RK4's polynomial.
TEST(StageForces, LeaveOfAFreeParticleWhatTheMethodsSay) {
  Model::Parts parts;
  parts.dim = 2;
  parts.reference = {0.0, 0.0};
  parts.mass = {2.0};
  parts.add(make_uniform_field(parts.reference, 2, parts.mass, {NodeId{0}}, {}));
  host_drag(parts, 3.0);
  const Model model(std::move(parts));
  constexpr double h = 0.2, a = 3.0 * h / 4.0, b = -2.0 * a;
  const auto left = [&](Integrator& method) {
    State state = reference_state(model);
    state.velocity = {1.0, -0.5};
    method.advance_to(state, 1.5 * h);
    EXPECT_EQ(state.velocity[1], -0.5 * state.velocity[0]);
    return state.velocity[0];
  };
  SyncVariational trapezoidal(model, trapezoidal_action(0.5), h), euler_a(model, midpoint_action(0.0), h),
      euler_b(model, midpoint_action(1.0), h);
  SyncNewmarkImplicit newmark(model, h, 0.0, 0.5);
  SyncRk4 rk4(model, h);
  EXPECT_NEAR(left(trapezoidal), (1.0 - a) / (1.0 + a), 1e-15);
  EXPECT_NEAR(left(newmark), (1.0 - a) / (1.0 + a), 1e-15);
  EXPECT_NEAR(left(euler_a), 1.0 / (1.0 + 2.0 * a), 1e-15);
  EXPECT_NEAR(left(euler_b), 1.0 - 2.0 * a, 1e-15);
  EXPECT_NEAR(left(rk4), 1.0 + b + b * b / 2.0 + b * b * b / 6.0 + b * b * b * b / 24.0, 1e-15);
}

// A body with a side that moves, one node at rest, loads of both kinds; one component driven.
TEST(StageForces, HaveTheMotionsAndReactionsOfEachHeldComponent) {
  const Body body = loaded_body();
  const Model& model = *body.model;
  const Supports& supports = model.supports();
  const double step = 0.1, delta = 0.01;
  StageForces forces(model, step);
  const Index n = forces.mass().size();
  Index free = 0;
  while (forces.is_supported(free)) ++free;
  forces.drive(std::array{free});
  forces.drive_along(Vector::Constant(1, 7.0));
  const auto node = [&](Index i) { return make_id<NodeId>(i / model.dim()); };
  const auto component = [&](Index i) { return static_cast<int>(i % model.dim()); };

  for (const double t : {0.0, 0.37, 0.37, 0.5}) {
    const Vector u0 = Vector::LinSpaced(n, -0.01, 0.01), v0 = Vector::LinSpaced(n, 1.0, 2.0);
    Vector u = u0, v = v0;
    forces.prescribe(t, u, v);
    const Vector velocities = forces.held_velocities(t), accelerations = forces.held_accelerations(t);
    for (Index i = 0, k = 0; i < n; ++i) {
      const bool held = k < std::ssize(forces.held()) && forces.held()[static_cast<std::size_t>(k)] == i;
      const double w = supports.velocity(node(i), component(i), t, delta);
      EXPECT_NEAR(u(i), supports.displacement(node(i), component(i), t).value_or(u0(i)), 1e-15);
      EXPECT_NEAR(v(i), i == free ? 7.0 : held ? w : v0(i), 1e-12);
      if (!held) continue;
      EXPECT_NEAR(velocities(k), w, 1e-12);
      EXPECT_NEAR(accelerations(k), supports.acceleration(node(i), component(i), t, delta), 1e-11);
      ++k;
    }
  }

  State state = reference_state(model), direct = state;
  const Vector u = Vector::LinSpaced(n, -0.01, 0.01);
  forces.book_reactions(state, forces.held(), u, [](Index k, Index i) {
    return StageForces::Reaction{1.0 + static_cast<double>(k), 0.1 * static_cast<double>(i)};
  });
  Stage stage = stage_of(u, Vector::LinSpaced(n, 1.0, 2.0));
  forces.require(forces.evaluate(stage, 0.37));
  forces.book_forces(state, stage, 0.25);
  ASSERT_GT(stage.load.cwiseAbs().maxCoeff(), 0.0);
  for (Index i = 0, k = 0; i < n; ++i) {
    std::array<double, 3> p{}, q{};
    q[static_cast<std::size_t>(component(i))] = 0.25 * stage.load(i);
    direct.loads.add(forces.position(node(i), u), q, 0.25 * stage.load(i) * stage.v(i));
    const bool held = k < std::ssize(forces.held()) && forces.held()[static_cast<std::size_t>(k)] == i;
    if (held) ++k;
    if (!held || i == free) continue;
    p[static_cast<std::size_t>(component(i))] = static_cast<double>(k);
    direct.supports[static_cast<std::size_t>(supports.support_of(node(i), component(i)))].add(
        forces.position(node(i), u), p, 0.1 * static_cast<double>(i));
  }
  const auto expect_alike = [](const Ledger& found, const Ledger& exact) {
    const auto near = [](double a, double b) { EXPECT_NEAR(a, b, 1e-14 * std::max(1.0, std::abs(b))); };
    for (std::size_t c = 0; c < 3; ++c) {
      near(found.impulse[c].value(), exact.impulse[c].value());
      near(found.moment[c].value(), exact.moment[c].value());
    }
    near(found.work.value(), exact.work.value());
  };
  expect_alike(state.loads, direct.loads);
  for (std::size_t s = 0; s < state.supports.size(); ++s) {
    expect_alike(state.supports[s], direct.supports[s]);
    EXPECT_NE(state.supports[s].work.value(), 0.0) << s;
  }
}

}  // namespace
}  // namespace tempi::test
