// SPDX-License-Identifier: Apache-2.0
// Parts of a model are models: their masses, forces and energies sum to the whole's, a map moves each as it moves it
// within the whole, and parts tied by coincident nodes move as the whole does.
#include "tempi/model/submodel.hpp"

#include <gtest/gtest.h>

#include "support/constrained.hpp"
#include "support/damping.hpp"
#include "support/runs.hpp"
#include "tempi/core/error.hpp"
#include "tempi/integrator/one_step/sync_newmark_implicit.hpp"
#include "tempi/integrator/one_step/sync_variational.hpp"
#include "tempi/pair/pair_sum.hpp"

namespace tempi::test {
namespace {

// A plate with loads, dampers and a moving support; cells left of the middle are part 0.
struct Plate {
  Plate() {
    body =
        make_body_with(triangle_mesh(CellType::triangle6, 3, 0.12, 21, 0.05), NeoHookean{{1.3, 0.7}}, 1.2,
                       [](const Mesh& mesh, Model::Parts& parts) {
                         std::vector<Support> supports;
                         supports.push_back(moving("left", nodes_of(mesh, "left"), {"0.02*sin(3*t)", "0.01*Y*t"}, 2));
                         parts.supports = Supports(std::move(supports), mesh.points(), 2);
                         add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.1", "-0.3*cos(t)"}, 2)));
                         add_force(parts,
                                   make_pressure(mesh, facets_of(mesh, "right"),
                                                 Expression("0.02*(1+sin(t))", Constants{}), PressureFrame::deformed));
                         host(parts, make_rayleigh(cells_of(parts), {0.1, 0.05}));
                       });
    for (Index i = 0; i < body.model->term_count(); ++i) {
      double x = 0.0;
      const auto nodes = body.model->term(make_id<TermId>(i)).stencil();
      for (const NodeId a : nodes) x += body.mesh->point(a)[0] / static_cast<double>(nodes.size());
      middle.push_back(x);
    }
    auto sorted = middle;
    std::ranges::sort(sorted);
    for (const double x : middle) part.push_back(x < sorted[sorted.size() / 2] ? 0 : 1);
    state = moving_state(body, 0.3, 0.05, 9);
    state.displacement = random_displacements(*body.mesh, 0.02, 10);
  }
  Body body;
  std::vector<double> middle;
  std::vector<int> part;
  State state;
};

std::vector<double> forces(const Model& model, const State& state, double t) {
  StageForces stage_forces(model, 1e-3);
  Stage stage{map_of(state.displacement), map_of(state.velocity), {}, {}};
  stage_forces.evaluate(stage, t);
  return {stage.force.data(), stage.force.data() + stage.force.size()};
}

TEST(Submodel, PartsSumToTheWhole) {
  const Plate plate;
  const Model& whole = *plate.body.model;
  const auto parts = divide(whole, plate.part);
  ASSERT_EQ(parts.size(), 2u);
  const auto d = static_cast<std::size_t>(whole.dim());
  std::vector<double> mass(static_cast<std::size_t>(whole.node_count()), 0.0), force(mass.size() * d, 0.0);
  double V = 0.0;
  Index terms = 0;
  std::size_t nodes = 0;
  for (const Submodel& part : parts) {
    const State state = part.restricted(plate.state);
    const auto f = forces(*part.model, state, 0.3);
    for (std::size_t a = 0; a < part.nodes.size(); ++a) {
      const auto i = static_cast<std::size_t>(index(part.nodes[a]));
      mass[i] += part.model->mass()[a];
      for (std::size_t c = 0; c < d; ++c) force[i * d + c] += f[a * d + c];
    }
    V += part.model->potential_energy(state.displacement, 0.3);
    terms += part.model->term_count();
    nodes += part.nodes.size();
  }
  EXPECT_EQ(terms, whole.term_count());
  EXPECT_GT(nodes, static_cast<std::size_t>(whole.node_count()));  // some are in both
  for (std::size_t a = 0; a < mass.size(); ++a) EXPECT_NEAR(mass[a], whole.mass()[a], 1e-15 * whole.mass()[a]);
  const auto expected = forces(whole, plate.state, 0.3);
  EXPECT_LT(largest_difference(force, expected), 1e-13 * largest(expected));
  EXPECT_NEAR(V, whole.potential_energy(plate.state.displacement, 0.3), 1e-13 * std::abs(V));
}

// What engines ask of loads and dampers before they pack them: else a part under gravity would be asked term by term.
TEST(Submodel, ForcesOfPartsAreOfTheKindsTheyAreOfInTheWhole) {
  const Plate plate;
  const Model& whole = *plate.body.model;
  std::array<std::size_t, 3> seen{};  // dead loads, dampers, others
  const auto kinds = [&](std::span<const HostedForce> forces) {
    std::vector<std::vector<double>> all;
    for (const auto& [force, k, local, memory] : forces) {
      const std::size_t kind = force->is_dead() ? 0 : force->is_damper() ? 1 : 2;
      ++seen[kind];
      std::vector<double> of = {static_cast<double>(kind)};
      if (kind == 0)
        force->each_dead_part(k, [&](const DeadPart& part) {
          of.insert(of.end(), {static_cast<double>(part.node), part.weight, part.X[0], part.X[1]});
        });
      const bool all_of_it = force->each_drag(k, [&](std::size_t a, double c) {
        of.insert(of.end(), {static_cast<double>(a), c});
      });
      of.push_back(all_of_it ? 1.0 : 0.0);
      all.push_back(std::move(of));
    }
    std::ranges::sort(all);
    return all;
  };
  for (const Submodel& part : divide(whole, plate.part))
    for (std::size_t i = 0; i < part.terms.size(); ++i)
      EXPECT_EQ(kinds(part.model->forces_within(make_id<TermId>(static_cast<Index>(i)))),
                kinds(whole.forces_within(part.terms[i])));
  for (const std::size_t count : seen) EXPECT_GT(count, 0u);
}

// The energy, stiffness and masses of a part of a part are those of its terms, whoever was asked before.
TEST(Submodel, PartsOfPartsAreParts) {
  const Plate plate;
  const Model& whole = *plate.body.model;
  const auto outer = divide(whole, plate.part);
  const Model& part = *outer.front().model;
  std::vector<int> near(static_cast<std::size_t>(part.term_count()), 1);
  for (std::size_t k = 0; k < near.size() / 2; ++k) near[k] = 0;
  const auto inner = divide(part, near);
  const Submodel& zone = inner.front();
  const State there = zone.restricted(outer.front().restricted(plate.state));
  double V = 0.0, expected = 0.0;
  for (Index k = 0; k < zone.model->term_count(); ++k) {
    const TermId of_whole = outer.front().terms[ordinal(zone.terms[static_cast<std::size_t>(k)])];
    const auto [local, i] = zone.model->term(make_id<TermId>(k));
    const auto [potential, j] = whole.term(of_whole);
    V += local->as_local()->energy(i, there.displacement, 0.0);
    expected += potential->as_local()->energy(j, plate.state.displacement, 0.0);
    const std::size_t n = local->stencil(i).size() * static_cast<std::size_t>(whole.dim());
    std::vector<double> H(n * n, 0.0), of_term(n * n, 0.0);
    local->as_local()->add_hessian(i, there.displacement, 0.0, H);
    potential->as_local()->add_hessian(j, plate.state.displacement, 0.0, of_term);
    EXPECT_LE(largest_difference(H, of_term), 1e-14 * largest(of_term));
  }
  EXPECT_NEAR(V, expected, 1e-14 * std::abs(expected));
  for (const double m : zone.model->mass()) EXPECT_GT(m, 0.0);
}

TEST(Submodel, KnowsItsSupportsAndStableSteps) {
  const Plate plate;
  const Model& whole = *plate.body.model;
  for (const Submodel& part : divide(whole, plate.part)) {
    EXPECT_EQ(part.model->supports().size(), whole.supports().size());
    for (std::size_t a = 0; a < part.nodes.size(); ++a)
      for (int c = 0; c < whole.dim(); ++c) {
        const auto own = make_id<NodeId>(static_cast<Index>(a));
        EXPECT_EQ(part.model->supports().support_of(own, c), whole.supports().support_of(part.nodes[a], c));
        EXPECT_EQ(part.model->supports().displacement(own, c, 0.4),
                  whole.supports().displacement(part.nodes[a], c, 0.4));
      }
    const State state = part.restricted(plate.state);
    for (std::size_t k = 0; k < part.terms.size(); ++k) {  // own shares: those of the term
      const auto own = make_id<TermId>(static_cast<Index>(k));
      EXPECT_DOUBLE_EQ(part.model->stable_step(own, state.displacement),
                       whole.stable_step(part.terms[k], plate.state.displacement));
    }
  }
}

// Two bodies that do not touch, in one model: each by a map of its own, with the bits of the whole.
TEST(Submodel, IsMovedByAMapAsTheWholeIs) {
  Model::Parts parts = particles(2, {0, 0, 1, 0, 1, 1, 7, 0, 8, 0.2, 7.5, 1}, {1.0, 2.0, 1.5, 0.7, 1.1, 0.9});
  const auto pair = [](int a, int b) { return NodePair{NodeId{a}, NodeId{b}}; };
  add_pairs(parts, {pair(0, 1), pair(4, 3), pair(1, 2), pair(3, 5), pair(5, 4)}, Spring{30.0, 0.9});
  add_pairs(parts, {pair(3, 4), pair(0, 2)}, Morse{2.0, 1.5, 1.2});
  const Model whole(std::move(parts));
  State start = reference_state(whole);
  Random random(4);
  for (double& v : start.velocity) v = random.uniform(-0.5, 0.5);
  const auto divided = divide(whole, std::vector{0, 1, 0, 1, 1, 1, 0});
  State expected = start, found = start;
  const double h = 0.05;
  const VariationalMap of_whole(whole, symmetric_midpoint_action(0.3), h);
  of_whole.start(expected);
  std::vector<std::unique_ptr<VariationalMap>> maps;
  std::vector<State> states;
  for (const Submodel& part : divided) {
    maps.push_back(std::make_unique<VariationalMap>(*part.model, symmetric_midpoint_action(0.3), h));
    states.push_back(part.restricted(start));
    maps.back()->start(states.back());
  }
  for (int n = 0; n < 50; ++n) {
    of_whole.step(expected, n * h, h);
    for (std::size_t p = 0; p < maps.size(); ++p) maps[p]->step(states[p], n * h, h);
  }
  for (std::size_t p = 0; p < maps.size(); ++p) divided[p].put_back(states[p], found);
  EXPECT_LT(largest_difference(found.displacement, expected.displacement), 1e-12);
  EXPECT_LT(largest_difference(found.velocity, expected.velocity), 1e-12);
  EXPECT_GT(largest_difference(expected.displacement, start.displacement), 0.3);
}

// The nodes on the border are there twice, each with the mass of its side; constraints hold them together.
TEST(Submodel, PartsTiedByCoincidentNodesMoveAsTheWhole) {
  const std::vector<double> X = {0, 0, 1, 0, 1, 1, 0, 1, 2, 0, 2, 1};
  const auto pair = [](int a, int b) { return NodePair{NodeId{a}, NodeId{b}}; };
  const Spring law{50.0, 1.1};
  Model::Parts whole = particles(2, X, {1, 3, 3, 1, 2, 2});  // 1, 2: 1 of the left, 2 of the right
  add_pairs(whole, {pair(0, 1), pair(1, 2), pair(2, 3), pair(3, 0), pair(0, 2)}, law);
  add_pairs(whole, {pair(1, 4), pair(4, 5), pair(5, 2), pair(1, 5)}, law);
  std::vector<double> Y = X;
  Y.insert(Y.end(), {1, 0, 1, 1});  // 6, 7 on 1, 2
  Model::Parts tied = particles(2, Y, {1, 1, 1, 1, 2, 2, 2, 2});
  add_pairs(tied, {pair(0, 1), pair(1, 2), pair(2, 3), pair(3, 0), pair(0, 2)}, law);
  add_pairs(tied, {pair(6, 4), pair(4, 5), pair(5, 7), pair(6, 5)}, law);
  add(tied, make_coincident(points_of(tied), std::vector{pair(1, 6), pair(2, 7)}));
  const Model one(std::move(whole)), two(std::move(tied));
  State a = reference_state(one), b = reference_state(two);
  Random random(6);
  for (double& v : a.velocity) v = random.uniform(-1.0, 1.0);
  b.velocity = a.velocity;
  b.velocity.insert(b.velocity.end(), a.velocity.begin() + 2, a.velocity.begin() + 6);
  const double h = 0.01;
  SyncConstrained whole_run(one, ConstrainedVelocity::projected, h), tied_run(two, ConstrainedVelocity::projected, h);
  whole_run.advance_to(a, 300.5 * h);
  tied_run.advance_to(b, 300.5 * h);
  const std::vector<double> first(b.displacement.begin(), b.displacement.begin() + 12);
  EXPECT_LT(largest_difference(first, a.displacement), 1e-10);
  for (int c = 0; c < 4; ++c) {
    EXPECT_NEAR(b.displacement[static_cast<std::size_t>(12 + c)], b.displacement[static_cast<std::size_t>(2 + c)],
                1e-12);
    EXPECT_NEAR(b.velocity[static_cast<std::size_t>(12 + c)], b.velocity[static_cast<std::size_t>(2 + c)], 1e-11);
  }
  EXPECT_GT(largest(a.displacement), 0.5);
  // control: untied they part
  Model::Parts loose = particles(2, Y, {1, 1, 1, 1, 2, 2, 2, 2});
  add_pairs(loose, {pair(0, 1), pair(1, 2), pair(2, 3), pair(3, 0), pair(0, 2)}, law);
  add_pairs(loose, {pair(6, 4), pair(4, 5), pair(5, 7), pair(6, 5)}, law);
  const Model three(std::move(loose));
  State c = reference_state(three);
  c.velocity = b.velocity;
  SyncConstrained(three, ConstrainedVelocity::projected, h).advance_to(c, 300.5 * h);
  EXPECT_GT(std::abs(c.displacement[12] - c.displacement[2]), 0.01);
}

TEST(Submodel, OfASumHasItsTerms) {
  const auto X = random_cloud(3, 14, 1.5, 0.8, 3);
  Model::Parts parts = particles(3, X, std::vector<double>(14, 1.0));
  std::vector<NodeId> some;
  for (int a = 1; a < 14; a += 2) some.push_back(NodeId{a});
  parts.add(make_pair_sum(X, 3, parts.mass, some, LennardJones{1.0, 0.9, 1.8}));
  for (int a = 0; a < 14; a += 2) add_pairs(parts, {NodePair{NodeId{a}, NodeId{(a + 2) % 14}}}, Spring{1.0, 1.0});
  const Model whole(std::move(parts));
  std::vector<int> part(static_cast<std::size_t>(whole.term_count()), 0);
  part[0] = 1;
  const auto divided = divide(whole, part);
  std::vector<double> u(X.size());
  Random random(5);
  for (double& x : u) x = random.uniform(-0.1, 0.1);
  State state = reference_state(whole);
  state.displacement = u;
  const State own = divided[1].restricted(state);
  const ManyBodySum& a = *whole.potential(0).as_sum();
  const ManyBodySum& b = *divided[1].model->potential(0).as_sum();
  std::vector<TermKey> keys, expected;
  std::vector<double> g, expected_g;
  a.each_present(u, 0.0, [&](const ManyBodySum::Present& term) {
    expected.push_back(term_key(make_id<NodeId>(index(term.key[0]) / 2), make_id<NodeId>(index(term.key[1]) / 2)));
    expected_g.insert(expected_g.end(), term.gradient.begin(), term.gradient.end());
  });
  b.each_present(own.displacement, 0.0, [&](const ManyBodySum::Present& term) {
    keys.push_back(term.key);
    g.insert(g.end(), term.gradient.begin(), term.gradient.end());
  });
  EXPECT_EQ(keys, expected);
  EXPECT_FALSE(keys.empty());
  EXPECT_TRUE(same_bits(g, expected_g));
}

TEST(Submodel, NodesThatNoTermTouchesGoToTheLastPart) {
  Model::Parts parts = particles(1, {0, 1, 2, 5}, {1, 1, 1, 3});
  add_pairs(parts, {NodePair{NodeId{0}, NodeId{1}}, NodePair{NodeId{1}, NodeId{2}}}, Spring{1.0, 1.0});
  const Model model(std::move(parts));
  const std::vector<Submodel> halves = divide(model, std::vector{0, 1});
  EXPECT_EQ(halves[0].nodes, (std::vector{NodeId{0}, NodeId{1}}));
  EXPECT_EQ(halves[1].nodes, (std::vector{NodeId{1}, NodeId{2}, NodeId{3}}));
  EXPECT_EQ(halves[1].model->mass(NodeId{2}), 3.0);
}

TEST(Submodel, RefusesWhatIsNoDivision) {
  Model::Parts parts = particles(1, {0, 1, 2}, {1, 1, 1});
  add_pairs(parts, {NodePair{NodeId{0}, NodeId{1}}, NodePair{NodeId{1}, NodeId{2}}}, Spring{1.0, 1.0});
  add(parts, make_distances(points_of(parts), std::vector{NodePair{NodeId{0}, NodeId{2}}}));
  const Model model(std::move(parts));
  EXPECT_THROW(divide(model, std::vector{0}), InputError);
  EXPECT_THROW(divide(model, std::vector{0, -1}), InputError);
  EXPECT_THROW(divide(model, std::vector{1, 1}), InputError);
  EXPECT_THROW(divide(model, std::vector{0, 1}), InputError);  // the constraint acts across
  EXPECT_EQ(divide(model, std::vector{0, 0}).front().model->constraints().size(), 1u);
}

}  // namespace
}  // namespace tempi::test
