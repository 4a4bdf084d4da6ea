// SPDX-License-Identifier: Apache-2.0
// The phases of an instant on a lattice, each by itself: loads, supports, drags, on lines of nodes that no engine
// drifts.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <iterator>
#include <sstream>

#include "support/damping.hpp"
#include "support/lattice.hpp"
#include "support/runs.hpp"
#include "tempi/force/damping.hpp"
#include "tempi/force/loads.hpp"
#include "tempi/integrator/lattice/batch_forces.hpp"
#include "tempi/integrator/lattice/lattice_dampers.hpp"
#include "tempi/integrator/lattice/lattice_loads.hpp"
#include "tempi/integrator/lattice/lattice_nodes.hpp"
#include "tempi/integrator/lattice/lattice_supports.hpp"

namespace tempi::test {
namespace {

// Four particles of 1, 2, 3 and 4 kg in the plane, a spring between neighbours; steps of 1, 2 and 2 ticks.
struct Chain {
  explicit Chain(const std::function<void(Model::Parts&)>& edit)
      : model(make(edit)), plan(lattice_groups(model, ticks)), nodes(model, plan, 0.25), state(reference_state(model)) {
    for (std::size_t i = 0; i < state.displacement.size(); ++i) {
      state.displacement[i] = 0.01 * static_cast<double>(i * i % 7);
      state.velocity[i] = 0.1 * static_cast<double>(i % 3) - 0.1;
    }
    nodes.read(state);
  }
  static Model make(const std::function<void(Model::Parts&)>& edit) {
    const std::vector<double> X = {0.0, 0.0, 1.0, 0.1, 2.0, 0.0, 3.0, -0.1};
    Model::Parts parts;
    parts.dim = 2;
    parts.reference = X;
    parts.mass = {1.0, 2.0, 3.0, 4.0};
    parts.add(make_pairs(X, 2, parts.mass, {{node(0), node(1)}, {node(1), node(2)}, {node(2), node(3)}},
                         Spring{1.0, 1.0}, {}));
    edit(parts);
    return Model(std::move(parts));
  }
  static NodeId node(Index a) { return make_id<NodeId>(a); }
  NodeLine& line(Index a) { return nodes.lines()[static_cast<std::size_t>(plan.line(node(a)))]; }

  std::vector<std::int32_t> ticks = {1, 2, 2};
  Model model;
  LatticeGroups plan;
  LatticeNodes nodes;
  State state;
  ThreadTeam team{1};
};

constexpr std::array<std::size_t, 1> group_0{0}, group_1{1};
constexpr std::array<double, 1> half{0.5};

// A force with a potential of its own: -k u on the first node of its host. Not dead, no damper.
class Anchor final : public Force {
 public:
  Index size() const override { return 1; }
  std::span<const NodeId> stencil(Index) const override { return {&node_, 1}; }
  void add_impulse(Index, std::span<const double> u, std::span<const double>, double, double dt,
                   std::span<double> p) const override {
    for (std::size_t c = 0; c < 2; ++c) p[c] -= dt * 5.0 * u[ordinal(node_) * 2 + c];
  }

 private:
  NodeId node_ = make_id<NodeId>(1);
};

TEST(LatticeNodes, AreAViewOfTheStateAndBack) {
  Chain chain([](Model::Parts&) {});
  State other = reference_state(chain.model);
  chain.nodes.write(other);
  EXPECT_EQ(other.displacement, chain.state.displacement);
  EXPECT_EQ(other.velocity, chain.state.velocity);
  chain.line(2).velocity[0] = std::nan("");
  chain.nodes.drift(static_cast<std::size_t>(chain.plan.line(Chain::node(2))), 0.0);  // no time passes
  EXPECT_EQ(chain.line(2).displacement[0], chain.state.displacement[4]);
  chain.nodes.drift(static_cast<std::size_t>(chain.plan.line(Chain::node(1))), 4.0);
  EXPECT_DOUBLE_EQ(chain.line(1).displacement[0], chain.state.displacement[2] + 4 * 0.25 * chain.state.velocity[2]);
  EXPECT_EQ(chain.line(1).clock, 4.0);
}

TEST(LatticeGroups, KnowTheNodesOfTheirTerms) {
  Chain chain([](Model::Parts&) {});
  ASSERT_EQ(chain.plan.groups.size(), 2u);
  EXPECT_EQ(chain.plan.groups[0].lines.size(), 2u);  // of the first spring
  EXPECT_EQ(chain.plan.groups[1].lines.size(), 3u);
}

// The first term hosts the anchor, the others a push of (t, 3) on their second node.
void push(Model::Parts& parts) {
  parts.forces.push_back(std::make_unique<Anchor>());
  parts.hosts.push_back({make_id<TermId>(0)});
}

TEST(LatticeLoads, KickAndBookWhatTheForceSays) {
  Chain chain(push);
  LatticeLoads loads(chain.model, chain.plan, chain.team);
  ASSERT_TRUE(loads.any());
  loads.start(chain.nodes.lines());
  const NodeLine before = chain.line(1);
  loads.evaluate(group_0, 0.0, chain.nodes.lines());
  loads.strike(group_0, half, chain.nodes.lines(), chain.state.loads);
  for (std::size_t c = 0; c < 2; ++c) {
    const double f = -5.0 * before.displacement[c];
    EXPECT_NEAR(chain.line(1).velocity[c], before.velocity[c] + 0.5 * f / 2.0, 1e-15);
    EXPECT_NEAR(chain.state.loads.impulse[c].value(), 0.5 * f, 1e-15);
  }
  EXPECT_EQ(chain.state.loads.work.value(), 0.0);  // nothing has moved since the start
  const double x = 1.0 + before.displacement[0], y = 0.1 + before.displacement[1];
  EXPECT_NEAR(chain.state.loads.moment[2].value(),
              0.5 * -5.0 * (x * before.displacement[1] - y * before.displacement[0]), 1e-15);
  // Taken back, velocities and bookings are those before.
  loads.take_back(group_0, half, chain.nodes.lines(), chain.state.loads);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(chain.line(1).velocity[c], before.velocity[c], 1e-16);
    EXPECT_NEAR(chain.state.loads.impulse[c].value(), 0.0, 1e-16);
  }
}

// Formulas of place and time on the nodes of the second spring, looked at in several places each, in no order.
class Formulas final : public Force {
 public:
  explicit Formulas(std::vector<DeadPart> parts) : parts_(std::move(parts)) {}
  Index size() const override { return 1; }
  std::span<const NodeId> stencil(Index) const override { return nodes_; }
  void add_impulse(Index, std::span<const double>, std::span<const double>, double t, double dt,
                   std::span<double> p) const override {
    for (const DeadPart& part : parts_)
      p[part.node * 2 + static_cast<std::size_t>(part.component)] += dt * part.weight * (*part.value)(part.X, t);
  }
  bool is_dead() const override { return true; }
  void each_dead_part(Index, const std::function<void(const DeadPart&)>& visit) const override {
    for (const DeadPart& part : parts_) visit(part);
  }

 private:
  std::vector<DeadPart> parts_;
  std::array<NodeId, 2> nodes_{Chain::node(1), Chain::node(2)};
};

TEST(LatticeLoads, OfPlaceAndTimeKickBookAndWorkInWhicheverComponentsTheyHave) {
  const Expression first("1 + X*t", {}), second("Y - 2*X*t^2", {});
  const std::array<double, 3> a{1.0, 0.1, 0.0}, b{1.5, 0.05, 0.0}, c{2.0, 0.0, 0.0};
  const std::vector<DeadPart> all = {{1, 0, &second, c, 0.7, "push"}, {0, 0, &first, b, 0.3, "push"},
                                     {0, 0, &first, a, -0.4, "push"}, {1, 1, &first, c, 1.1, "push"},
                                     {0, 0, &first, b, 0.2, "push"},  {0, 1, &second, a, 0.9, "push"},
                                     {1, 0, &first, b, 0.6, "push"},  {1, 1, &second, b, -1.3, "push"}};
  for (const unsigned which : {1U, 2U, 3U}) {
    std::vector<DeadPart> parts;
    std::ranges::copy_if(all, std::back_inserter(parts),
                         [&](const DeadPart& part) { return (which >> part.component & 1U) != 0; });
    Chain chain([&](Model::Parts& of) {
      of.forces.push_back(std::make_unique<Formulas>(parts));
      of.hosts.push_back({make_id<TermId>(1)});
    });
    LatticeLoads loads(chain.model, chain.plan, chain.team);
    loads.start(chain.nodes.lines());
    const auto force = [&](double t) {  // x and y of node 1, of node 2
      std::array<double, 4> f{};
      for (const DeadPart& part : parts)
        f[part.node * 2 + static_cast<std::size_t>(part.component)] += part.weight * (*part.value)(part.X, t);
      return f;
    };
    std::array<double, 4> last_force{};
    Ledger expected;
    for (const double t : {0.3, 0.8}) {
      const std::array<double, 4> f = force(t),
                                  way = t == 0.3 ? std::array<double, 4>{} : std::array{0.2, -0.1, 0.3, 0.05};
      std::array<double, 4> before{};
      for (std::size_t i = 0; i < 4; ++i) {
        NodeLine& node = chain.line(static_cast<Index>(1 + i / 2));
        node.displacement[i % 2] += way[i];
        before[i] = node.velocity[i % 2];
        expected.impulse[i % 2] += 0.5 * f[i];
        if ((which >> i % 2 & 1U) != 0) expected.work += 0.5 * (last_force[i] + f[i]) * way[i];
      }
      for (std::size_t n = 0; n < 2; ++n) {
        const NodeLine& node = chain.line(static_cast<Index>(1 + n));
        const double x = (n == 0 ? 1.0 : 2.0) + node.displacement[0], y = (n == 0 ? 0.1 : 0.0) + node.displacement[1];
        expected.moment[2] += 0.5 * (x * f[2 * n + 1] - y * f[2 * n]);
      }
      last_force = f;
      loads.evaluate(group_1, t, chain.nodes.lines());
      loads.strike(group_1, half, chain.nodes.lines(), chain.state.loads);
      for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(chain.line(static_cast<Index>(1 + i / 2)).velocity[i % 2],
                    before[i] + 0.5 * f[i] / (i < 2 ? 2.0 : 3.0), 1e-15)
            << which;
    }
    EXPECT_NEAR(chain.state.loads.work.value(), expected.work.value(), 1e-15) << which;
    EXPECT_NEAR(chain.state.loads.moment[2].value(), expected.moment[2].value(), 2e-15) << which;
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_NEAR(chain.state.loads.impulse[i].value(), expected.impulse[i].value(), 1e-15) << which;
    // From ways kept, the same work again.
    const std::vector<double> ways = loads.ways();
    LatticeLoads other(chain.model, chain.plan, chain.team);
    other.set_ways(ways);
    EXPECT_EQ(other.ways(), ways);
    EXPECT_EQ(ways.size(), 2u * 2u * static_cast<std::size_t>(std::popcount(which)));
  }
}

TEST(LatticeLoads, DoTheWorkOfTheTrapeziumRuleThroughACheckpointToo) {
  Chain chain(push);
  LatticeLoads loads(chain.model, chain.plan, chain.team), other(chain.model, chain.plan, chain.team);
  loads.start(chain.nodes.lines());
  loads.evaluate(group_0, 0.0, chain.nodes.lines());
  loads.strike(group_0, half, chain.nodes.lines(), chain.state.loads);
  std::stringstream file;
  ArchiveWriter writer(file);
  loads.save(writer);
  ArchiveReader reader(file);
  other.load(reader);
  const double u0 = chain.line(1).displacement[0];
  chain.line(1).displacement[0] += 0.3;
  for (LatticeLoads* each : {&loads, &other}) {
    Ledger ledger;
    AlignedVector<NodeLine> copy(chain.nodes.lines().begin(), chain.nodes.lines().end());
    each->evaluate(group_0, 1.0, copy);
    each->strike(group_0, half, copy, ledger);
    EXPECT_NEAR(ledger.work.value(), 0.5 * (-5.0 * u0 - 5.0 * (u0 + 0.3)) * 0.3, 1e-15);  // exact for a linear force
  }
}

// Loads of every kind on a body of several stretches of lines, of groups that lie anywhere: at two times, kicks and
// bookings against the sums force by force, on any number of threads with the same bits; work against that of one group
// after the other.
TEST(LatticeLoads, OfSeveralGroupsKickAndBookTogether) {
  const Body body = make_body_with(
      tetrahedron_mesh(CellType::tetrahedron4, 12, 0.1), NeoHookean{{1.3, 0.7}}, 1.2,
      [](const Mesh& mesh, Model::Parts& parts) {
        const auto surface = facets_of(mesh, "boundary");
        add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.3", "-0.2*cos(t)", "0.1*(1+X*t)"}, 3)));
        add_force(parts, make_traction(mesh, surface, formulas({"0.1", "0.2", "Y"}, 3)));
        for (const auto frame : {PressureFrame::deformed, PressureFrame::reference})
          add_force(parts, make_pressure(mesh, surface, Expression("0.2*(1+X*t)", {}), frame));
      });
  const Model& model = *body.model;
  Random random(7);
  std::vector<std::int32_t> ticks;
  for (Index i = 0; i < model.term_count(); ++i) ticks.push_back(std::int32_t{1} << random.below(3));
  const LatticeGroups plan = lattice_groups(model, ticks);
  const std::vector<std::size_t> groups{0, 2};
  const std::vector<double> steps{0.5, 0.7};
  std::vector<State> states(2, moving_state(body, 0.1, 0.02, 5));
  for (double& u : states[1].displacement) u += random.uniform(-0.02, 0.02);
  const auto times = std::array{0.3, 0.8};

  std::vector<double> kicks(states[0].velocity.size(), 0.0);  // momentum
  std::array<double, 3> impulse{}, moment{};
  double size = 0.0;
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (const LatticePart& part : plan.groups[groups[i]].parts)
        for (const TermId term : part.terms)
          for (const HostedForce& h : model.forces_within(term)) {
            const auto nodes = h.force->stencil(h.element);
            std::vector<double> p(nodes.size() * 3, 0.0);
            h.force->add_impulse(h.element, states[n].displacement, states[n].velocity, times[n], steps[i], p);
            for (std::size_t a = 0; a < nodes.size(); ++a) {
              std::array<double, 3> x{}, f{};
              for (std::size_t c = 0; c < 3; ++c) {
                const std::size_t at = ordinal(nodes[a]) * 3 + c;
                f[c] = p[a * 3 + c];
                x[c] = model.reference()[at] + states[n].displacement[at];
                kicks[at] += f[c];
                impulse[c] += f[c];
                size = std::max(size, std::abs(kicks[at]));
              }
              for (std::size_t c = 0; c < 3; ++c)
                moment[c] += x[(c + 1) % 3] * f[(c + 2) % 3] - x[(c + 2) % 3] * f[(c + 1) % 3];
            }
          }
  ASSERT_GT(size, 1e-3);

  struct Found {
    std::vector<double> velocity;
    Ledger ledger;
  };
  const auto go = [&](int threads, bool together) {
    ThreadTeam team(threads);
    LatticeNodes nodes(model, plan, 0.25);
    LatticeLoads loads(model, plan, team);
    Found found;
    State state = states[0];
    for (std::size_t n = 0; n < 2; ++n) {
      state.displacement = states[n].displacement;
      nodes.read(state);
      if (n == 0) loads.start(nodes.lines());
      for (std::size_t i = 0; i < (together ? 1 : groups.size()); ++i) {
        const std::size_t count = together ? groups.size() : 1;
        loads.evaluate(std::span(groups).subspan(i, count), times[n], nodes.lines());
        loads.strike(std::span(groups).subspan(i, count), std::span(steps).subspan(i, count), nodes.lines(),
                     found.ledger);
      }
      nodes.write(state);
    }
    found.velocity = state.velocity;
    return found;
  };
  const Found one = go(1, true), one_by_one = go(1, false);
  for (std::size_t i = 0; i < kicks.size(); ++i)
    EXPECT_NEAR(one.velocity[i] - states[0].velocity[i], kicks[i] / model.mass()[i / 3],
                1e-13 * size / model.mass()[i / 3]);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(one.ledger.impulse[c].value(), impulse[c], 1e-11 * size);
    EXPECT_NEAR(one.ledger.moment[c].value(), moment[c], 1e-11 * size);
  }
  EXPECT_GT(std::abs(one.ledger.work.value()), 1e-4);
  EXPECT_NEAR(one.ledger.work.value(), one_by_one.ledger.work.value(), 1e-15);
  EXPECT_TRUE(same_bits(one.velocity, one_by_one.velocity));
  for (const int threads : {2, 3, 5}) {
    const Found other = go(threads, true);
    EXPECT_TRUE(same_bits(other.velocity, one.velocity)) << threads;
    EXPECT_EQ(other.ledger.work.value(), one.ledger.work.value()) << threads;
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(other.ledger.impulse[c].value(), one.ledger.impulse[c].value()) << threads;
      EXPECT_EQ(other.ledger.moment[c].value(), one.ledger.moment[c].value()) << threads;
    }
  }
}

TEST(LatticeSupports, GiveToTheLedgerWhatKicksGaveToHeldComponents) {
  Chain chain([](Model::Parts& parts) {
    Support support;
    support.name = "wall";
    support.nodes = {Chain::node(2)};
    support.motion[1] = Support::Motion::at_rest;
    std::vector<Support> all;
    all.push_back(std::move(support));
    parts.supports = Supports(std::move(all), parts.reference, 2);
  });
  LatticeSupports supports(chain.model, chain.plan, chain.team, 0.25, 0.01);
  supports.start(chain.nodes.lines());
  supports.read(chain.nodes.lines());
  EXPECT_EQ(chain.line(2).velocity[1], 0.0);
  const std::size_t line = static_cast<std::size_t>(chain.plan.line(Chain::node(2)));
  EXPECT_TRUE(supports.holds(line, 1));
  EXPECT_FALSE(supports.holds(line, 0));
  const double free = chain.line(2).velocity[0];
  chain.line(2).velocity[0] += 0.4;
  chain.line(2).velocity[1] += 0.2;
  supports.settle(1, chain.nodes.lines(), chain.state.supports);
  EXPECT_EQ(chain.line(2).velocity[0], free + 0.4);
  EXPECT_EQ(chain.line(2).velocity[1], 0.0);
  EXPECT_NEAR(chain.state.supports[0].impulse[1].value(), -3.0 * 0.2, 1e-15);
  EXPECT_EQ(chain.state.supports[0].impulse[0].value(), 0.0);
  EXPECT_NEAR(chain.state.supports[0].moment[2].value(), -3.0 * 0.2 * (2.0 + chain.line(2).displacement[0]), 1e-15);
}

TEST(LatticeSupports, MoveNodesAsPrescribedAndBookTheirOwnMass) {
  Chain chain([](Model::Parts& parts) {
    std::vector<Support> all;
    all.push_back(moving("hand", {Chain::node(0)}, {"2*t", "0"}, 2));
    parts.supports = Supports(std::move(all), parts.reference, 2);
  });
  LatticeSupports supports(chain.model, chain.plan, chain.team, 0.25, 0.01);
  supports.start(chain.nodes.lines());
  supports.read(chain.nodes.lines());
  EXPECT_NEAR(chain.line(0).velocity[0], 2.0, 1e-12);
  supports.follow(0, 2.0, chain.nodes.lines(), chain.state.supports);
  EXPECT_DOUBLE_EQ(chain.line(0).displacement[0], 1.0);
  EXPECT_EQ(chain.line(0).clock, 2.0);
  EXPECT_NEAR(chain.state.supports[0].impulse[0].value(), 0.0, 1e-12);  // at constant speed it takes nothing
}

// w = (v- + v_P) / 2 / (1 + C / 2m) with the C of both groups: checked on numbers, and by the sign of the work.
TEST(LatticeDrag, SolvesEachNodeExactly) {
  Chain chain([](Model::Parts& parts) {
    parts.forces.push_back(make_drag(2, {{Chain::node(1), 0.8}, {Chain::node(1), 0.6}}));
    parts.hosts.push_back({make_id<TermId>(0), make_id<TermId>(1)});
  });
  LatticeSupports supports(chain.model, chain.plan, chain.team, 0.25, 0.01);
  LatticeDrag drag(chain.model, chain.plan, supports, chain.team);
  std::vector<LatticeDrag::Vector> before(4);
  const double m = 2.0;
  const auto act = [&](const ActingGroups& groups, double C) {
    chain.line(1).velocity[0] = 0.7;
    for (std::size_t i = 0; i < 4; ++i) std::copy_n(chain.nodes.lines()[i].velocity, 3, before[i].begin());
    const double v_minus = chain.line(1).velocity[0], given = chain.state.damping.impulse[0].value();
    chain.line(1).velocity[0] += 0.3;
    const double v_P = chain.line(1).velocity[0];
    drag.act(groups, chain.nodes.lines(), before, {}, {}, chain.state.damping);
    const double w = 0.5 * (v_minus + v_P) / (1.0 + 0.5 * C / m), v_plus = chain.line(1).velocity[0];
    EXPECT_NEAR(v_plus, v_P - C / m * w, 1e-15);
    EXPECT_NEAR(w, 0.5 * (v_minus + v_plus), 1e-15);
    EXPECT_NEAR(chain.state.damping.impulse[0].value() - given, -C * w, 1e-15);
  };
  const ActingGroups both = {{0, 0.25}, {1, 0.5}};
  act(both, 0.25 * 0.8 + 0.5 * 0.6);
  act({{0, 0.25}}, 0.25 * 0.8);
  act(both, 0.25 * 0.8 + 0.5 * 0.6);
  act({{0, 0.125}, {1, 0.5}}, 0.125 * 0.8 + 0.5 * 0.6);  // a part of a step
  for (int i = 1; i < 40; ++i) act({{0, 0.25 / i}}, 0.25 * 0.8 / i);
  act(both, 0.25 * 0.8 + 0.5 * 0.6);
  EXPECT_LT(chain.state.damping.work.value(), 0.0);
  EXPECT_EQ(chain.line(3).velocity[0], chain.state.velocity[6]);  // the others have none
}

// Against the sum term by term, on any number of threads the same bits.
TEST(BatchForces, AreThoseTermByTerm) {
  for (const MeshCase& mesh : mesh_cases()) {
    SCOPED_TRACE(mesh.name);
    const Body body = make_body_with(mesh.make(), NeoHookean{{1.3, 0.7}}, 1.2, [](const Mesh& m, Model::Parts& parts) {
      add_force(parts, make_gravity(m, cells_of(parts), {}, formulas({"0.1*X", "-0.2*t", "0.3"}, m.dim())));
    });
    const Model& model = *body.model;
    const State state = moving_state(body, 0.1, 0.02, 5);
    const auto d = static_cast<std::size_t>(model.dim());
    const std::size_t n = state.displacement.size();
    std::vector<double> force(n), load(n), threaded(n), unused(n), expected(n, 0.0);
    EXPECT_TRUE(BatchForces(model, 1).evaluate(state.displacement, 0.7, force, load));
    EXPECT_TRUE(BatchForces(model, 2).evaluate(state.displacement, 0.7, threaded, unused));
    EXPECT_EQ(force, threaded);
    for (Index i = 0; i < model.term_count(); ++i) {
      const auto term = make_id<TermId>(i);
      const auto [potential, k] = model.term(term);
      const auto nodes = potential->stencil(k);
      std::vector<double> g(nodes.size() * d, 0.0), q(g.size(), 0.0);
      potential->add_gradient(k, state.displacement, 0.7, g);
      for (const HostedForce& h : model.forces_within(term)) {
        std::vector<double> part(h.local.size() * d, 0.0);
        h.force->add_impulse(h.element, state.displacement, state.velocity, 0.7, 1.0, part);
        for (std::size_t a = 0; a < h.local.size(); ++a)
          for (std::size_t c = 0; c < d; ++c) q[h.local[a] * d + c] += part[a * d + c];
      }
      for (std::size_t j = 0; j < g.size(); ++j) expected[ordinal(nodes[j / d]) * d + j % d] += q[j] - g[j];
    }
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(force[i], expected[i], 1e-13) << i;
  }
}

}  // namespace
}  // namespace tempi::test
