// SPDX-License-Identifier: Apache-2.0
// Terms that come and go. Lennard-Jones by distance, a step for each class (r-RESPA): pairs wander from class to class,
// and the motion has the bits of the one whose pairs are in every class all the time. Atoms embedded in neighbours that
// change.
#include <gtest/gtest.h>

#include <sstream>

#include "support/measure.hpp"
#include "support/pair_cases.hpp"
#include "support/runs.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/pair/embedded_atoms.hpp"
#include "tempi/pair/pair_sum.hpp"

namespace tempi::test {
namespace {

constexpr std::size_t count = 40;
constexpr double L = 6.0, fast_step = 0.001;
constexpr double longest = 4.0 * fast_step;

LawPart part(int c) {
  const LawPart::Switch near{1.3, 1.5}, far{1.9, 2.2};
  const std::optional<LawPart::Switch> none;
  return LawPart(LennardJones{1.0, 1.0, 2.6}, c == 0 ? none : std::optional(c == 1 ? near : far),
                 c == 2 ? none : std::optional(c == 0 ? near : far));
}

enum class Kind { coming_and_going, all_there, near_at_first };

// A warm fluid in a box; classes of steps 1, 2 and 4.
struct Fluid {
  explicit Fluid(Kind kind, double skin = 0.2) {
    const auto X = random_cloud(3, count, 0.5 * L, 1.0, 71);
    const Box box({L, L, L});
    Model::Parts parts = particles(3, X, std::vector<double>(count, 1.0));
    std::vector<NodeId> nodes;
    for (std::size_t a = 0; a < count; ++a) nodes.push_back(make_id<NodeId>(static_cast<Index>(a)));
    for (int c = 0; c < 3; ++c) {
      std::vector<NodePair> pairs = all_pairs(static_cast<Index>(count));
      if (kind == Kind::near_at_first) {
        const std::vector<double> rest(X.size(), 0.0);
        std::vector<PairLaw> laws;
        laws.emplace_back(part(c));
        const PairGeometry geometry(X, 3, parts.mass, std::move(laws), box);
        std::erase_if(pairs, [&](const NodePair& p) {
          return geometry.separation(p, rest).r > *reach(geometry.law()) + skin;
        });
      }
      if (kind == Kind::coming_and_going)
        parts.add(make_pair_sum(X, 3, parts.mass, nodes, part(c), box, skin));
      else
        parts.add(make_pairs(X, 3, parts.mass, pairs, part(c), box, Company::wandering));
      const auto terms = static_cast<std::size_t>(parts.potentials.back()->size());
      steps.insert(steps.end(), terms, fast_step * (1 << c));
    }
    model = std::make_unique<Model>(std::move(parts));
    state = reference_state(*model);
    Random random(72);
    for (double& v : state.velocity) v = random.uniform(-3.0, 3.0);
  }
  std::unique_ptr<Model> model;
  std::vector<double> steps;
  State state;
};

double measure(const Integrator& of, const std::string& name) {
  for (const auto& [key, value] : of.measures())
    if (key == name) return value;
  return 0.0;
}

TEST(LennardJonesByDistance, HasTheBitsOfAllPairsAllTheTime) {
  constexpr double end = 300.5 * longest;
  Fluid some(Kind::coming_and_going), all(Kind::all_there);
  AviExplicit of_some(*some.model, some.steps), of_all(*all.model, all.steps);
  of_some.advance_to(some.state, end);
  of_all.advance_to(all.state, end);
  EXPECT_TRUE(same_motion(some.state, all.state));
  const Snapshot a = of_some.synchronized(some.state, end), b = of_all.synchronized(all.state, end);
  EXPECT_TRUE(same_bits(a.state.velocity, b.state.velocity));
  EXPECT_TRUE(same_bits(a.force, b.force));
  // Hundreds of pairs came and went in every class, and few of the 780 were there at a time.
  EXPECT_GT(measure(of_some, "terms_came"), 1000.0);
  EXPECT_GT(measure(of_some, "terms_went"), 500.0);
  EXPECT_LT(measure(of_some, "changing_terms"), 780.0);
  EXPECT_LT(measure(of_some, "changing_term_updates"), 0.2 * 780.0 * 1.75 * end / fast_step);
  // The skin decides who is looked at, and nothing else.
  Fluid wide(Kind::coming_and_going, 0.4);
  AviExplicit(*wide.model, wide.steps).advance_to(wide.state, end);
  EXPECT_TRUE(same_motion(wide.state, all.state));
  // control: those near at first are others later
  Fluid without(Kind::near_at_first);
  AviExplicit(*without.model, without.steps).advance_to(without.state, end);
  EXPECT_GT(largest_difference(without.state.displacement, all.state.displacement), 1e-3);
}

TEST(LennardJonesByDistance, GoesOnAfterACheckpointWithTheSameBits) {
  constexpr double half = 101.3 * fast_step, end = 250.7 * fast_step;
  Fluid whole(Kind::coming_and_going), stopped(Kind::coming_and_going), resumed(Kind::coming_and_going);
  AviExplicit of_whole(*whole.model, whole.steps), before(*stopped.model, stopped.steps),
      after(*resumed.model, resumed.steps);
  of_whole.advance_to(whole.state, end);
  before.advance_to(stopped.state, half);
  std::stringstream file;
  ArchiveWriter writer(file);
  stopped.state.save(writer);
  before.save(writer);
  ArchiveReader reader(file);
  resumed.state.load(reader);
  after.load(reader);
  after.advance_to(resumed.state, end);
  EXPECT_TRUE(same_motion(resumed.state, whole.state));
  EXPECT_EQ(after.measures(), of_whole.measures());
}

TEST(LennardJonesByDistance, MovesAlikeOnTheLattice) {
  Fluid queue(Kind::coming_and_going), lattice(Kind::coming_and_going);
  constexpr double end = 40.5 * longest;
  AviExplicit(*queue.model, queue.steps).advance_to(queue.state, end);
  AviLattice(*lattice.model, TickLattice{fast_step, {1, 2, 4}}).advance_to(lattice.state, end);
  // Collisions magnify rounding.
  EXPECT_LT(largest_difference(queue.state.displacement, lattice.state.displacement), 1e-13);
  EXPECT_LT(largest_difference(queue.state.velocity, lattice.state.velocity), 1e-12);
}

struct Balance {
  double momentum = 0.0, band = 0.0, kinetic = 0.0;  // largest change, of the energy max - min, at the start
};
Balance balance_of(const Model& model, Integrator& integrator, State& state, double step, int samples) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::array<double, 3> start{};
  Balance result;
  for (int i = 0; i <= samples; ++i) {
    integrator.advance_to(state, i * step);
    const Snapshot s = integrator.synchronized(state, i * step);
    double kinetic = 0.0;
    std::array<double, 3> p{};
    for (std::size_t k = 0; k < s.state.velocity.size(); ++k) {
      kinetic += 0.5 * model.mass()[k / 3] * s.state.velocity[k] * s.state.velocity[k];
      p[k % 3] += model.mass()[k / 3] * s.state.velocity[k];
    }
    if (i == 0) start = p, result.kinetic = kinetic;
    for (std::size_t c = 0; c < 3; ++c) result.momentum = std::max(result.momentum, std::abs(p[c] - start[c]));
    low = std::min(low, kinetic + s.potential_energy);
    high = std::max(high, kinetic + s.potential_energy);
  }
  result.band = high - low;
  return result;
}

// With steps of another size.
template <class Particles>
Balance balance_with(double scale, Particles particles, double sample_step, int samples) {
  for (double& step : particles.steps) step *= scale;
  AviExplicit avi(*particles.model, particles.steps);
  return balance_of(*particles.model, avi, particles.state, sample_step, samples);
}

// The parts sum to the law, and their forces to its force: energy is that of one sum at the shortest step but for
// r-RESPA's own error, which is of second order.
TEST(LennardJonesByDistance, KeepsMomentumAndEnergy) {
  const Balance coarse = balance_with(1.0, Fluid(Kind::coming_and_going), longest, 250),
                fine = balance_with(0.5, Fluid(Kind::coming_and_going), longest, 250);
  EXPECT_LT(coarse.momentum, 5e-13);
  EXPECT_LT(coarse.band, 1.5e-4 * coarse.kinetic);
  EXPECT_NEAR(coarse.band / fine.band, 4.0, 0.8);
  // control: without the middle class the energy is another one
  Fluid fluid(Kind::coming_and_going);
  Model::Parts parts =
      particles(3, {fluid.model->reference().begin(), fluid.model->reference().end()}, std::vector<double>(count, 1.0));
  double V = 0.0, sum = 0.0;
  for (Index p = 0; p < 3; ++p) sum += fluid.model->potential(p).energy(0, fluid.state.displacement, 0.0);
  std::vector<NodeId> nodes;
  for (std::size_t a = 0; a < count; ++a) nodes.push_back(make_id<NodeId>(static_cast<Index>(a)));
  V = make_pair_sum(parts.reference, 3, parts.mass, nodes, LennardJones{1.0, 1.0, 2.6}, Box({L, L, L}))
          ->energy(0, fluid.state.displacement, 0.0);
  EXPECT_NEAR(sum, V, 1e-12 * std::abs(V));
  EXPECT_GT(std::abs(sum - fluid.model->potential(1).energy(0, fluid.state.displacement, 0.0) - V), 1e-3 * std::abs(V));
}

// Atoms in a cluster, bound by their embedding and held apart by a pair potential.
struct Cluster {
  explicit Cluster(bool everywhere) {
    const std::size_t atoms = 24;
    const auto X = random_cloud(3, atoms, 1.6, 0.9, 81);
    Model::Parts parts = particles(3, X, std::vector<double>(atoms, 1.0));
    std::vector<NodeId> nodes;
    for (std::size_t a = 0; a < atoms; ++a) nodes.push_back(make_id<NodeId>(static_cast<Index>(a)));
    parts.add(make_embedded_atoms(X, 3, nodes, Embedding{6.0, 1.9, 4.0}, {}, everywhere ? 50.0 : 0.25));
    parts.add(make_pair_sum(X, 3, parts.mass, nodes, LawPart(LennardJones{0.4, 0.9, {}}, {}, LawPart::Switch{1.2, 1.6}),
                            {}, everywhere ? 50.0 : 0.25));
    steps = {0.002, 0.001};
    model = std::make_unique<Model>(std::move(parts));
    state = reference_state(*model);
    Random random(82);
    for (double& v : state.velocity) v = random.uniform(-1.0, 1.0);
  }
  std::unique_ptr<Model> model;
  std::vector<double> steps;
  State state;
};

TEST(EmbeddedAtomsInAvi, HaveTheBitsOfAListOfEverybody) {
  constexpr double end = 1.2345;
  Cluster some(false), all(true);
  AviExplicit of_some(*some.model, some.steps), of_all(*all.model, all.steps);
  of_some.advance_to(some.state, end);
  of_all.advance_to(all.state, end);
  EXPECT_TRUE(same_motion(some.state, all.state));
  EXPECT_GT(measure(of_some, "terms_came"), 100.0);
  EXPECT_GT(largest_difference(some.state.displacement, reference_state(*some.model).displacement), 0.5);
}

TEST(EmbeddedAtomsInAvi, KeepMomentumAndEnergy) {
  const Balance coarse = balance_with(1.0, Cluster(false), 0.004, 500),
                fine = balance_with(0.5, Cluster(false), 0.004, 500);
  EXPECT_LT(coarse.momentum, 5e-13);
  EXPECT_LT(coarse.band, 1.5e-4 * coarse.kinetic);
  EXPECT_NEAR(coarse.band / fine.band, 4.0, 0.8);
}

}  // namespace
}  // namespace tempi::test
