// SPDX-License-Identifier: Apache-2.0
// Friction and restitution of layers of contact, and the books of what they take.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "support/measure.hpp"
#include "support/touching.hpp"
#include "tempi/integrator/lattice/lattice_contact.hpp"
#include "tempi/potential/uniform_field.hpp"

namespace tempi {
namespace {

using namespace test;

// A point against a large rigid box below it, once; with gravity-free flight before and after.
struct Rebound {
  double normal, tangential, taken;  // velocities afterwards [m/s], work of dissipation [J]
};
Rebound rebound(double friction, double restitution, double sideways) {
  LayerOptions options = layers_of(0.1, 1e3);
  options.friction = friction;
  options.restitution = restitution;
  options.pairs = 1.0;
  const Mesh mesh = mesh_of(2, {0.0, 0.3}, CellType::point1, {{0}});
  SurfaceBuilder builder(mesh);
  builder.add_sphere(make_id<NodeId>(0), 0.05, ContactSurface::both);
  builder.add_rigid_box({-10.0, -1.0, 0.0}, {10.0, 0.0, 0.0}, {});
  Model::Parts parts;
  parts.dim = 2;
  parts.reference = {0.0, 0.3};
  parts.mass = {2.0};
  parts.potentials.push_back(make_uniform_field(parts.reference, 2, parts.mass, {make_id<NodeId>(0)}, {}));
  parts.layers.push_back(std::make_unique<LayeredContact>(std::move(builder).build(), options, parts.mass, "floor"));
  const Model model(std::move(parts));
  LatticeOptions free;
  free.rechecked = 0.0;
  AviLattice avi(model, {0.05, {1}}, free);
  State state = reference_state(model);
  state.velocity = {sideways, -1.0};
  avi.advance_to(state, 1.5);
  const Sample now = sample(model, avi.synchronized(state, 1.5));
  // Restitution changes the force where they turn round, at a strike: that is not of the action.
  EXPECT_NEAR(now.energy.kinetic - now.damping_work, 1.0 + sideways * sideways, restitution < 1.0 ? 2e-3 : 1e-5);
  EXPECT_NEAR(now.momentum.linear[1] + 2.0, now.booked_impulse[1], 1e-12);  // what the box gave
  return {state.velocity[1], state.velocity[0], -now.damping_work};
}

TEST(ContactDissipation, GivesBackTheEnergyAskedFor) {
  EXPECT_NEAR(rebound(0.0, 1.0, 0.0).normal, 1.0, 1e-5);
  EXPECT_EQ(rebound(0.0, 1.0, 0.0).taken, 0.0);
  for (const double e : {0.25, 0.64}) EXPECT_NEAR(rebound(0.0, e, 0.0).normal, std::sqrt(e), 2e-3) << e;
}

TEST(ContactDissipation, RubsByCoulombsLaw) {
  const Rebound slides = rebound(0.2, 1.0, 1.0);
  EXPECT_NEAR(slides.normal, 1.0, 1e-5);
  EXPECT_NEAR(slides.tangential, 1.0 - 0.2 * 2.0, 1e-4);
  const Rebound sticks = rebound(0.2, 1.0, 0.1);  // never backwards
  EXPECT_NEAR(sticks.tangential, 0.0, 1e-12);
  EXPECT_NEAR(sticks.taken, 0.5 * 2.0 * 0.01, 1e-9);
}

// A sphere on a floor, pulled along by a field that kicks it every `kick` seconds, while layers act far more often.
struct Pulled {
  double slip = 0.0, taken = 0.0, unaccounted = 0.0;  // [m, J, J]
};
Pulled pulled(double friction, double restitution, double along, double kick, double duration) {
  constexpr double weight = 10.0;
  LayerOptions options = layers_of(0.1, 1e6);
  options.friction = friction;
  options.restitution = restitution;
  options.pairs = 1.0;
  const double depth = std::sqrt(weight / options.law.stiffness);  // at which the first layer bears it
  const Mesh mesh = mesh_of(2, {0.0, 0.15 - depth}, CellType::point1, {{0}});
  SurfaceBuilder builder(mesh);
  builder.add_sphere(make_id<NodeId>(0), 0.05, ContactSurface::both);
  builder.add_rigid_box({-10.0, -1.0, 0.0}, {10.0, 0.0, 0.0}, {});
  Model::Parts parts;
  parts.dim = 2;
  parts.reference = {0.0, 0.15 - depth};
  parts.mass = {1.0};
  parts.potentials.push_back(
      make_uniform_field(parts.reference, 2, parts.mass, {make_id<NodeId>(0)}, {along, -weight, 0.0}));
  parts.layers.push_back(std::make_unique<LayeredContact>(std::move(builder).build(), options, parts.mass, "floor"));
  const Model model(std::move(parts));
  LatticeOptions lattice;
  lattice.rechecked = 0.0;
  AviLattice avi(model, {kick, {1}}, lattice);
  State state = reference_state(model);
  const auto balance = [&](double t) {
    avi.advance_to(state, t);
    const Sample now = sample(model, avi.synchronized(state, t));
    return std::pair(now.energy.kinetic + now.energy.potential - now.damping_work, -now.damping_work);
  };
  const double first = balance(0.0).first;
  Pulled r;
  for (int k = 1; k <= 37; ++k) {
    const auto [now, taken] = balance(duration * k / 37.0);
    r.unaccounted = std::max(r.unaccounted, std::abs(now - first));
    r.taken = taken;
  }
  r.slip = state.displacement[0];
  return r;
}

// Below Coulomb's limit it stays where it is and nothing is taken, though every kick sets it going. Judged by
// velocities as they are between kicks, each kick T h would slip by (T h)^2 / (2 m mu N) and lose (T h)^2 / (2 m). What
// remains is of the layers' steps, kick / 16 here: friction stops what the pull has done since the strike before.
TEST(ContactDissipation, SticksUnderForcesThatComeInKicks) {
  constexpr double along = 2.5, kick = 2e-3, duration = 2.0, limit = 5.0;
  const Pulled stuck = pulled(0.5, 1.0, along, kick, duration);
  const double kicks = duration / kick, of_kick = 0.5 * along * kick * along * kick;
  EXPECT_LT(std::abs(stuck.slip), 0.15 * kicks * of_kick / limit);
  EXPECT_LT(std::abs(stuck.taken), 0.1 * kicks * of_kick);
  EXPECT_LT(stuck.unaccounted, 0.1 * kicks * of_kick);
}

// Above it: s = (T - mu N) t^2 / (2 m), of which mu N s is taken.
TEST(ContactDissipation, SlidesAndBooksWhatItTakes) {
  const Pulled slides = pulled(0.2, 1.0, 2.5, 2e-3, 2.0);
  EXPECT_NEAR(slides.slip, 0.5 * 0.5 * 4.0, 2e-3);
  EXPECT_NEAR(slides.taken, 2.0 * slides.slip, 4e-3);
  EXPECT_LT(slides.unaccounted, 1e-3);
}

// At rest nobody parts, whatever kicks and layers do to each other in between.
TEST(ContactDissipation, RestitutionTakesNothingFromWhatRests) {
  constexpr double weight = 10.0, kick = 2e-3, duration = 2.0;
  const double of_kick = 0.5 * weight * kick * weight * kick;
  const Pulled rests = pulled(0.0, 0.25, 0.0, kick, duration);
  EXPECT_LT(rests.taken, 0.02 * duration / kick * of_kick);
  EXPECT_LT(rests.unaccounted, 0.02 * duration / kick * of_kick);
}

// Two cubes thrown askew, the second above; with many pairs at a vertex.
struct Thrown {
  Body body;
  explicit Thrown(LayerOptions options, int n = 2)
      : body(touching_body(beside(tetrahedron_mesh(CellType::tetrahedron4, n, 0.1, 3),
                                  tetrahedron_mesh(CellType::tetrahedron4, n, 0.1, 5), {0.2, 0.3, 1.25}),
                           NeoHookean{lame_from_young(1.0, 0.3)}, options)) {}
  State state() const {
    return approaching(body, body.model->node_count() / 2, {0.02, 0.0, 0.1}, {-0.05, 0.01, -0.15});
  }
};
constexpr double end = 6.0;

LayerOptions lossy() {
  LayerOptions options = layers_of(0.04, 2e3);
  options.friction = 0.4;
  options.restitution = 0.5;
  return options;
}

TEST(ContactDissipation, KeepsMomentaAndItsBooks) {
  const Thrown cubes(lossy());
  State state = cubes.state();
  const auto avi = avi_with(cubes.body, {}, 0.1);
  Balance balance;
  double before = 0.0, largest_gain = 0.0;
  for (int k = 0; k <= 60; ++k) {
    avi->advance_to(state, end * k / 60);
    const Sample now = sample(*cubes.body.model, avi->synchronized(state, end * k / 60));
    balance.add(now);
    largest_gain = std::max(largest_gain, now.damping_work - before);
    before = now.damping_work;
  }
  EXPECT_LT(balance.linear_momentum().error, 1e-14);
  EXPECT_LT(balance.angular_momentum().error, 1e-14);
  EXPECT_LT(before, -0.02 * balance.energy().reference);  // it took something
  EXPECT_LT(balance.energy().band, 2e-3);
  EXPECT_LT(largest_gain, 1e-3 * -before);
  EXPECT_LT(measure(*avi, "friction_work"), 0.0);
  EXPECT_LT(measure(*avi, "restitution_work"), 0.0);
}

TEST(ContactDissipation, BitsDoNotDependOnWindowsThreadsNorOnWhoIsThere) {
  const auto run = [](const LayerOptions& layers, int n, LatticeOptions options) {
    const Thrown cubes(layers, n);
    State state = cubes.state();
    const auto avi = avi_with(cubes.body, options);
    avi->advance_to(state, end);
    EXPECT_LT(measure(*avi, "friction_work"), 0.0);
    std::ostringstream bits;
    ArchiveWriter archive(bits);
    state.save(archive);
    return bits.str();
  };
  const std::string one = run(lossy(), 2, {});
  for (const double window : {0.3, 7.0, 1000.0}) {
    LatticeOptions options;
    options.window = window;
    EXPECT_EQ(one, run(lossy(), 2, options)) << window;
  }
  for (const int threads : {2, 3, 8}) {
    LatticeOptions options;
    options.threads = threads;
    EXPECT_EQ(one, run(lossy(), 2, options)) << threads;
  }
  LayerOptions all = lossy(), swept = lossy();
  all.all_pairs = true;
  all.deepest = 3;
  swept.by_sweep = true;
  EXPECT_EQ(run(lossy(), 1, {}), run(all, 1, {}));
  EXPECT_EQ(one, run(swept, 2, {}));
}

TEST(ContactDissipation, GoesOnThroughACheckpointInMidContact) {
  const Thrown cubes(lossy());
  State state = cubes.state(), parts = cubes.state();
  avi_with(cubes.body)->advance_to(state, end);
  const auto before = avi_with(cubes.body), after = avi_with(cubes.body);
  before->advance_to(parts, 0.411 * end);
  EXPECT_LT(measure(*before, "friction_work"), 0.0);
  std::stringstream file;
  ArchiveWriter out(file);
  parts.save(out);
  before->save(out);
  State read = reference_state(*cubes.body.model);
  ArchiveReader in(file);
  read.load(in);
  after->load(in);
  after->advance_to(read, end);
  EXPECT_EQ(state.displacement, read.displacement);
  EXPECT_EQ(state.velocity, read.velocity);
}

// Thousands of pairs, which threads share: each sums up what its vertices are given in the order of their pairs.
TEST(ContactDissipation, SharedPairsHaveTheSameBits) {
  LayerOptions options = layers_of(0.04, 2e3);
  options.friction = 0.3;
  options.restitution = 0.6;
  const auto run = [&](int threads, bool all_pairs) {
    options.all_pairs = all_pairs;
    options.deepest = 2;
    const Body body = touching_body(beside(tetrahedron_mesh(CellType::tetrahedron4, 2, 0.1, 3),
                                           tetrahedron_mesh(CellType::tetrahedron4, 2, 0.1, 5), {0.2, 0.3, 1.06}),
                                    NeoHookean{lame_from_young(1.0, 0.3)}, options);
    State state = approaching(body, body.model->node_count() / 2, {0.01, 0.0, 0.1}, {-0.02, 0.01, -0.15});
    LatticeOptions lattice;
    lattice.threads = threads;
    const auto avi = avi_with(body, lattice);
    avi->advance_to(state, 0.4);
    EXPECT_LT(measure(*avi, "friction_work"), 0.0);
    EXPECT_LT(measure(*avi, "restitution_work"), 0.0);
    return state;
  };
  const State one = run(1, true);
  for (const int threads : {2, 3, 8}) EXPECT_TRUE(same_bits(one, run(threads, true))) << threads;
  EXPECT_TRUE(same_bits(one, run(2, false)));
}

}  // namespace
}  // namespace tempi
