// SPDX-License-Identifier: Apache-2.0
// Particles whose neighbours change: the motion is that of all pairs whatever the method, momenta stay, runs go on with
// the same bits, and one slow sum beside fast bonds is impulse r-RESPA.
#include <gtest/gtest.h>

#include <sstream>

#include "support/pair_cases.hpp"
#include "support/variational_methods.hpp"
#include "tempi/core/error.hpp"
#include "tempi/pair/pair_sum.hpp"
#include "tempi/space/neighbour_pairs.hpp"

namespace tempi::test {
namespace {

constexpr LennardJones law{1.0, 1.0, 2.5};
constexpr double L = 6.0;

std::vector<NodeId> nodes_up_to(std::size_t count) {
  std::vector<NodeId> nodes;
  for (std::size_t a = 0; a < count; ++a) nodes.push_back(make_id<NodeId>(static_cast<Index>(a)));
  return nodes;
}

// A hot gas: in 32 steps of 0.005 the fast ones move by 1, a fifth of it the width of a list.
struct Gas {
  enum class Pairs { in_a_sum, all, those_near_at_first };

  Gas(bool periodic, Pairs kind, std::size_t count = 20, double speed = 5.0) {
    const Box box = periodic ? Box({L, L, L}) : Box();
    const auto X = random_cloud(3, count, 0.5 * L, 1.0, 51);
    Model::Parts parts = particles(3, X, std::vector<double>(count, 1.0));
    if (kind == Pairs::in_a_sum)
      parts.add(make_pair_sum(X, 3, parts.mass, nodes_up_to(count), law, box, 0.2));
    else
      add_pairs(parts, kind == Pairs::all ? all_pairs(static_cast<Index>(count)) : pairs_within(X, 3, 2.7, box), law,
                box);
    model = std::make_unique<Model>(std::move(parts));
    state = reference_state(*model);
    Random random(52);
    for (double& v : state.velocity) v = random.uniform(-speed, speed);
  }
  std::vector<double> after(const Method& method, double step, int steps) {
    const auto integrator = method.make(*model, uniform_steps(*model, step));
    integrator->advance_to(state, (steps + 0.5) * step);
    return integrator->synchronized(state, steps * step).state.displacement;
  }
  std::unique_ptr<Model> model;
  State state;
};

std::vector<Method> every_kind_of_method() {
  std::vector<Method> all = methods();
  for (const Method& method : variational_methods())
    if (method.name == "midpoint 0.5" || method.name == "gauss 4") all.push_back(method);
  for (const Method& method : other_synchronous_methods())
    if (method.name == "rk4" || method.name == "newmark 0.25 0.5") all.push_back(method);
  return all;
}

class ChangingNeighbours : public testing::TestWithParam<Method> {};

// Collisions magnify rounding and what the solvers leave, some 1e3 times.
TEST_P(ChangingNeighbours, MoveAsAllPairsDo) {
  // The reference engine looks after the stable steps of single pairs, which have small shares of the masses.
  const Method of_all_pairs = GetParam().name == "newmark" ? methods().back() : GetParam();
  for (const bool periodic : {false, true}) {
    const double step = 0.005;
    const auto expected = Gas(periodic, Gas::Pairs::all).after(of_all_pairs, step, 32);
    const auto found = Gas(periodic, Gas::Pairs::in_a_sum).after(GetParam(), step, 32);
    EXPECT_LT(largest_difference(found, expected), 1e-9);
    EXPECT_GT(largest(expected), 0.5);
    // control: those near at first are others later
    const auto without = Gas(periodic, Gas::Pairs::those_near_at_first).after(of_all_pairs, step, 32);
    EXPECT_GT(largest_difference(without, expected), 1e-4);
  }
}

TEST_P(ChangingNeighbours, GoOnAfterACheckpointWithTheSameBits) {
  const double step = 0.005, end = 20.5 * step;
  Gas whole(true, Gas::Pairs::in_a_sum);
  GetParam().make(*whole.model, uniform_steps(*whole.model, step))->advance_to(whole.state, end);
  Gas first(true, Gas::Pairs::in_a_sum), second(true, Gas::Pairs::in_a_sum);
  const auto before = GetParam().make(*first.model, uniform_steps(*first.model, step));
  before->advance_to(first.state, 0.45 * end);
  before->synchronized(first.state, 0.45 * end);  // and looking changes nothing
  std::stringstream file;
  ArchiveWriter writer(file);
  first.state.save(writer);
  before->save(writer);
  ArchiveReader reader(file);
  const auto after = GetParam().make(*second.model, uniform_steps(*second.model, step));
  second.state.load(reader);
  after->load(reader);
  after->advance_to(second.state, end);
  EXPECT_TRUE(same_bits(second.state, whole.state));
}

INSTANTIATE_TEST_SUITE_P(Methods, ChangingNeighbours, testing::ValuesIn(every_kind_of_method()),
                         [](const auto& of) { return plain(of.param.name); });

TEST(ChangingNeighbours, KeepTheirMomentumOverManySteps) {
  Gas gas(true, Gas::Pairs::in_a_sum, 32, 1.0);
  AviLattice newmark(*gas.model, {0.003, {1}});
  const Balance balance = run_and_balance(*gas.model, newmark, gas.state, 10000 * 0.003, 50);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_LT(balance.energy().band, 0.05);             // the force jumps at the cutoff
  EXPECT_GT(balance.angular_momentum().error, 1e-3);  // control: a box does not keep it
}

TEST(ChangingNeighbours, OfAFreeClusterKeepBothMomenta) {
  Gas gas(false, Gas::Pairs::in_a_sum, 32, 0.3);
  AviLattice newmark(*gas.model, {0.004, {1}});
  const Balance balance = run_and_balance(*gas.model, newmark, gas.state, 2000 * 0.004, 50);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_LT(balance.angular_momentum().error, 1e-12);
}

// Two chains of particles on stiff bonds in a box; all of them feel each other every n-th step only, in one sum or as
// pairs of their own.
struct BondedChains {
  enum class Slow { in_a_sum, by_pairs };

  explicit BondedChains(Slow slow) {
    std::vector<double> X;  // along a lattice, back and forth
    for (int k = 0; k < 4; ++k)
      for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 3; ++i) {
          const int row = k % 2 == 0 ? j : 1 - j;
          X.insert(X.end(), {1.3 * (row % 2 == k % 2 ? i : 2 - i), 1.3 * row, 1.3 * k});
        }
    const Box box({L, L, L});
    Model::Parts parts = particles(3, X, std::vector<double>(24, 1.0));
    std::vector<NodePair> bonds = chain(24);
    bonds.erase(bonds.begin() + 11);
    add_pairs(parts, bonds, Spring{200.0, 1.2}, box);
    if (slow == Slow::in_a_sum)
      parts.add(make_pair_sum(X, 3, parts.mass, nodes_up_to(24), law, box, 0.2));
    else
      parts.add(make_pairs(X, 3, parts.mass, all_pairs(24), law, box, Company::wandering));
    model = std::make_unique<Model>(std::move(parts));
    state = reference_state(*model);
    Random random(54);
    for (double& v : state.velocity) v = random.uniform(-1.0, 1.0);
  }
  // v -= duration dV/dx of the potentials p.
  void kick(std::vector<double>& v, const std::vector<double>& u, Index p, double duration) const {
    const Potential& potential = model->potential(p);
    for (Index k = 0; k < potential.size(); ++k) {
      const auto nodes = potential.stencil(k);
      std::vector<double> g(3 * nodes.size(), 0.0);
      potential.add_gradient(k, u, 0.0, g);
      for (std::size_t i = 0; i < g.size(); ++i)
        v[static_cast<std::size_t>(index(nodes[i / 3])) * 3 + i % 3] -= duration * g[i];
    }
  }
  std::unique_ptr<Model> model;
  State state;
};

// Grubmueller, Heller, Windemuth, Schulten (1991); Tuckerman, Berne, Martyna (1992): half a slow kick, n leapfrog steps
// of the bonds, half a slow kick.
class SlowForces : public testing::TestWithParam<BondedChains::Slow> {};

TEST_P(SlowForces, BesideFastBondsAreImpulseRRespa) {
  const double h = 0.004;
  const std::int32_t n = 5;
  const int cycles = 20;
  BondedChains respa(GetParam());
  std::vector<double> u = respa.state.displacement, v = respa.state.velocity;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    respa.kick(v, u, 1, 0.5 * n * h);
    for (int j = 0; j < n; ++j) {
      respa.kick(v, u, 0, 0.5 * h);
      for (std::size_t i = 0; i < u.size(); ++i) u[i] += h * v[i];
      respa.kick(v, u, 0, 0.5 * h);
    }
    respa.kick(v, u, 1, 0.5 * n * h);
  }
  const double t = cycles * n * h;
  std::vector<std::int32_t> ticks(static_cast<std::size_t>(respa.model->term_count()), n);
  std::fill_n(ticks.begin(), respa.model->potential(0).size(), 1);
  std::vector<double> steps;
  for (const std::int32_t m : ticks) steps.push_back(m * h);

  std::vector<std::unique_ptr<Integrator>> engines;
  const BondedChains chains(GetParam());
  engines.push_back(std::make_unique<AviLattice>(*chains.model, TickLattice{h, ticks}));
  engines.push_back(std::make_unique<AviExplicit>(*chains.model, steps));
  std::ranges::fill(ticks, 1);  // control: without a slow step it is another method
  engines.push_back(std::make_unique<AviLattice>(*chains.model, TickLattice{h, ticks}));
  for (std::size_t i = 0; i < engines.size(); ++i) {
    State state = chains.state;
    engines[i]->advance_to(state, t + 0.5 * h);
    const State at = engines[i]->synchronized(state, t).state;
    const double miss = std::max(largest_difference(at.displacement, u), 0.1 * largest_difference(at.velocity, v));
    RecordProperty("engine_" + std::to_string(i), fmt::format("{:.2g}", miss));
    if (i < 2)
      EXPECT_LT(miss, 1e-12);
    else
      EXPECT_GT(miss, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Acting, SlowForces,
                         testing::Values(BondedChains::Slow::in_a_sum, BondedChains::Slow::by_pairs),
                         [](const auto& c) {
                           return c.param == BondedChains::Slow::in_a_sum ? "in_a_sum" : "by_pairs";
                         });

// Head on, at whole numbers of everything: after four steps they are at one place. (Solvers of implicit equations find
// a way round within rounding.)
TEST(ParticlesThatMeet, StopTheRunAndAreNamed) {
  const double step = 0.25;
  for (const bool as_a_sum : {false, true})
    for (const Method& method : every_kind_of_method()) {
      if (method.name == "midpoint 0.5" || method.name == "gauss 4" || method.name == "newmark 0.25 0.5") continue;
      SCOPED_TRACE(method.name);
      const std::vector<double> X = {0.0, 8.0, 32.0};
      Model::Parts parts = particles(1, X, {1.0, 1.0, 1.0});
      const Hertz soft{1e-300, 1.5};  // nothing turns them back
      if (as_a_sum)
        parts.add(make_pair_sum(X, 1, parts.mass, nodes_up_to(3), soft));
      else
        add_pairs(parts, all_pairs(3), soft);
      const Model model(std::move(parts));
      State state = reference_state(model);
      state.velocity = {4.0, -4.0, 0.0};
      const auto integrator = method.make(model, uniform_steps(model, step));
      try {
        integrator->advance_to(state, 2.0);
        ADD_FAILURE() << "went on";
      } catch (const SolveError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("of nodes 0 and 1 at (4) and (4) has met at t = 1 s"), std::string::npos) << text;
        EXPECT_EQ(text.find("element"), std::string::npos) << text;
        EXPECT_EQ(text.find("invert"), std::string::npos) << text;
      }
    }
}

// Where no guess of Newton's method has a value.
TEST(ParticlesAtOnePlace, AreNamedByImplicitMethodsToo) {
  for (const Method& method : every_kind_of_method()) {
    if (method.name != "midpoint 0.5" && method.name != "gauss 4" && method.name != "newmark 0.25 0.5") continue;
    SCOPED_TRACE(method.name);
    const std::vector<double> X = {0.0, 8.0, 32.0};
    Model::Parts parts = particles(1, X, {1.0, 1.0, 1.0});
    parts.add(make_pair_sum(X, 1, parts.mass, nodes_up_to(3), law));
    const Model model(std::move(parts));
    State state = reference_state(model);
    state.displacement[1] = -8.0;
    try {
      method.make(model, uniform_steps(model, 0.25))->advance_to(state, 2.0);
      ADD_FAILURE() << "went on";
    } catch (const SolveError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("of nodes 0 and 1 at (0) and (0) has met"), std::string::npos) << text;
      EXPECT_EQ(text.find("element"), std::string::npos) << text;
    }
  }
}

TEST(EnergyMomentum, RefusesASum) {
  const Gas gas(true, Gas::Pairs::in_a_sum);
  EXPECT_THROW(SyncEnergyMomentum(*gas.model, 0.01), InputError);
}

}  // namespace
}  // namespace tempi::test
