// SPDX-License-Identifier: Apache-2.0
// The fast engine does what the queue does: to rounding, with the same bits for any number of threads, however it is
// stopped or watched. (What it shares with the other methods is tested with them, through methods().)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "support/runs.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/integrator/checkpoint.hpp"

namespace tempi::test {
namespace {

// As between the queue and Newmark: 1000 steps add at most 1000 roundings of 2.2e-16, and nonlinear neighbours part by
// a factor of some tens in that time.
constexpr double tolerance = 1e-11;

// ---- lattices ----

// A tick of few digits: all times are exact in the queue too, and what coincides does so to the bit.
TickLattice with_round_tick(TickLattice lattice) {
  const int exponent = std::ilogb(lattice.tick);
  lattice.tick = std::ldexp(std::floor(std::ldexp(lattice.tick, 20 - exponent)), exponent - 20);
  return lattice;
}
TickLattice round_lattice(const Model& model, double safety, LatticeRule rule) {
  return with_round_tick(lattice_of(own_steps(model, safety), rule));
}
// Any multiples up to 24, no step above `safety`.
TickLattice random_lattice(const Model& model, double safety, unsigned seed) {
  Random random(seed);
  TickLattice lattice{smallest(own_steps(model, safety)) / 24.0, {}};
  for (Index i = 0; i < model.term_count(); ++i)
    lattice.ticks.push_back(static_cast<std::int32_t>(1 + random.below(24)));
  return with_round_tick(std::move(lattice));
}
std::vector<double> steps_of(const TickLattice& lattice) {
  std::vector<double> steps;
  for (const std::int32_t m : lattice.ticks) steps.push_back(m * lattice.tick);
  return steps;
}

struct Rule {
  std::string name;
  LatticeRule rule;
};
std::vector<Rule> rules() {
  return {{"powers_of_two", LatticeRule::powers_of_two},
          {"powers_of_three", LatticeRule::powers_of_three},
          {"any", LatticeRule::any}};
}

// ---- bodies ----

struct Environment {
  std::string name;
  std::function<void(const Mesh&, Model::Parts&)> add;
};

void hold_at_rest(const Mesh& mesh, Model::Parts& parts) {
  parts.supports = held_at_rest(mesh, "left");
  add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.1", "-0.2*cos(2*t)", "0.1*X"}, mesh.dim())));
}
// The left end moves in all directions, a node of the right one in x only.
void move_and_load(const Mesh& mesh, Model::Parts& parts) {
  std::vector<Support> supports;
  supports.push_back(
      moving("left", nodes_of(mesh, "left"), {"0.02*sin(3*t)", "0.01*Y*sin(t)", "0.01*(cos(t)-1)"}, mesh.dim()));
  Support sliding;
  sliding.name = "right";
  sliding.nodes = {nodes_of(mesh, "right").front()};
  sliding.motion[0] = Support::Motion::prescribed;
  sliding.displacement[0].emplace("0.01*sin(2*t)", Constants{});
  if (mesh.dim() > 1) supports.push_back(std::move(sliding));
  parts.supports = Supports(std::move(supports), mesh.points(), mesh.dim());
  add_force(parts, make_pressure(mesh, facets_of(mesh, "right"), Expression("0.02*(1+sin(t))", Constants{}),
                                 PressureFrame::deformed));
  add_force(parts, make_nodal_force(mesh, {&cells_of(parts)}, nodes_of(mesh, "right"),
                                    formulas({"0.002*sin(4*t)", "0.001", "-0.001*cos(t)"}, mesh.dim())));
}
std::vector<Environment> environments() {
  return {{"free", [](const Mesh&, Model::Parts&) {}}, {"held", hold_at_rest}, {"moved", move_and_load}};
}

Body body_in(const Environment& environment, Mesh mesh) {
  return make_body_with(std::move(mesh), NeoHookean{{1.3, 0.7}}, 1.2, environment.add);
}
Body body_of_two_materials(Mesh mesh) {
  return make_body_of_two(std::move(mesh), NeoHookean{{1.3, 0.7}}, 1.2, SaintVenantKirchhoff{{3.0, 2.0}}, 0.8);
}
State start_of(const Body& body) { return moving_state(body, 0.1, 0.02, 5); }

// ---- comparison ----

double value(const CompensatedSum& sum) { return sum.value(); }

// Largest difference of what two ledgers hold, over the largest of it (or over one, where it is less).
double difference(const Ledger& a, const Ledger& b) {
  double worst = std::abs(value(a.work) - value(b.work)), scale = std::max(1.0, std::abs(value(b.work)));
  for (std::size_t c = 0; c < 3; ++c) {
    worst = std::max({worst, std::abs(value(a.impulse[c]) - value(b.impulse[c])),
                      std::abs(value(a.moment[c]) - value(b.moment[c]))});
    scale = std::max({scale, std::abs(value(b.impulse[c])), std::abs(value(b.moment[c]))});
  }
  return worst / scale;
}

// What constant loads have done is in a ledger when somebody asks: between outputs only the queue's has it.
enum class Looked { in_between, at_output };

void expect_alike(const State& a, const State& b, Looked looked = Looked::in_between) {
  EXPECT_LT(largest_difference(a.displacement, b.displacement), tolerance * largest(b.displacement));
  EXPECT_LT(largest_difference(a.velocity, b.velocity), tolerance * largest(b.velocity));
  EXPECT_LT(largest_difference(a.clock, b.clock), tolerance * largest(b.clock));
  Ledger loads = a.loads;
  if (looked == Looked::in_between) loads.work = b.loads.work;
  EXPECT_LT(difference(loads, b.loads), tolerance);
  ASSERT_EQ(a.supports.size(), b.supports.size());
  for (std::size_t s = 0; s < a.supports.size(); ++s)
    EXPECT_LT(difference(a.supports[s], b.supports[s]), tolerance) << "support " << s;
}

void expect_same_counts(const Model& model, const Integrator& a, const Integrator& b) {
  for (Index i = 0; i < model.term_count(); ++i)
    EXPECT_EQ(a.updates(make_id<TermId>(i)), b.updates(make_id<TermId>(i))) << "term " << i;
}

// Both engines for so many smallest steps.
void expect_the_queues_motion(const Body& body, const TickLattice& lattice, int smallest_steps) {
  AviLattice fast(*body.model, lattice);
  AviExplicit queue(*body.model, steps_of(lattice));
  State a = start_of(body), b = a;
  const double t = (smallest_steps + 0.3) * smallest(steps_of(lattice));
  fast.advance_to(a, t);
  queue.advance_to(b, t);
  expect_same_counts(*body.model, fast, queue);
  expect_alike(a, b);
  expect_alike(fast.synchronized(a, t).state, queue.synchronized(b, t).state, Looked::at_output);
}

// ---- the queue's motion ----

struct Case {
  MeshCase mesh;
  Rule rule;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const MeshCase& mesh : mesh_cases())
    for (const Rule& rule : rules()) all.push_back({mesh, rule});
  return all;
}
void PrintTo(const Case& c, std::ostream* out) { *out << c.mesh.name << ", " << c.rule.name; }

class OnALattice : public testing::TestWithParam<Case> {};

TEST_P(OnALattice, AFreeBodyMovesAsInTheQueue) {
  const Body body = body_in(environments()[0], GetParam().mesh.make());
  expect_the_queues_motion(body, round_lattice(*body.model, 0.3, GetParam().rule.rule), 1000);
}

TEST_P(OnALattice, ABodyHeldAtRestUnderGravityMovesAndBooksAsInTheQueue) {
  const Body body = body_in(environments()[1], GetParam().mesh.make());
  expect_the_queues_motion(body, round_lattice(*body.model, 0.3, GetParam().rule.rule), 1000);
}

TEST_P(OnALattice, ABodyMovedUnderPressureAndNodalForcesMovesAndBooksAsInTheQueue) {
  const Body body = body_in(environments()[2], GetParam().mesh.make());
  expect_the_queues_motion(body, round_lattice(*body.model, 0.3, GetParam().rule.rule), 1000);
}

TEST_P(OnALattice, ABodyOfTwoMaterialsMovesAsInTheQueue) {
  const Body body = body_of_two_materials(GetParam().mesh.make());
  expect_the_queues_motion(body, round_lattice(*body.model, 0.3, GetParam().rule.rule), 1000);
}

INSTANTIATE_TEST_SUITE_P(OfEveryElementAndRule, OnALattice, testing::ValuesIn(cases()),
                         [](const auto& c) { return c.param.mesh.name + "_" + c.param.rule.name; });

TEST(RandomMultiples, MoveTheBodyAsInTheQueue) {
  for (const MeshCase& mesh : {mesh_cases()[1], mesh_cases()[4]})
    for (const Environment& environment : environments())
      for (const unsigned seed : {1U, 2U}) {
        SCOPED_TRACE(mesh.name + " " + environment.name + " " + std::to_string(seed));
        const Body body = body_in(environment, mesh.make());
        expect_the_queues_motion(body, random_lattice(*body.model, 0.3, seed), 300);
      }
}

// The tick need not be round: then the queue's times differ from the lattice's by rounding, and only by that.
TEST(ATickOfManyDigits, MovesTheBodyAsInTheQueue) {
  for (const Rule& rule : rules()) {
    SCOPED_TRACE(rule.name);
    const Body body = body_in(environments()[2], mesh_cases()[1].make());
    expect_the_queues_motion(body, lattice_of(own_steps(*body.model, 0.3), rule.rule), 1000);
  }
}

TEST(OtherSteps, DoNotMoveTheBodyAsInTheQueue) {
  const Body body = body_in(environments()[2], mesh_cases()[1].make());
  const TickLattice lattice = round_lattice(*body.model, 0.3, LatticeRule::powers_of_two);
  std::vector<double> steps = steps_of(lattice);
  for (double& step : steps) step *= 0.999;
  AviLattice fast(*body.model, lattice);
  AviExplicit queue(*body.model, steps);
  State a = start_of(body), b = a;
  fast.advance_to(a, 300.3 * smallest(steps));
  queue.advance_to(b, 300.3 * smallest(steps));
  EXPECT_GT(largest_difference(a.velocity, b.velocity), 1e3 * tolerance);
}

TEST(EqualSteps, AreNewmarkToRoundingWithItsBookings) {
  for (const MeshCase& mesh : mesh_cases())
    for (const Environment& environment : environments()) {
      SCOPED_TRACE(mesh.name + " " + environment.name);
      const Body body = body_in(environment, mesh.make());
      const double h = smallest(own_steps(*body.model, 0.3)), t = 300.3 * h;
      AviLattice fast(*body.model,
                      {h, std::vector<std::int32_t>(static_cast<std::size_t>(body.model->term_count()), 1)});
      SyncNewmark newmark(*body.model, h);
      EXPECT_EQ(fast.name(), newmark.name());
      State a = start_of(body), b = a;
      fast.advance_to(a, t);
      newmark.advance_to(b, t);
      expect_same_counts(*body.model, fast, newmark);
      expect_alike(a, b);
      expect_alike(fast.synchronized(a, t).state, newmark.synchronized(b, t).state, Looked::at_output);
    }
}

// ---- what runs in parallel ----

// A spring from every node to the next in the numbering: what the library knows nothing of.
class Springs final : public LocalPotential {
 public:
  explicit Springs(const Mesh& mesh, std::vector<double>& mass) : dim_(mesh.dim()) {
    for (Index a = 0; a + 1 < mesh.node_count(); ++a) {
      pairs_.push_back({make_id<NodeId>(a), make_id<NodeId>(a + 1)});
      shares_.push_back({mass[static_cast<std::size_t>(a)], mass[static_cast<std::size_t>(a + 1)]});
      for (double& m : shares_.back()) m *= 0.1;
      for (std::size_t i = 0; i < 2; ++i) mass[static_cast<std::size_t>(a) + i] += shares_.back()[i];
    }
  }
  Index size() const override { return static_cast<Index>(pairs_.size()); }
  int dim() const override { return dim_; }
  std::span<const NodeId> stencil(Index k) const override { return pairs_[static_cast<std::size_t>(k)]; }
  double energy(Index k, std::span<const double> u, double) const override {
    double V = 0.0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(dim_); ++c)
      V += 0.5 * stiffness * std::pow(stretch(k, u, c), 2);
    return V;
  }
  double add_gradient(Index k, std::span<const double> u, double, std::span<double> g) const override {
    const auto d = static_cast<std::size_t>(dim_);
    for (std::size_t c = 0; c < d; ++c) {
      g[c] -= stiffness * stretch(k, u, c);
      g[d + c] += stiffness * stretch(k, u, c);
    }
    return 1.0;
  }
  void add_hessian(Index, std::span<const double>, double, std::span<double> H) const override {
    const auto d = static_cast<std::size_t>(dim_), n = 2 * d;
    for (std::size_t c = 0; c < n; ++c) {
      H[c * n + c] += stiffness;
      H[c * n + (c + d) % n] -= stiffness;
    }
  }
  double mass(Index k, std::size_t a) const override { return shares_[static_cast<std::size_t>(k)][a]; }
  std::string describe(Index k) const override { return "spring " + std::to_string(k); }

 private:
  static constexpr double stiffness = 1e-4;
  double stretch(Index k, std::span<const double> u, std::size_t c) const {
    const auto [a, b] = pairs_[static_cast<std::size_t>(k)];
    const auto d = static_cast<std::size_t>(dim_);
    return u[static_cast<std::size_t>(index(b)) * d + c] - u[static_cast<std::size_t>(index(a)) * d + c];
  }
  int dim_;
  std::vector<std::array<NodeId, 2>> pairs_;
  std::vector<std::array<double, 2>> shares_;
};

// 20250 tetrahedra with supports, loads and springs; what is made of it is slow to make and only read.
struct LargeBody {
  Body body;
  TickLattice lattice;
  State start;
};
const LargeBody& large_body() {
  static const LargeBody result = [] {
    Body body = make_body_with(tetrahedron_mesh(CellType::tetrahedron4, 15, 0.15, 21), NeoHookean{{1.3, 0.7}}, 1.2,
                               [](const Mesh& mesh, Model::Parts& parts) {
                                 move_and_load(mesh, parts);
                                 parts.potentials.push_back(std::make_unique<Springs>(mesh, parts.mass));
                               });
    TickLattice lattice = round_lattice(*body.model, 0.3, LatticeRule::any);
    // The springs could wait much longer; like this they act, all at once.
    for (Index i = index(body.model->first_term(1)); i < body.model->term_count(); ++i)
      lattice.ticks[static_cast<std::size_t>(i)] = 13;
    State start = moving_state(body, 0.1, 0.02, 5);
    return LargeBody{std::move(body), std::move(lattice), std::move(start)};
  }();
  return result;
}
constexpr double large_body_ticks = 40.0;

State run_large_body(int threads, Observer* observer, const TickLattice& lattice = large_body().lattice) {
  const LargeBody& large = large_body();
  AviLattice avi(*large.body.model, lattice, {.threads = threads});
  State state = large.start;
  const double t = (large_body_ticks + 0.3) * lattice.tick;
  if (observer == nullptr)
    avi.advance_to(state, t);
  else
    avi.advance_to(state, t, *observer);
  return state;
}

TEST(Threads, HaveSeveralBlocksOfEachColourAtOnce) {
  const LargeBody& large = large_body();
  const LatticeGroups plan = lattice_groups(*large.body.model, large.lattice.ticks);
  EXPECT_GE(plan.groups.size(), 2U);
  Index most = 0;
  for (const LatticeGroup& group : plan.groups)
    for (const LatticePart& part : group.parts)
      for (std::size_t c = 0; c + 1 < part.colours.size(); ++c)
        most = std::max(most, (part.colours[c + 1] - part.colours[c]) / part.block);
  EXPECT_GE(most, 8);
}

TEST(Threads, OfAnyNumberGiveTheSameBits) {
  const State expected = run_large_body(1, nullptr);
  EXPECT_FALSE(same_motion(expected, large_body().start));
  for (const int threads : {2, 3, 8}) EXPECT_TRUE(same_bits(run_large_body(threads, nullptr), expected)) << threads;
}

// Where steps nest, groups that act at an instant strike together.
TEST(Threads, OfAnyNumberGiveTheSameBitsWhereStepsNest) {
  const Model& model = *large_body().body.model;
  for (const LatticeRule rule : {LatticeRule::powers_of_two, LatticeRule::powers_of_three}) {
    TickLattice lattice = round_lattice(model, 0.3, rule);
    const std::int32_t slowest =
        *std::max_element(lattice.ticks.begin(), lattice.ticks.begin() + index(model.first_term(1)));
    for (Index i = index(model.first_term(1)); i < model.term_count(); ++i)  // the springs, as above
      lattice.ticks[static_cast<std::size_t>(i)] = slowest;
    EXPECT_GE(lattice_groups(model, lattice.ticks).groups.size(), 2U);
    EnergyResidual one(model);
    const State expected = run_large_body(1, nullptr, lattice), watched = run_large_body(1, &one, lattice);
    EXPECT_FALSE(same_motion(expected, large_body().start));
    EXPECT_TRUE(same_bits(watched, expected));
    for (const int threads : {2, 3, 8}) {
      EnergyResidual other(model);
      EXPECT_TRUE(same_bits(run_large_body(threads, nullptr, lattice), expected)) << threads;
      EXPECT_TRUE(same_bits(run_large_body(threads, &other, lattice), expected)) << threads;
      EXPECT_TRUE(test::same_bits(other.accumulated(), one.accumulated())) << threads;
    }
  }
}

// Lists of parts that are not remembered (LatticeStrikes::blocks): two parts in any order, each several times.
TEST(Threads, GiveStrikesTheSameBitsInAnyOrderOfParts) {
  const LargeBody& large = large_body();
  const LatticeGroups plan = lattice_groups(*large.body.model, large.lattice.ticks);
  std::vector<std::pair<std::size_t, std::size_t>> by_size;  // terms, group
  for (std::size_t g = 0; g < plan.groups.size(); ++g) by_size.emplace_back(plan.groups[g].parts[0].terms.size(), g);
  std::ranges::sort(by_size, std::greater<>());
  EXPECT_GE(by_size[1].first, 1000U);
  State start = large.start;
  for (std::size_t i = 0; i < start.velocity.size(); ++i) start.displacement[i] = 0.2 * start.velocity[i];
  const auto run = [&](int threads) {
    ThreadTeam team(threads);
    const LatticeStrikes strikes(plan, team);
    LatticeNodes nodes(*large.body.model, plan, large.lattice.tick);
    nodes.read(start);
    for (unsigned list = 0; list < 300; ++list) {
      LatticeStrikes::Together together;
      for (unsigned bit = 0; bit < 9; ++bit)
        together.add(plan, by_size[(list >> bit) % 2].second, 1e-3 * large.lattice.tick);
      EXPECT_TRUE(strikes.strike(together, 0.0, nodes.lines()));
    }
    State state = start;
    nodes.write(state);
    return state.velocity;
  };
  const std::vector<double> expected = run(1);
  EXPECT_FALSE(test::same_bits(expected, start.velocity));
  for (const int threads : {2, 5}) EXPECT_TRUE(test::same_bits(run(threads), expected)) << threads;
}

TEST(Threads, OfAnyNumberShowAnObserverTheSameBits) {
  EnergyResidual one(*large_body().body.model), two(*large_body().body.model);
  const State expected = run_large_body(1, nullptr);
  EXPECT_TRUE(same_bits(run_large_body(1, &one), expected));
  EXPECT_TRUE(same_bits(run_large_body(2, &two), expected));
  const auto bits = [](std::span<const double> values) { return std::vector<double>(values.begin(), values.end()); };
  EXPECT_TRUE(same_bits(bits(one.accumulated()), bits(two.accumulated())));
}

TEST(Threads, MoveALargeBodyAsInTheQueue) {
  const LargeBody& large = large_body();
  AviExplicit queue(*large.body.model, steps_of(large.lattice));
  State state = large.start;
  queue.advance_to(state, (large_body_ticks + 0.3) * large.lattice.tick);
  expect_alike(run_large_body(2, nullptr), state);
}

// ---- stopping, saving, watching ----

std::vector<std::pair<std::string, TickLattice>> lattices_of(const Model& model) {
  std::vector<std::pair<std::string, TickLattice>> all;
  for (const Rule& rule : rules()) all.emplace_back(rule.name, lattice_of(own_steps(model, 0.3), rule.rule));
  all.emplace_back("random", random_lattice(model, 0.3, 3));
  return all;
}

TEST(GoingOnOnALattice, InPiecesOrThroughACheckpointGivesTheSameBits) {
  const Body body = body_in(environments()[2], mesh_cases()[3].make());
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const auto file = std::filesystem::temp_directory_path() / ("tempi_lattice_" + std::string(test->name()));
  for (const auto& [name, lattice] : lattices_of(*body.model)) {
    SCOPED_TRACE(name);
    const double end = 60.3 * smallest(steps_of(lattice));
    State expected = start_of(body);
    AviLattice(*body.model, lattice).advance_to(expected, end);
    State pieces = start_of(body);
    AviLattice whole(*body.model, lattice);
    Random random(4);
    for (double t = 0.0; t < end; t += random.uniform(0.0, 5.0) * lattice.tick) {
      whole.advance_to(pieces, t);
      AviLattice first(*body.model, lattice), second(*body.model, lattice);
      State state = start_of(body), other = reference_state(*body.model);
      first.advance_to(state, t);
      EXPECT_TRUE(same_bits(state, pieces));
      write_checkpoint(file, state, first);
      read_checkpoint(file, other, second);
      second.advance_to(other, end);
      ASSERT_TRUE(same_bits(other, expected)) << "through a file at t = " << t;
    }
    whole.advance_to(pieces, end);
    EXPECT_TRUE(same_bits(pieces, expected));
    AviExplicit queue(*body.model, steps_of(lattice));
    State queued = start_of(body);
    queue.advance_to(queued, end);
    expect_same_counts(*body.model, whole, queue);
  }
  std::filesystem::remove(file);
}

// Everything an observer is shown, by update and term; checks that the state it is shown is that of the strike.
class Recorder final : public Observer {
 public:
  explicit Recorder(const Model& model) : model_(model) {}
  struct Seen {
    double time, step, kinetic_before, kinetic_change;
    std::vector<double> load_impulses, displacement;
  };
  using Key = std::pair<Index, Index>;  // term, update

  void on_strike(const Strike& strike) override {
    const auto d = static_cast<std::size_t>(model_.dim());
    std::vector<double> u;
    const auto nodes = model_.term(strike.term).stencil();
    for (const NodeId a : nodes) {
      EXPECT_EQ(strike.state.clock[static_cast<std::size_t>(index(a))], strike.time);
      for (std::size_t c = 0; c < d; ++c)
        u.push_back(strike.state.displacement[static_cast<std::size_t>(index(a)) * d + c]);
    }
    std::vector<double> loads(strike.load_impulses.begin(), strike.load_impulses.end());
    loads.resize(nodes.size() * d, 0.0);
    const bool is_new =
        seen_
            .try_emplace({index(strike.term), strike.update},
                         Seen{strike.time, strike.step, strike.kinetic_before, strike.kinetic_change, loads, u})
            .second;
    EXPECT_TRUE(is_new) << "term " << index(strike.term) << " struck twice";
    EXPECT_GE(strike.time, last_time_);
    last_time_ = strike.time;
  }
  const std::map<Key, Seen>& seen() const { return seen_; }

 private:
  const Model& model_;
  std::map<Key, Seen> seen_;
  double last_time_ = 0.0;
};

TEST(WatchedOnALattice, ARunGivesTheSameBits) {
  for (const MeshCase& mesh : mesh_cases()) {
    SCOPED_TRACE(mesh.name);
    const Body body = body_in(environments()[2], mesh.make());
    for (const auto& [name, lattice] : lattices_of(*body.model)) {
      SCOPED_TRACE(name);
      AviLattice watched(*body.model, lattice), alone(*body.model, lattice), at_times(*body.model, lattice);
      State a = start_of(body), b = a, c = a;
      const double end = 50.3 * smallest(steps_of(lattice));
      EnergyResidual residual(*body.model), other(*body.model);
      watched.advance_to(a, end, residual);
      alone.advance_to(b, end);
      at_times.advance_to(c, 0.3 * end);
      at_times.advance_to(c, 0.7 * end, other);
      at_times.advance_to(c, end);
      EXPECT_TRUE(same_bits(a, b));
      EXPECT_TRUE(same_bits(c, b));
    }
  }
}

TEST(WatchedOnALattice, StrikesAreThoseOfTheQueue) {
  for (const MeshCase& mesh : mesh_cases())
    for (const Environment& environment : environments()) {
      SCOPED_TRACE(mesh.name + " " + environment.name);
      const Body body = body_in(environment, mesh.make());
      for (const Rule& rule : rules()) {
        SCOPED_TRACE(rule.name);
        const TickLattice lattice = round_lattice(*body.model, 0.3, rule.rule);
        AviLattice fast(*body.model, lattice);
        AviExplicit queue(*body.model, steps_of(lattice));
        Recorder found(*body.model), expected(*body.model);
        State a = start_of(body), b = a;
        const double end = 40.3 * smallest(steps_of(lattice));
        fast.advance_to(a, end, found);
        queue.advance_to(b, end, expected);
        double energy = 0.0, load = 0.0;
        for (const auto& [key, strike] : expected.seen()) {
          energy = std::max({energy, strike.kinetic_before, std::abs(strike.kinetic_change)});
          load = std::max(load, largest(strike.load_impulses));
        }
        ASSERT_EQ(found.seen().size(), expected.seen().size());
        for (const auto& [key, strike] : expected.seen()) {
          SCOPED_TRACE(testing::Message() << "term " << key.first << ", update " << key.second);
          ASSERT_TRUE(found.seen().contains(key));
          const Recorder::Seen& other = found.seen().at(key);
          EXPECT_EQ(other.time, strike.time);
          EXPECT_EQ(other.step, strike.step);
          EXPECT_NEAR(other.kinetic_before, strike.kinetic_before, tolerance * energy);
          EXPECT_NEAR(other.kinetic_change, strike.kinetic_change, tolerance * energy);
          EXPECT_LE(largest_difference(other.load_impulses, strike.load_impulses), tolerance * load);
          EXPECT_LT(largest_difference(other.displacement, strike.displacement), tolerance);
        }
      }
    }
}

TEST(WatchedOnALattice, EnergyResidualsAreThoseOfTheQueue) {
  for (const MeshCase& mesh : mesh_cases())
    for (const Environment& environment : environments()) {
      SCOPED_TRACE(mesh.name + " " + environment.name);
      const Body body = body_in(environment, mesh.make());
      for (const Rule& rule : rules()) {
        SCOPED_TRACE(rule.name);
        const TickLattice lattice = round_lattice(*body.model, 0.3, rule.rule);
        AviLattice fast(*body.model, lattice);
        AviExplicit queue(*body.model, steps_of(lattice));
        EnergyResidual found(*body.model), expected(*body.model);
        State a = start_of(body), b = a;
        const double end = 100.3 * smallest(steps_of(lattice));
        fast.advance_to(a, end, found);
        queue.advance_to(b, end, expected);
        const double energy = expected.worst().largest_energy;
        EXPECT_GT(largest(expected.accumulated()), 1e-6 * energy);
        EXPECT_LT(largest_difference(found.accumulated(), expected.accumulated()), tolerance * energy);
        EXPECT_LT(largest_difference(found.last(), expected.last()), tolerance * energy);
        EXPECT_NEAR(found.worst().accumulated, expected.worst().accumulated, tolerance * energy);
        EXPECT_NEAR(found.worst().largest_energy, energy, tolerance * energy);
      }
    }
}

// So many terms at once that what strikes keep goes past the caches.
TEST(WatchedOnALattice, TermsOfALargeBodyGiveWhatItsNodesGet) {
  const Body body = make_body(tetrahedron_mesh(CellType::tetrahedron4, 27, 0.1, 3), NeoHookean{{1.3, 0.7}}, 1.2);
  ASSERT_GT(body.model->term_count(), 117000);
  const TickLattice lattice{1e-3, std::vector<std::int32_t>(static_cast<std::size_t>(body.model->term_count()), 1)};
  AviLattice watched(*body.model, lattice, {.threads = 2, .rechecked = 0.0}),
      alone(*body.model, lattice, {.rechecked = 0.0});
  State a = start_of(body), b = a;
  EnergyResidual residual(*body.model);
  watched.advance_to(a, 1e-9);
  residual.begin(a);
  const auto kinetic = [&] {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.velocity.size(); ++i)
      sum += 0.5 * body.model->mass()[i / 3] * a.velocity[i] * a.velocity[i];
    return sum;
  };
  const double before = kinetic();
  watched.advance_to(a, 4.5e-3, residual);
  alone.advance_to(b, 4.5e-3);
  EXPECT_TRUE(same_bits(a, b));
  const double change = std::abs(kinetic() - before);
  EXPECT_GT(change, 1e-6 * before);
  EXPECT_LT(std::abs(residual.unbooked(a)), 1e-13 * before);
}

// ---- how the model is taken apart ----

std::vector<std::pair<std::string, Body>> bodies_to_take_apart() {
  std::vector<std::pair<std::string, Body>> all;
  for (const MeshCase& mesh : mesh_cases()) all.emplace_back(mesh.name, body_in(environments()[2], mesh.make()));
  all.emplace_back("two materials", body_of_two_materials(tetrahedron_mesh(CellType::tetrahedron4, 7, 0.15, 3)));
  all.emplace_back("triangles", make_body(triangle_mesh(CellType::triangle6, 30, 0.1, 4), materials()[0], 1.2));
  return all;
}

TEST(LatticeGroupsOfAModel, HaveEveryTermOnceWithItsOwnTicks) {
  for (const auto& [name, body] : bodies_to_take_apart())
    for (const TickLattice& lattice :
         {random_lattice(*body.model, 0.3, 1), round_lattice(*body.model, 0.3, LatticeRule::powers_of_two)}) {
      SCOPED_TRACE(name);
      const LatticeGroups plan = lattice_groups(*body.model, lattice.ticks);
      std::vector<int> times(lattice.ticks.size(), 0);
      std::int32_t before = 0;
      for (const LatticeGroup& group : plan.groups) {
        EXPECT_GT(group.ticks, before);
        before = group.ticks;
        for (const LatticePart& part : group.parts)
          for (const TermId term : part.terms) {
            ++times[static_cast<std::size_t>(index(term))];
            EXPECT_EQ(lattice.ticks[static_cast<std::size_t>(index(term))], group.ticks);
            EXPECT_EQ(body.model->term(term).potential, body.model->term(part.terms.front()).potential);
          }
      }
      EXPECT_EQ(times, std::vector<int>(times.size(), 1));
    }
}

// A part of a batch kicks the nodes of the terms it is said to hold, and only those.
TEST(LatticeGroupsOfAModel, HaveBatchesInTheOrderOfTheirTerms) {
  for (const auto& [name, body] : bodies_to_take_apart()) {
    SCOPED_TRACE(name);
    const LatticeGroups plan = lattice_groups(*body.model, random_lattice(*body.model, 0.3, 1).ticks);
    const auto d = static_cast<std::size_t>(body.mesh->dim());
    const std::vector<double> u = random_displacements(*body.mesh, 1e-3, 2);
    AlignedVector<NodeLine> lines(plan.line_of_node.size());
    for (std::size_t a = 0; a < lines.size(); ++a) {
      NodeLine& line = lines[static_cast<std::size_t>(plan.line_of_node[a])];
      std::copy_n(&u[a * d], d, line.displacement);
      line.inverse_mass = 1.0;
    }
    for (const LatticeGroup& group : plan.groups)
      for (const LatticePart& part : group.parts) {
        const auto size = static_cast<Index>(part.terms.size());
        for (Index first = 0; first < size; first += Batch::grain) {
          const Index last = std::min(first + Batch::grain, size);
          AlignedVector<NodeLine> struck = lines;
          EXPECT_TRUE(part.batch->strike(first, last, 1.0, 0.0, struck));
          std::set<NodeId> nodes;
          for (Index i = first; i < last; ++i)
            for (const NodeId a : body.model->term(part.terms[static_cast<std::size_t>(i)]).stencil()) nodes.insert(a);
          for (std::size_t a = 0; a < lines.size(); ++a) {
            const bool kicked = struck[static_cast<std::size_t>(plan.line_of_node[a])].velocity[0] != 0.0;
            ASSERT_EQ(kicked, nodes.contains(make_id<NodeId>(static_cast<Index>(a)))) << "node " << a;
          }
        }
      }
  }
}

TEST(LatticeGroupsOfAModel, HaveBlocksOfOneColourThatShareNoNode) {
  for (const auto& [name, body] : bodies_to_take_apart())
    for (const TickLattice& lattice :
         {random_lattice(*body.model, 0.3, 1), round_lattice(*body.model, 0.3, LatticeRule::powers_of_two)}) {
      SCOPED_TRACE(name);
      const LatticeGroups plan = lattice_groups(*body.model, lattice.ticks);
      for (const LatticeGroup& group : plan.groups)
        for (const LatticePart& part : group.parts) {
          EXPECT_EQ(part.block % Batch::grain, 0);
          EXPECT_EQ(part.colours.front(), 0);
          EXPECT_EQ(part.colours.back(), static_cast<Index>(part.terms.size()));
          for (std::size_t c = 0; c + 1 < part.colours.size(); ++c) {
            EXPECT_LT(part.colours[c], part.colours[c + 1]);
            EXPECT_EQ(part.colours[c] % part.block, 0);
            std::map<NodeId, Index> block_of;
            for (Index i = part.colours[c]; i < part.colours[c + 1]; ++i) {
              const Index block = (i - part.colours[c]) / part.block;
              for (const NodeId a : body.model->term(part.terms[static_cast<std::size_t>(i)]).stencil())
                ASSERT_EQ(block_of.try_emplace(a, block).first->second, block) << "node " << index(a);
            }
          }
        }
    }
}

TEST(LatticeGroupsOfAModel, GiveEveryNodeALineOfItsOwn) {
  for (const auto& [name, body] : bodies_to_take_apart()) {
    SCOPED_TRACE(name);
    const LatticeGroups plan = lattice_groups(*body.model, random_lattice(*body.model, 0.3, 1).ticks);
    std::vector<std::int32_t> lines = plan.line_of_node, expected(lines.size());
    std::ranges::sort(lines);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(lines, expected);
  }
}

// Follows the clocks of the nodes for as many ticks as it takes all groups to meet in many ways.
TEST(LatticeGroupsOfAModel, DriftEveryNodeOfEveryActingTermAndNoOther) {
  for (const MeshCase& mesh : mesh_cases())
    for (const unsigned seed : {1U, 2U, 3U}) {
      SCOPED_TRACE(mesh.name + " " + std::to_string(seed));
      const Body body = body_in(environments()[2], mesh.make());
      const TickLattice lattice = random_lattice(*body.model, 0.3, seed);
      const LatticeGroups plan = lattice_groups(*body.model, lattice.ticks);
      for (Index s = 1; s <= 600; ++s) {
        std::vector<bool> drifted(plan.line_of_node.size(), false), touched(drifted);
        for (const LatticeGroup& group : plan.groups) {
          if (s % group.ticks != 0) continue;
          for (std::int32_t i = group.first_line; i < group.last_line; ++i) drifted[static_cast<std::size_t>(i)] = true;
          for (const std::int32_t i : group.other_lines) drifted[static_cast<std::size_t>(i)] = true;
        }
        for (Index k = 0; k < body.model->term_count(); ++k)
          if (s % lattice.ticks[static_cast<std::size_t>(k)] == 0)
            for (const NodeId a : body.model->term(make_id<TermId>(k)).stencil())
              touched[static_cast<std::size_t>(plan.line_of_node[static_cast<std::size_t>(index(a))])] = true;
        ASSERT_EQ(drifted, touched) << "tick " << s;
      }
    }
}

TEST(ClocksOnALattice, AreThoseOfTheLastActingTerms) {
  for (const MeshCase& mesh : mesh_cases())
    for (const unsigned seed : {1U, 2U}) {
      SCOPED_TRACE(mesh.name + " " + std::to_string(seed));
      const Body body = body_in(environments()[2], mesh.make());
      const TickLattice lattice = random_lattice(*body.model, 0.3, seed);
      const NodeTerms around = node_terms(*body.model);
      AviLattice avi(*body.model, lattice);
      State state = start_of(body);
      for (Index s = 1; s <= 200; ++s) {
        avi.advance_to(state, (static_cast<double>(s) + 0.5) * lattice.tick);
        for (Index a = 0; a < body.model->node_count(); ++a) {
          Index last = 0;
          for (const TermId term : around[make_id<NodeId>(a)]) {
            const Index m = lattice.ticks[static_cast<std::size_t>(index(term))];
            last = std::max(last, s / m * m);
          }
          ASSERT_EQ(state.clock[static_cast<std::size_t>(a)], static_cast<double>(last) * lattice.tick)
              << "node " << a << ", tick " << s;
        }
      }
    }
}

// ---- runs that go wrong ----

std::string message_of(Integrator& integrator, State& state, double t_end) {
  try {
    integrator.advance_to(state, t_end);
  } catch (const SolveError& error) {
    return error.what();
  }
  return "";
}

// The state of the moment before the tick at which the run has stopped, by a twin that has not got so far. Nodes may
// have drifted to the tick; those that are held have the velocity of their motion there then.
void expect_the_state_before_tick(Index s, const Body& body, const TickLattice& lattice, const State& start,
                                  const State& found, double relative) {
  AviLattice twin(*body.model, lattice);
  State before = start;
  twin.advance_to(before, static_cast<double>(s) * lattice.tick);
  const auto d = static_cast<std::size_t>(body.mesh->dim());
  double worst = 0.0;
  for (std::size_t i = 0; i < found.velocity.size(); ++i)
    if (!body.model->supports().holds(make_id<NodeId>(static_cast<Index>(i / d))))
      worst = std::max(worst, std::abs(found.velocity[i] - before.velocity[i]));
  EXPECT_LE(worst, relative * largest(before.velocity));
  Index elsewhere = 0;
  for (std::size_t a = 0; a < found.clock.size(); ++a) {
    const bool drifted = found.clock[a] == static_cast<double>(s) * lattice.tick;
    if (!drifted && found.clock[a] != before.clock[a]) ++elsewhere;
  }
  EXPECT_EQ(elsewhere, 0) << "nodes at another time";
}

// The last node is shot through the body until a cell is inverted.
TEST(InversionOnALattice, NamesTheCellAndTheTimeAndTakesTheTickBack) {
  for (const MeshCase& mesh : mesh_cases())
    for (const Environment& environment : environments())
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(mesh.name + " " + environment.name);
        const Body body = body_in(environment, mesh.make());
        const TickLattice lattice = random_lattice(*body.model, 0.3, 3);
        State start = start_of(body);
        const std::size_t n = start.velocity.size(), d = static_cast<std::size_t>(body.mesh->dim());
        const auto centre = mass_average(*body.model, body.mesh->points());
        for (std::size_t i = n - d; i < n; ++i) start.velocity[i] = 60.0 * (centre[i % d] - body.mesh->points()[i]);
        AviLattice avi(*body.model, lattice, {.threads = threads});
        State state = start;
        const std::string message = message_of(avi, state, 10.0);
        ASSERT_NE(message, "");
        // A tick that no term has ever acted at is not among the counts: the tick is found by trying.
        Index s = 1;
        const auto fails = [&](Index tick) {
          AviLattice twin(*body.model, lattice);
          State tried = start;
          return !message_of(twin, tried, (static_cast<double>(tick) + 0.5) * lattice.tick).empty();
        };
        while (!fails(s)) ++s;
        const auto place = message.find("cell ");
        ASSERT_NE(place, std::string::npos) << message;
        EXPECT_NE(message.find(fmt::format("t = {:.9g} s", static_cast<double>(s) * lattice.tick)), std::string::npos)
            << message;
        const Index label = std::stoll(message.substr(place + 5));
        const auto term = make_id<TermId>(label - 1);
        std::vector<double> g(body.model->term(term).stencil().size() * d);
        EXPECT_FALSE(body.model->potential(0).add_gradient(label - 1, state.displacement, 0.0, g) > 0.0) << message;
        EXPECT_EQ(s % lattice.ticks[static_cast<std::size_t>(label - 1)], 0) << message;
        expect_the_state_before_tick(s, body, lattice, start, state, 1e-12);
      }
}

// A bar crushed slowly enough for stable steps to be looked at in time: the time at which it is stopped.
double time_of_unsafe_step(double rechecked) {
  const Body body = make_body_with(bar_mesh(2), NeoHookean{{1.3, 0.7}}, 1.2, [](const Mesh& mesh, Model::Parts& parts) {
    std::vector<Support> supports;
    supports.push_back(resting("left", {NodeId{0}}, 1));
    supports.push_back(moving("right", {NodeId{2}}, {"-t*3e-5"}, 1));
    parts.supports = Supports(std::move(supports), mesh.points(), 1);
  });
  AviLattice avi(*body.model, {0.7 * smallest(own_steps(*body.model, 1.0)), {1, 1}}, {.rechecked = rechecked});
  State state = reference_state(*body.model);
  const std::string message = message_of(avi, state, 3e4);
  EXPECT_NE(message.find("has become unsafe"), std::string::npos) << message;
  return *std::ranges::max_element(state.clock);
}

// Stiffness grows as the bar is crushed; the part of the step that is held against it decides when to stop.
TEST(AStepOnALattice, ThatBecomesUnsafeIsNoticedAtThePartOfItThatIsRechecked) {
  const double whole = time_of_unsafe_step(1.0), part = time_of_unsafe_step(0.9);
  EXPECT_GT(whole, 100.0);
  EXPECT_GT(part, 1.1 * whole);
}

// What is not a number cannot be taken back; it goes no further than to the nodes of the terms that met it.
TEST(NotANumberOnALattice, IsNamedAndDoesNotSpread) {
  for (const MeshCase& mesh : mesh_cases()) {
    SCOPED_TRACE(mesh.name);
    const Body body = body_in(environments()[0], mesh.make());
    const TickLattice lattice = random_lattice(*body.model, 0.3, 3);
    const auto d = static_cast<std::size_t>(body.mesh->dim());
    State start = start_of(body), good = start;
    start.velocity[d] = std::numeric_limits<double>::quiet_NaN();
    const NodeTerms around = node_terms(*body.model);
    Index first = std::numeric_limits<Index>::max();
    for (const TermId term : around[NodeId{1}])
      first = std::min<Index>(first, lattice.ticks[static_cast<std::size_t>(index(term))]);
    std::set<NodeId> met = {NodeId{1}};
    for (const TermId term : around[NodeId{1}])
      for (const NodeId a : body.model->term(term).stencil()) met.insert(a);
    AviLattice bad(*body.model, lattice), twin(*body.model, lattice);
    const double t = static_cast<double>(first) * lattice.tick;
    const std::string message = message_of(bad, start, 10.0);
    EXPECT_NE(message.find("not finite"), std::string::npos) << message;
    EXPECT_NE(message.find(fmt::format("t = {:.9g} s", t)), std::string::npos) << message;
    twin.advance_to(good, t);
    for (std::size_t a = 0; a < start.clock.size(); ++a)
      for (std::size_t c = a * d; c < (a + 1) * d; ++c)
        if (!met.contains(make_id<NodeId>(static_cast<Index>(a)))) {
          EXPECT_NEAR(start.velocity[c], good.velocity[c], 1e-14) << "node " << a;
        }
  }
}

// A support's or a load's formula may break in the middle of a tick.
void expect_to_stop_at(double t_break, const Body& body) {
  const TickLattice lattice = round_lattice(*body.model, 0.3, LatticeRule::powers_of_two);
  AviLattice avi(*body.model, lattice);
  const State start = start_of(body);
  State state = start;
  EXPECT_NE(message_of(avi, state, 2.0 * t_break), "");
  Index s = 1;
  const auto fails = [&](Index tick) {
    AviLattice twin(*body.model, lattice);
    State tried = start;
    return !message_of(twin, tried, (static_cast<double>(tick) + 0.5) * lattice.tick).empty();
  };
  while (!fails(s)) ++s;
  EXPECT_GT(static_cast<double>(s) * lattice.tick, 0.9 * t_break);
  expect_the_state_before_tick(s, body, lattice, start, state, 1e-12);
}

TEST(ASupportThatBreaks, LeavesTheStateOfTheMomentBefore) {
  expect_to_stop_at(
      1.0,
      make_body_with(mesh_cases()[1].make(), NeoHookean{{1.3, 0.7}}, 1.2, [](const Mesh& mesh, Model::Parts& parts) {
        parts.supports = one_support(mesh, moving("left", nodes_of(mesh, "left"), {"0.01*sqrt(1-t)", "0"}, 2));
      }));
}

TEST(ALoadThatBreaks, LeavesTheStateOfTheMomentBefore) {
  expect_to_stop_at(
      1.0,
      make_body_with(mesh_cases()[1].make(), NeoHookean{{1.3, 0.7}}, 1.2, [](const Mesh& mesh, Model::Parts& parts) {
        add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.01*sqrt(1-t)", "0"}, 2)));
      }));
}

// An observer that gives up is no reason to leave a state of long ago behind.
TEST(AnObserverThatThrows, LeavesAStateOfItsTime) {
  struct Impatient final : Observer {
    double until = 0.0;
    void on_strike(const Strike& strike) override {
      if (strike.time > until) throw SolveError("enough");
    }
  };
  const Body body = body_in(environments()[0], mesh_cases()[1].make());
  const TickLattice lattice = round_lattice(*body.model, 0.3, LatticeRule::powers_of_two);
  AviLattice avi(*body.model, lattice);
  State state = start_of(body);
  Impatient observer;
  observer.until = 20.0 * lattice.tick;
  EXPECT_THROW(avi.advance_to(state, 100.0 * lattice.tick, observer), SolveError);
  for (const double clock : state.clock) EXPECT_GT(clock, 10.0 * lattice.tick);
}

// ---- a run that was tried ----

TEST(ATriedRun, LeavesNoTraceWhenRewound) {
  for (const Environment& environment : environments()) {
    SCOPED_TRACE(environment.name);
    const Body body = body_in(environment, mesh_cases()[4].make());
    const TickLattice lattice = round_lattice(*body.model, 0.3, LatticeRule::any);
    AviLattice tried(*body.model, lattice), alone(*body.model, lattice);
    State a = start_of(body), b = a, copy = a;
    EnergyResidual residual(*body.model);
    tried.advance_to(copy, 20.3 * lattice.tick, residual);
    tried.rewind();
    tried.advance_to(a, 50.3 * lattice.tick);
    alone.advance_to(b, 50.3 * lattice.tick);
    EXPECT_TRUE(same_bits(a, b));
    const Snapshot of_tried = tried.synchronized(a, 51.0 * lattice.tick),
                   of_alone = alone.synchronized(b, 51.0 * lattice.tick);
    EXPECT_TRUE(same_bits(of_tried.state, of_alone.state));
  }
}

}  // namespace
}  // namespace tempi::test
