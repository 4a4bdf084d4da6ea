// SPDX-License-Identifier: Apache-2.0
// Domains on bodies of every element: one method where all is alike, the fast domains against the reference, momenta,
// symplecticity, supports and loads with their books, threads, checkpoints, tied meshes, and what is refused.
#include <gtest/gtest.h>

#include <sstream>

#include "support/pair_cases.hpp"
#include "support/split_oscillator.hpp"
#include "support/sync.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"
#include "tempi/integrator/one_step/sync_variational.hpp"

namespace tempi {
namespace {

using namespace test;

// Cells on either side of a plane x = constant, by their centres.
std::vector<int> halves(const Mesh& mesh, double at = 0.5) {
  std::vector<int> domain;
  for (Index c = 0; c < mesh.cells().size(); ++c) {
    double x = 0.0;
    const auto nodes = mesh.cells()[c];
    for (const NodeId a : nodes) x += mesh.point(a)[0] / static_cast<double>(nodes.size());
    domain.push_back(x < at ? 0 : 1);
  }
  return domain;
}

void no_change(const Mesh&, Model::Parts&) {}
void hold_and_load(const Mesh& mesh, Model::Parts& parts) {
  parts.supports = held_at_rest(mesh, "left");
  add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.1", "-0.2*cos(2*t)", "0.1*X"}, mesh.dim())));
}
void hold_under_gravity(const Mesh& mesh, Model::Parts& parts) {
  parts.supports = held_at_rest(mesh, "left");
  add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.1", "-0.2", "0.05"}, mesh.dim())));
}
// Across the interface too.
void move_and_load(const Mesh& mesh, Model::Parts& parts) {
  std::vector<Support> supports;
  supports.push_back(
      moving("left", nodes_of(mesh, "left"), {"0.02*sin(3*t)", "0.01*Y*sin(t)", "0.01*(cos(t)-1)"}, mesh.dim()));
  parts.supports = Supports(std::move(supports), mesh.points(), mesh.dim());
  add_force(parts, make_pressure(mesh, facets_of(mesh, "right"), Expression("0.02*(1+sin(t))", Constants{}),
                                 PressureFrame::deformed));
}
using Change = void (*)(const Mesh&, Model::Parts&);

Body body_of(Mesh mesh, Change change = no_change) {
  return make_body_with(std::move(mesh), NeoHookean{{1.3, 0.7}}, 1.2, change);
}
double step_of(const Body& body, double safety) { return smallest(own_steps(*body.model, safety)); }

struct Result {
  State state;
  Snapshot shown;
};
Result run(Integrator& integrator, const Body& body, double t, int threads = 1) {
  integrator.use_threads(threads);
  State state = moving_state(body, 0.1, 0.02, 5);
  integrator.advance_to(state, t);
  Snapshot shown = integrator.synchronized(state, t);
  return {std::move(state), std::move(shown)};
}

// ---- where all is alike ----

class OnEveryMesh : public testing::TestWithParam<MeshCase> {};
INSTANTIATE_TEST_SUITE_P(Meshes, OnEveryMesh, testing::ValuesIn(mesh_cases()),
                         [](const auto& of) { return of.param.name; });

TEST_P(OnEveryMesh, DomainsWithOneSubstepAreTheUndividedMethod) {
  for (const Change change : {no_change, hold_and_load, move_and_load})
    for (const double alpha : {0.0, 0.3, 0.5, 1.0}) {
      const Body body = body_of(GetParam().make(), change);
      const double h = step_of(body, 0.8), t = 20.5 * h;
      SyncVariational one(*body.model, symmetric_midpoint_action(alpha), h);
      MultiDomain divided(*body.model, Domains{halves(*body.mesh), {{alpha, 1}, {alpha, 1}}}, h);
      const Result a = run(one, body, t), b = run(divided, body, t);
      EXPECT_LE(largest_difference(a.shown.state.displacement, b.shown.state.displacement), 1e-12) << alpha;
      EXPECT_LE(largest_difference(a.shown.state.velocity, b.shown.state.velocity), 1e-11) << alpha;
      EXPECT_NEAR(a.state.loads.work.value(), b.state.loads.work.value(), alpha == 0.5 || alpha == 0.3 ? 1e-12 : 1e-3);
      for (std::size_t s = 0; s < a.state.supports.size(); ++s) {
        EXPECT_NEAR(a.state.supports[s].work.value(), b.state.supports[s].work.value(), 1e-11);
        for (std::size_t c = 0; c < 3; ++c)
          EXPECT_NEAR(a.state.supports[s].impulse[c].value(), b.state.supports[s].impulse[c].value(), 1e-11);
      }
    }
}

// ---- the fast domains ----

// The same domains fast and by the reference, over twelve steps and a half.
void expect_as_the_reference(const Body& body, Domains domains, double step) {
  const double t = 12.5 * step;
  MultiDomain fast(*body.model, domains, step);
  domains.by_reference = true;
  MultiDomain reference(*body.model, domains, step);
  const Result a = run(reference, body, t), b = run(fast, body, t, 2);
  EXPECT_LE(largest_difference(a.shown.state.displacement, b.shown.state.displacement), 2e-13);
  EXPECT_LE(largest_difference(a.shown.state.velocity, b.shown.state.velocity), 2e-12);
  for (std::size_t s = 0; s < a.state.supports.size(); ++s)
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(a.state.supports[s].impulse[c].value(), b.state.supports[s].impulse[c].value(), 1e-12);
}

TEST_P(OnEveryMesh, FastDomainsMoveAsTheReference) {
  for (const Change change : {no_change, hold_under_gravity, hold_and_load, move_and_load}) {
    const Body body = body_of(GetParam().make(), change);
    for (const int substeps : {2, 4, 5})
      expect_as_the_reference(body, {halves(*body.mesh), {{0.0, substeps}, {0.0, 1}}}, step_of(body, 0.8));
  }
}

// What comes early, of velocities tried one after another near the interface only, is that of running the whole domain
// with each; and changes as the response says, which is symmetric.
TEST_P(OnEveryMesh, DomainsAnswerTrialsAsWholeRunsAndByTheirResponse) {
  for (const Change change : {no_change, hold_under_gravity})
    for (const int substeps : {2, 3, 4, 7}) {
      const Body body = make_body_with(GetParam().make(), NeoHookean{{1.3, 0.7}}, 1.2, change);
      const DomainInterface interface(*body.model, halves(*body.mesh, 0.34), {});
      const DomainInterface::Part& part = interface.parts()[1];
      DomainRule rule{0.0, substeps};
      for (const bool own_steps : {false, true}) {
        if (own_steps)
          for (std::size_t k = 0; k < part.submodel.terms.size(); ++k)
            rule.ticks.push_back(substeps % 2 == 0 && k % 3 == 0 ? 2 : 1);
        const SystemStep step{0.0, 0.1 * substeps * step_of(body, 0.8)};
        const auto domain = make_explicit_domain(part, rule, step.length);
        domain->use_threads(2);
        State state = moving_state(body, 1e-4, 1e-4, 5);
        state.displacement = random_displacements(*body.mesh, 1e-3, 7);
        const auto d = static_cast<std::size_t>(body.model->dim());
        for (const NodeId a : body.model->supports().held_nodes())  // at rest
          std::fill_n(&state.velocity[ordinal(a) * d], d, 0.0);
        Eigen::VectorXd w(std::ssize(part.driven)), dw = w;
        for (Index i = 0; i < w.size(); ++i) {
          w(i) = 1e-4 * std::sin(3.0 * static_cast<double>(i));
          dw(i) = std::cos(5.0 * static_cast<double>(i));
        }
        const double e = 1e-5;
        domain->begin(state, step);
        const Eigen::MatrixXd G(domain->response());
        std::vector<Eigen::VectorXd> tried, run;
        for (const double of : {0.0, e, -e, 3.0 * e})
          tried.push_back(domain->attempt(Eigen::VectorXd(w + of * dw)).early);
        for (const double of : {0.0, e, -e, 3.0 * e}) run.push_back(domain->run(Eigen::VectorXd(w + of * dw)).early);
        const double scale = run.front().cwiseAbs().maxCoeff();
        for (std::size_t k = 0; k < run.size(); ++k)
          EXPECT_LE((tried[k] - run[k]).cwiseAbs().maxCoeff(), 1e-14 * scale) << substeps << " " << k;
        EXPECT_EQ(G, G.transpose());
        const Eigen::VectorXd change_of_early = (run[1] - run[2]) / (2.0 * e);
        EXPECT_LE((G * dw - change_of_early).norm(), 1e-3 * change_of_early.norm()) << substeps;
      }
    }
}

TEST_P(OnEveryMesh, ImplicitDomainsSolvedWithTheInterfaceMoveAsTheReference) {
  for (const Change change : {no_change, hold_and_load, move_and_load}) {
    const Body body = body_of(GetParam().make(), change);
    for (const auto& [alpha, substeps] : {std::pair(0.5, 4), std::pair(0.3, 1)})
      expect_as_the_reference(body, {halves(*body.mesh), {{alpha, 1}, {0.0, substeps}}}, step_of(body, 0.8));
  }
}

// Three bonds on a circle about the origin, two of them stiff and implicit, at a step in which they turn by a third of
// a radian: the matrix of where a step begins is of no use at its end.
TEST(MultiDomain, SolvesWhatTurnsFarInAStep) {
  Model::Parts parts = particles(2, {0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0}, {1.0, 1.0, 1.0, 1.0});
  add_pairs(parts, {{NodeId{0}, NodeId{1}}, {NodeId{1}, NodeId{2}}}, Spring{1e4, 1.0});
  add_pairs(parts, {{NodeId{2}, NodeId{3}}}, Spring{10.0, 1.0});
  const Model model(std::move(parts));
  for (const double rate : {4.0, 6.0}) {
    State state = reference_state(model);
    for (std::size_t a = 0; a < 4; ++a) state.velocity[2 * a + 1] = rate * (static_cast<double>(a) - 1.5);
    MultiDomain method(model, Domains{{0, 0, 1}, {{0.5, 1}, {0.0, 1}}}, 0.05);
    const Momenta before = momenta(model, state);
    ASSERT_NO_THROW(method.advance_to(state, 1.0)) << rate;
    EXPECT_NEAR(momenta(model, state).angular[2], before.angular[2], 1e-11 * before.angular[2]);
    for (const auto& [name, value] : method.measures())
      EXPECT_TRUE(name != "most_newton_iterations" || value < 40) << value;
  }
}

// Where no element at the interface acts within a system step, domains change nothing: avi, to rounding and without
// solving anything.
TEST_P(OnEveryMesh, DomainsOfIdleInterfacesAreAvi) {
  const Body body = body_of(GetParam().make(), hold_under_gravity);
  const double tick = 0.1 * step_of(body, 0.8);
  Domains domains{halves(*body.mesh, 0.6), {{0.0, 4}, {0.0, 4}}};
  std::vector<int> side(static_cast<std::size_t>(body.model->node_count()), 0);
  const auto nodes = [&](Index k) { return body.model->term(make_id<TermId>(k)).stencil(); };
  for (Index k = 0; k < body.model->term_count(); ++k)
    for (const NodeId a : nodes(k)) side[ordinal(a)] |= domains.of_term[static_cast<std::size_t>(k)] == 0 ? 1 : 2;
  TickLattice lattice{tick, {}};
  for (Index k = 0; k < body.model->term_count(); ++k) {
    const bool idle = std::ranges::any_of(nodes(k), [&](NodeId a) { return side[ordinal(a)] == 3; });
    lattice.ticks.push_back(idle ? 4 : k % 3 == 0 ? 2 : 1);
    domains.rules[static_cast<std::size_t>(domains.of_term[static_cast<std::size_t>(k)])].ticks.push_back(
        lattice.ticks.back());
  }
  AviLattice avi(*body.model, lattice);
  MultiDomain divided(*body.model, domains, 4.0 * tick);
  const Result a = run(avi, body, 80.0 * tick), b = run(divided, body, 80.0 * tick);
  EXPECT_LE(largest_difference(a.shown.state.displacement, b.shown.state.displacement), 1e-13);
  EXPECT_LE(largest_difference(a.shown.state.velocity, b.shown.state.velocity), 1e-12);
  for (const auto& [name, value] : divided.measures())
    EXPECT_TRUE(name != "newton_iterations" || value == 0.0) << value;
}

TEST(MultiDomain, HasTheSameBitsOnAnyNumberOfThreads) {
  const Body body = body_of(tetrahedron_mesh(CellType::tetrahedron4, 6, 0.1, 3), hold_under_gravity);
  const double h = step_of(body, 0.5);
  const Domains domains{halves(*body.mesh, 0.3), {{0.0, 4}, {0.5, 1}}};
  std::vector<double> first;
  for (const int threads : {1, 2, 3, 8}) {
    MultiDomain method(*body.model, domains, 4.0 * h);
    const Result result = run(method, body, 20.5 * h, threads);
    if (first.empty()) first = result.shown.state.velocity;
    EXPECT_EQ(first, result.shown.state.velocity) << threads;
  }
}

// ---- what it keeps ----

TEST(MultiDomain, KeepsMomentaToRoundingWithAnySubsteps) {
  const Body body = body_of(tetrahedron_mesh(CellType::tetrahedron4, 3, 0.15, 4));
  const double step = step_of(body, 0.8);
  struct Case {
    DomainRule first, second;
  };
  for (const Case& rules :
       {Case{{0.0, 8}, {0.0, 1}}, Case{{0.0, 3}, {0.0, 2}}, Case{{0.5, 1}, {0.0, 4}}, Case{{0.5, 3}, {0.3, 2}}}) {
    MultiDomain method(*body.model, Domains{halves(*body.mesh), {rules.first, rules.second}}, step);
    State state = moving_state(body, 0.1, 0.02, 5);
    const Momenta before = momenta(*body.model, state);
    for (const double steps : {10.0, 20.3, 30.0, 40.7, 50.0}) {  // at system times and between
      method.advance_to(state, steps * step);
      const Snapshot shown = method.synchronized(state, steps * step);
      const Momenta after = momenta(*body.model, shown.state);
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(before.linear[c], after.linear[c], 2e-15);
        EXPECT_NEAR(before.angular[c], after.angular[c], 2e-14);
      }
    }
  }
}

// With substeps the paper's velocities have momenta that wander: a control of the test above.
TEST(MultiDomain, TheProjectedVelocitiesOfThePaperDoNotKeepMomenta) {
  const Body body = body_of(tetrahedron_mesh(CellType::tetrahedron4, 3, 0.15, 4));
  const double step = step_of(body, 0.8);
  MultiDomain method(*body.model, Domains{halves(*body.mesh), {{0.0, 8}, {0.0, 1}}}, step, Framework::hamiltonian);
  State state = moving_state(body, 0.1, 0.02, 5);
  const Momenta before = momenta(*body.model, state);
  method.advance_to(state, 40.0 * step);
  const Momenta after = momenta(*body.model, method.synchronized(state, 40.0 * step).state);
  double wandered = 0.0;
  for (std::size_t c = 0; c < 3; ++c) wandered = std::max(wandered, std::abs(before.linear[c] - after.linear[c]));
  EXPECT_GE(wandered, 1e-7);
}

TEST(MultiDomain, IsSymplecticWithSubsteps) {
  const std::unique_ptr<Model> model = spring_model(0.3);
  const State at = spinning_springs(*model);
  const std::vector<int> domain = {0, 0, 0, 1};  // the triangle and its tail
  for (const std::vector<DomainRule>& rules : std::initializer_list<std::vector<DomainRule>>{{{0.0, 4}, {0.0, 1}},
                                                                                             {{0.5, 3}, {0.0, 2}},
                                                                                             {{0.0, 1}, {0.3, 3}}}) {
    const auto make = [&](const Model& of, double h) {
      return std::make_unique<MultiDomain>(of, Domains{domain, rules}, h);
    };
    EXPECT_LE(symplectic_defect(make, *model, at, 0.2, 3), 1e-8);
  }
}

// ---- going on ----

TEST(MultiDomain, GoesOnFromACheckpointWithTheSameBits) {
  const Body body = body_of(tetrahedron_mesh(CellType::tetrahedron4, 3, 0.15, 4), hold_and_load);
  const double h = step_of(body, 0.5);
  for (const Framework framework : {Framework::canonical, Framework::hamiltonian, Framework::lagrangian}) {
    const auto make = [&] {
      return std::make_unique<MultiDomain>(*body.model, Domains{halves(*body.mesh), {{0.0, 4}, {0.5, 1}}}, 4.0 * h,
                                           framework);
    };
    const auto whole = make(), first = make(), second = make();
    State a = moving_state(body, 0.1, 0.02, 5), b = a;
    whole->advance_to(a, 60.0 * h);
    first->advance_to(b, 22.0 * h);
    first->synchronized(b, 23.0 * h);  // nobody notices
    std::stringstream file;
    {
      ArchiveWriter archive(file);
      b.save(archive);
      first->save(archive);
    }
    State c = reference_state(*body.model);
    ArchiveReader archive(file);
    c.load(archive);
    second->load(archive);
    second->advance_to(c, 60.0 * h);
    first->advance_to(b, 60.0 * h);
    EXPECT_EQ(first->measures(), second->measures());
    EXPECT_EQ(a.displacement, c.displacement);
    EXPECT_EQ(a.velocity, c.velocity);
    EXPECT_EQ(whole->synchronized(a, 61.0 * h).state.velocity, second->synchronized(c, 61.0 * h).state.velocity);
  }
}

// ---- meshes that do not match ----

// Two blocks, the second beside the first, each with nodes of its own at x = 1; those of the finer follow.
struct TwoBlocks {
  Body body;
  std::vector<int> domain;
  std::vector<TiedNode> ties;
};
TwoBlocks two_blocks(int coarse, int fine) {
  const Mesh a = triangle_mesh(CellType::triangle3, coarse), b = triangle_mesh(CellType::triangle3, fine);
  MeshData data;
  data.dim = 2;
  data.cells = a.cells();
  TwoBlocks blocks;
  data.points.assign(a.points().begin(), a.points().end());
  for (Index k = 0; k < b.node_count(); ++k) {
    data.points.push_back(b.point(make_id<NodeId>(k))[0] + 1.0);
    data.points.push_back(b.point(make_id<NodeId>(k))[1]);
  }
  for (Index k = 0; k < b.cells().size(); ++k) {
    std::vector<NodeId> nodes(b.cells()[k].begin(), b.cells()[k].end());
    for (NodeId& n : nodes) n = make_id<NodeId>(index(n) + a.node_count());
    data.cells.push_back(CellType::triangle3, nodes, k + 1);
  }
  for (Index k = 0; k < a.node_count() + b.node_count(); ++k) data.point_labels.push_back(k + 1);
  for (Index k = 0; k < data.cells.size(); ++k) blocks.domain.push_back(k < a.cells().size() ? 0 : 1);
  std::vector<std::pair<double, NodeId>> masters;
  for (Index k = 0; k < a.node_count(); ++k)
    if (a.point(make_id<NodeId>(k))[0] == 1.0) masters.emplace_back(a.point(make_id<NodeId>(k))[1], make_id<NodeId>(k));
  std::ranges::sort(masters);
  for (Index k = 0; k < b.node_count(); ++k) {
    const auto p = b.point(make_id<NodeId>(k));
    if (p[0] != 0.0) continue;
    auto above = std::ranges::find_if(masters, [&](const auto& m) { return m.first >= p[1]; });
    if (above == masters.begin()) ++above;
    const auto below = above - 1;
    const double part = (p[1] - below->first) / (above->first - below->first);
    blocks.ties.push_back({make_id<NodeId>(k + a.node_count()), {{below->second, 1.0 - part}, {above->second, part}}});
  }
  blocks.body = body_of(Mesh(std::move(data)));
  return blocks;
}

TEST(MultiDomain, TiedMeshesKeepMomentaAndTheirConstraint) {
  TwoBlocks blocks = two_blocks(3, 7);
  const Body& body = blocks.body;
  const double h = step_of(body, 0.5);
  for (const DomainRule& fine : {DomainRule{0.0, 4}, DomainRule{0.5, 2}}) {
    MultiDomain method(*body.model, Domains{blocks.domain, {{0.0, 1}, fine}, blocks.ties}, fine.substeps * h);
    State state = moving_state(body, 0.1, 0.02, 5);
    method.advance_to(state, 0.0);
    method.advance_to(state, 1e-9 * h);
    const Momenta before = momenta(*body.model, state);
    const Energies start = energies(*body.model, method.synchronized(state, fine.substeps * h));
    method.advance_to(state, 400.0 * h);
    const Snapshot shown = method.synchronized(state, 400.0 * h);
    const Momenta after = momenta(*body.model, shown.state);
    for (std::size_t c = 0; c < 2; ++c) EXPECT_NEAR(before.linear[c], after.linear[c], 1e-14);
    EXPECT_NEAR(before.angular[2], after.angular[2], 1e-13);
    const Energies now = energies(*body.model, shown);
    EXPECT_NEAR(now.kinetic + now.potential, start.kinetic + start.potential, 0.01 * start.kinetic);
    for (const TiedNode& tie : blocks.ties)
      for (std::size_t c = 0; c < 2; ++c) {
        double u = -shown.state.displacement[ordinal(tie.node) * 2 + c];
        for (const auto& [master, weight] : tie.masters)
          u += weight * shown.state.displacement[ordinal(master) * 2 + c];
        EXPECT_NEAR(u, 0.0, 1e-14);
      }
  }
}

// At every system step, (32) and (36) of the paper for positions and velocities, as each framework shows them. What is
// shown at tied nodes is what their own domain led to; to the rounding of sums over 100 steps.
TEST(MultiDomain, PositionsAndVelocitiesOfTiedMeshesAgreeAtEverySystemStep) {
  for (const Framework framework : {Framework::canonical, Framework::hamiltonian, Framework::lagrangian}) {
    TwoBlocks blocks = two_blocks(3, 7);
    const double h = step_of(blocks.body, 0.5);
    MultiDomain method(*blocks.body.model, Domains{blocks.domain, {{0.5, 1}, {0.0, 4}}, blocks.ties}, 4.0 * h,
                       framework);
    State state = moving_state(blocks.body, 0.1, 0.02, 5);
    for (int step = 1; step <= 100; ++step) {
      method.advance_to(state, 4.0 * h * step + 1e-9 * h);
      const State shown = method.synchronized(state, 4.0 * h * step).state;
      for (const TiedNode& tie : blocks.ties)
        for (std::size_t c = 0; c < 2; ++c) {
          double u = -shown.displacement[ordinal(tie.node) * 2 + c], v = -shown.velocity[ordinal(tie.node) * 2 + c];
          for (const auto& [master, weight] : tie.masters) {
            u += weight * shown.displacement[ordinal(master) * 2 + c];
            v += weight * shown.velocity[ordinal(master) * 2 + c];
          }
          ASSERT_NEAR(u, 0.0, 4e-15) << step;
          ASSERT_NEAR(v, 0.0, framework == Framework::lagrangian ? 4e-15 / h : 1e-15) << step;
        }
    }
    for (const auto& [name, value] : method.measures())
      if (name == "interface_gap" || name == "interface_slip") {
        EXPECT_LT(value, 1e-14) << name;
      }
  }
}

// With nodes shared instead of tied.
TEST(MultiDomain, TiedMeshesThatMatchMoveAsTheOneMesh) {
  const TwoBlocks blocks = two_blocks(4, 4);
  const Mesh& mesh = *blocks.body.mesh;
  std::vector<NodeId> one_of(static_cast<std::size_t>(mesh.node_count()), NodeId{-1});
  MeshData data;
  data.dim = 2;
  for (Index a = 0; a < mesh.node_count(); ++a) {
    const auto tie = std::ranges::find(blocks.ties, make_id<NodeId>(a), &TiedNode::node);
    if (tie != blocks.ties.end()) {
      const auto& master = std::ranges::max(tie->masters, {}, [](const auto& m) { return m.second; });
      ASSERT_EQ(master.second, 1.0);
      one_of[static_cast<std::size_t>(a)] = one_of[ordinal(master.first)];
      continue;
    }
    one_of[static_cast<std::size_t>(a)] = make_id<NodeId>(std::ssize(data.point_labels));
    data.point_labels.push_back(a + 1);
    for (const double x : mesh.point(make_id<NodeId>(a))) data.points.push_back(x);
  }
  for (Index k = 0; k < mesh.cells().size(); ++k) {
    std::vector<NodeId> nodes(mesh.cells()[k].begin(), mesh.cells()[k].end());
    for (NodeId& n : nodes) n = one_of[ordinal(n)];
    data.cells.push_back(CellType::triangle3, nodes, k + 1);
  }
  const Body whole = body_of(Mesh(std::move(data)));
  const double step = step_of(whole, 0.5);
  for (const std::vector<DomainRule>& rules :
       {std::vector<DomainRule>{{0.0, 1}, {0.0, 4}}, std::vector<DomainRule>{{0.5, 1}, {0.0, 3}}}) {
    MultiDomain tied(*blocks.body.model, Domains{blocks.domain, rules, blocks.ties}, step);
    MultiDomain shared(*whole.model, Domains{blocks.domain, rules, {}}, step);
    State b = moving_state(whole, 0.1, 0.02, 5), a = reference_state(*blocks.body.model);
    const auto each_component = [&](auto&& visit) {
      for (std::size_t n = 0; n < one_of.size(); ++n)
        for (std::size_t c = 0; c < 2; ++c) visit(2 * n + c, 2 * ordinal(one_of[n]) + c);
    };
    each_component([&](std::size_t i, std::size_t j) {
      a.displacement[i] = b.displacement[j];
      a.velocity[i] = b.velocity[j];
    });
    tied.advance_to(a, 50.0 * step);
    shared.advance_to(b, 50.0 * step);
    double most = 0.0;
    each_component([&](std::size_t i, std::size_t j) {
      EXPECT_NEAR(a.displacement[i], b.displacement[j], 1e-13);
      most = std::max(most, std::abs(b.displacement[j]));
    });
    EXPECT_GT(most, 0.05);
  }
}

// Of a uniform strain tied meshes give a uniform stress only where trace spaces agree; a rigid turn gives none at all.
TEST(MultiDomain, TiedMeshesTurnAsOne) {
  TwoBlocks blocks = two_blocks(2, 5);
  const double h = step_of(blocks.body, 0.5);
  MultiDomain method(*blocks.body.model, Domains{blocks.domain, {{0.0, 1}, {0.0, 4}}, blocks.ties}, 4.0 * h);
  State state = reference_state(*blocks.body.model);
  state.displacement = rigid_displacements(*blocks.body.mesh, 0.7, {0.3, -0.2, 0.0});
  method.advance_to(state, 40.0 * h);
  EXPECT_LE(largest_difference(state.displacement, rigid_displacements(*blocks.body.mesh, 0.7, {0.3, -0.2, 0.0})),
            1e-12);
}

// A step that throws leaves the state where the step before it ended, though domains kept that to themselves.
TEST(MultiDomain, AStepThatThrowsLeavesTheStateWhereItBegan) {
  const Body body = body_of(triangle_mesh(CellType::triangle3, 4));
  const std::vector<int> domain = halves(*body.mesh);
  const double h = 1.5 * step_of(body, 1.0);  // grows
  const Domains domains{domain, {{0.0, 1}, {0.0, 1}}};
  MultiDomain in_a_row(*body.model, domains, h), one_by_one(*body.model, domains, h);
  State a = moving_state(body, 0.1, 0.02, 5), b = a;
  EXPECT_THROW(in_a_row.advance_to(a, 1000.0 * h), SolveError);
  int taken = 0;
  try {
    for (;; ++taken) one_by_one.advance_to(b, h * (taken + 1.5));
  } catch (const SolveError&) {
  }
  EXPECT_GT(taken, 2);
  EXPECT_EQ(a.displacement, b.displacement);
  EXPECT_EQ(a.velocity, b.velocity);
  EXPECT_EQ(a.clock, b.clock);
}

// ---- what is refused ----

TEST(MultiDomain, RefusesWhatItCannotDo) {
  const Body body = body_of(triangle_mesh(CellType::triangle3, 2));
  const std::vector<int> domain = halves(*body.mesh);
  const auto make = [&](Domains domains) { MultiDomain(*body.model, std::move(domains), 1e-3); };
  EXPECT_THROW(make({domain, {{0.0, 1}}}), InputError);
  EXPECT_THROW(make({domain, {{0.0, 0}, {0.0, 1}}}), InputError);
  EXPECT_THROW(make({domain, {{1.5, 1}, {0.0, 1}}}), InputError);
  EXPECT_THROW(make({domain, {{0.0, 1}, {0.0, 1}}, {TiedNode{NodeId{0}, {{NodeId{1}, 0.5}}}}}), InputError);
  EXPECT_THROW(make({domain, {{0.0, 1}, {0.0, 1}}, {TiedNode{NodeId{0}, {{NodeId{0}, 1.0}}}}}), InputError);
  TwoBlocks apart = two_blocks(2, 2);
  EXPECT_THROW(MultiDomain(*apart.body.model, Domains{apart.domain, {{0.0, 1}, {0.0, 1}}}, 1e-3), InputError);
}

}  // namespace
}  // namespace tempi
