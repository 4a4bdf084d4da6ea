// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_contact.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>

#include "support/lone_point.hpp"
#include "support/measure.hpp"
#include "support/touching.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using namespace test;

const Material rubber = NeoHookean{lame_from_young(1.0, 0.3)};

// Two cubes, the second above and turned a little by its jitter, thrown at each other askew.
Body two_cubes(const LayerOptions& options, int n = 2) {
  return touching_body(beside(tetrahedron_mesh(CellType::tetrahedron4, n, 0.1, 3),
                              tetrahedron_mesh(CellType::tetrahedron4, n, 0.1, 5), {0.2, 0.3, 1.25}),
                       rubber, options);
}
State thrown(const Body& body) {
  return approaching(body, body.model->node_count() / 2, {0.01, 0.0, 0.1}, {-0.02, 0.01, -0.15});
}
constexpr double gap = 0.04, end = 6.0;

TEST(LatticeContact, KeepsMomentaAndEnergy) {
  const Body body = two_cubes(layers_of(gap, 2e3));
  State state = thrown(body);
  const auto avi = avi_with(body);
  Balance balance;
  double potential = 0.0;
  for (int k = 0; k <= 60; ++k) {
    avi->advance_to(state, end * k / 60);
    const Sample now = sample(*body.model, avi->synchronized(state, end * k / 60));
    potential = std::max(potential, now.energy.potential);
    balance.add(now);
  }
  EXPECT_LT(balance.linear_momentum().error, 1e-14);
  EXPECT_LT(balance.angular_momentum().error, 1e-14);
  EXPECT_GT(potential, 0.3 * balance.energy().reference);  // they did meet
  EXPECT_GT(measure(*avi, "contact_strikes"), 1000.0);
  EXPECT_GT(measure(*avi, "smallest_distance"), 0.1 * gap);
}

// Of the second order in the elements' steps, though contact begins and ends: layers have no kink in their force.
TEST(LatticeContact, EnergyErrorFallsWithTheSteps) {
  const Body body = two_cubes(layers_of(gap, 2e3));
  const auto band = [&](double safety) {
    State state = thrown(body);
    const auto avi = avi_with(body, {}, safety);
    Balance balance;
    for (int k = 0; k <= 60; ++k) {
      avi->advance_to(state, end * k / 60);
      balance.add(sample(*body.model, avi->synchronized(state, end * k / 60)));
    }
    return balance.energy().band;
  };
  const double coarse = band(0.2), fine = band(0.05);
  EXPECT_LT(coarse, 3e-3);
  EXPECT_LT(fine, coarse / 8.0);
}

// A control: where layers are not struck they pass through each other.
TEST(LatticeContact, WithoutLayersTheyPass) {
  Body body = two_cubes(layers_of(gap, 2e3));
  const Body free = make_body(*body.mesh, rubber, 1.0);
  State state = thrown(body);
  avi_with(free)->advance_to(state, end);
  const Index half = body.model->node_count() / 2;
  double lowest = 1e9, highest = -1e9;
  for (Index a = 0; a < 2 * half; ++a) {
    const double z = body.mesh->point(make_id<NodeId>(a))[2] + state.displacement[static_cast<std::size_t>(3 * a + 2)];
    (a < half ? highest : lowest) = a < half ? std::max(highest, z) : std::min(lowest, z);
  }
  EXPECT_LT(lowest, highest - 0.3);
}

TEST(LatticeContact, NobodyPasses) {
  const Body body = two_cubes(layers_of(gap, 2e3));
  State state = thrown(body);
  const auto avi = avi_with(body);
  for (int k = 1; k <= 30; ++k) {
    avi->advance_to(state, end * k / 30);
    const Snapshot now = avi->synchronized(state, end * k / 30);
    const LayeredContact& contact = *body.model->layers()[0];
    std::vector<std::array<double, 3>> x;
    for (const auto& v : contact.surface().vertices()) {
      auto& p = x.emplace_back(v.place);
      for (std::size_t c = 0; c < 3; ++c) p[c] += now.state.displacement[3 * ordinal(v.node) + c];
    }
    EXPECT_EQ(too_close(contact, x, contact.law().inner), "") << k;
  }
}

TEST(LatticeContact, BitsDoNotDependOnWindowsNorThreads) {
  const Body body = two_cubes(layers_of(gap, 2e3));
  const auto run = [&](LatticeOptions options) {
    State state = thrown(body);
    avi_with(body, options)->advance_to(state, end);
    return state;
  };
  const State one = run({});
  for (const double window : {0.3, 1.0, 7.0, 64.0, 1000.0}) {
    LatticeOptions options;
    options.window = window;
    EXPECT_TRUE(same_bits(one, run(options))) << window;
  }
  for (const int threads : {2, 3, 8}) {
    LatticeOptions options;
    options.threads = threads;
    EXPECT_TRUE(same_bits(one, run(options))) << threads;
  }
}

// The lower cube's nodes all move as prescribed, and not straight: what is searched is what acts.
TEST(LatticeContact, BitsDoNotDependOnWindowsWherePrescribedMotionBends) {
  const Mesh mesh = beside(tetrahedron_mesh(CellType::tetrahedron4, 1, 0.1, 3),
                           tetrahedron_mesh(CellType::tetrahedron4, 1, 0.1, 5), {0.2, 0.3, 1.25});
  const auto with = [&](const LayerOptions& layers) {
    return make_body_with(Mesh(mesh), rubber, 1.0, [&](const Mesh& m, Model::Parts& parts) {
      std::vector<NodeId> lower;
      for (Index a = 0; a < m.node_count() / 2; ++a) lower.push_back(make_id<NodeId>(a));
      parts.supports = one_support(m, moving("lower", lower, {"0", "0", "0.05*(1-cos(2*t))"}, 3));
      parts.layers.push_back(contact_of(m, layers, parts.mass));
    });
  };
  LayerOptions all = layers_of(gap, 2e3);
  all.all_pairs = true;
  all.deepest = 3;
  const Body found = with(layers_of(gap, 2e3)), reference = with(all);
  const auto run = [&](double window, const Body& body) {
    LatticeOptions options;
    options.window = window;
    State state = approaching(body, body.model->node_count() / 2, {0, 0, 0}, {0, 0, -0.1});
    const auto avi = avi_with(body, options);
    avi->advance_to(state, end);
    EXPECT_GT(measure(*avi, "contact_strikes"), 100.0);
    return state;
  };
  const State one = run(0.0, found);
  for (const double window : {0.3, 1.0, 3.0, 50.0}) EXPECT_TRUE(same_bits(one, run(window, found))) << window;
  EXPECT_TRUE(same_bits(one, run(0.0, reference)));
}

TEST(LatticeContact, BitsDoNotDependOnHowPairsAreFound) {
  LayerOptions by_tree = layers_of(gap, 2e3), by_sweep = by_tree;
  by_sweep.by_sweep = true;
  const Body one = two_cubes(by_tree), other = two_cubes(by_sweep);
  State a = thrown(one), b = thrown(other);
  avi_with(one)->advance_to(a, end);
  avi_with(other)->advance_to(b, end);
  EXPECT_TRUE(same_bits(a, b));
}

TEST(LatticeContact, BitsAreThoseOfAllPairsThere) {
  const LayerOptions found = layers_of(gap, 2e3);
  LayerOptions all = found;
  all.all_pairs = true;
  all.deepest = 3;
  const Body one = two_cubes(found, 1), other = two_cubes(all, 1);
  State a = thrown(one), b = thrown(other);
  const auto avi = avi_with(one), reference = avi_with(other);
  avi->advance_to(a, end);
  reference->advance_to(b, end);
  EXPECT_TRUE(same_bits(a, b));
  EXPECT_LT(measure(*avi, "contact_layers"), all.deepest);
}

TEST(LatticeContact, GoesOnThroughACheckpointInMidContact) {
  const Body body = two_cubes(layers_of(gap, 2e3));
  State state = thrown(body);
  const auto avi = avi_with(body);
  avi->advance_to(state, end);
  State parts = thrown(body);
  const auto before = avi_with(body), after = avi_with(body);
  before->advance_to(parts, 0.123 * end);
  before->advance_to(parts, 0.411 * end);
  std::stringstream file;
  ArchiveWriter out(file);
  parts.save(out);
  before->save(out);
  State read = reference_state(*body.model);
  ArchiveReader in(file);
  read.load(in);
  after->load(in);
  EXPECT_GT(measure(*after, "contact_strikes"), 0.0);
  after->advance_to(read, end);
  EXPECT_TRUE(same_bits(state, read));
}

// A mass between two rigid spheres, thrown again and again: E is some barriers of the first layer.
struct Bounces {
  double worst = 0.0, first = 0.0,
         last = 0.0;  // relative change of energy by a bounce; means of the first and last tenth
};
Bounces bounce(double exponent, double alpha, double barriers, double crossing_speed, int count) {
  const double speed = 1.0, mass = 1.0;
  LayerOptions options;
  options.law = {0.1, 0.01, 1.0, exponent};
  options.law.stiffness = 0.5 * mass * speed * speed / barriers / options.law.barrier(0);
  options.alpha = alpha;
  options.pairs = 1.0;
  options.speed = crossing_speed;
  const Mesh mesh = mesh_of(2, {0.0, 0.0}, CellType::point1, {{0}});
  SurfaceBuilder builder(mesh);
  builder.add_sphere(make_id<NodeId>(0), 0.0, ContactSurface::both);
  builder.add_rigid_sphere({1.0, 0.0, 0.0}, 0.5, {});
  builder.add_rigid_sphere({-1.0, 0.0, 0.0}, 0.5, {});
  Model::Parts parts;
  parts.dim = 2;
  parts.reference = {0.0, 0.0};
  parts.mass = {mass};
  parts.potentials.push_back(make_uniform_field(parts.reference, 2, parts.mass, {make_id<NodeId>(0)}, {}));
  parts.layers.push_back(std::make_unique<LayeredContact>(std::move(builder).build(), options, parts.mass, "box"));
  const Model model(std::move(parts));
  LatticeOptions free;
  free.rechecked = 0.0;  // there is nothing but contact
  AviLattice avi(model, {0.1, {1}}, free);
  State state = reference_state(model);
  state.velocity[0] = speed;
  std::vector<double> energies;
  double before = 0.5 * mass * speed * speed;
  Bounces r;
  double sign = 1.0, t = 0.0;
  std::vector<double> changes;
  while (std::ssize(changes) < count) {
    t += 0.2;
    avi.advance_to(state, t);
    const double x = state.displacement[0] + state.velocity[0] * (t - state.clock[0]);
    if (std::abs(x) > 0.3 || state.velocity[0] * sign > 0.0) continue;
    const double now = 0.5 * mass * state.velocity[0] * state.velocity[0];
    changes.push_back(now - 0.5 * mass * speed * speed);
    r.worst = std::max(r.worst, std::abs(now - before) / (0.5 * mass * speed * speed));
    before = now;
    sign = -sign;
  }
  const auto tenth = changes.size() / 10;
  for (std::size_t i = 0; i < tenth; ++i) {
    r.first += std::abs(changes[i]);
    r.last += std::abs(changes[changes.size() - 1 - i]);
  }
  return r;
}

// Relative errors of a bounce and whether they grow. `deep`: 30 barriers, plainly and with steps that a crossing needs.
void expect_no_growth(int count) {
  for (const double barriers : {0.4, 3.6}) {
    const Bounces cubic = bounce(3.0, 0.05, barriers, 0.0, count);
    EXPECT_LT(cubic.worst, 3e-6) << barriers;
    EXPECT_LT(cubic.last, 1.5 * cubic.first) << barriers;
  }
  const Bounces deep = bounce(3.0, 0.05, 30.0, 0.0, count), ruled = bounce(3.0, 0.05, 30.0, 1.0, count / 10);
  EXPECT_LT(deep.worst, 3e-3);
  EXPECT_LT(ruled.worst, 3e-7);
  // A control: the quadratic layers of the literature.
  const Bounces square = bounce(2.0, 0.05, 3.6, 0.0, count);
  EXPECT_GT(square.worst, 100.0 * bounce(3.0, 0.05, 3.6, 0.0, count).worst);
}
TEST(LatticeContact, BouncesDoNotGrow) { expect_no_growth(300); }
TEST(LatticeContact, FullBouncesDoNotGrow) { expect_no_growth(10'000); }

// Thrown up it would be back where it was by the window's end, and touches the ceiling in between.
TEST(LatticeContact, SeesWhereAPathHasBeenInBetween) {
  LayerOptions options = layers_of(0.1, 1e3);
  options.pairs = 1.0;
  const auto thrown_up = [&](double window) {
    LonePoint point(
        options, {0.0, 1.0, 0.0},
        [](SurfaceBuilder& b) {
          b.add_rigid_box({-1, 0.5, -1}, {1, 2, 1}, {});
        },
        {0.0, -1.0, 0.0}, window);
    return point.at(1.98);
  };
  const State one = thrown_up(0.3);
  EXPECT_LT(one.displacement[1], -0.3);  // without a ceiling: 0.02
  for (const double window : {1.0, 40.0, 1000.0}) EXPECT_TRUE(same_bits(one, thrown_up(window))) << window;
}

// A path is kept by pieces of some ten steps here, which stray from what they stand for by up to 1e-5: what goes less
// far into the first layer between their ends touches it all the same.
TEST(LatticeContact, SeesWhatAPathBarelyTouches) {
  LayerOptions found = layers_of(0.1, 1e3);
  found.pairs = 1.0;
  LayerOptions all = found;
  all.all_pairs = true;
  all.deepest = 2;
  const double top = 0.35;  // of its middle, where the first layer begins
  int touching = 0;
  for (int k = 0; k < 60; ++k) {
    const auto thrown_up = [&](const LayerOptions& options, double window) {
      LonePoint point(
          options, {0.0, std::sqrt(2.0 * (top + 5e-7 * k)), 0.0},
          [](SurfaceBuilder& b) {
            b.add_rigid_box({-1, 0.5, -1}, {1, 2, 1}, {});
          },
          {0.0, -1.0, 0.0}, window, 0.001);
      const State end_state = point.at(1.2);
      touching += measure(*point.avi, "contact_strikes") > 0.0 ? 1 : 0;
      return end_state;
    };
    const State reference = thrown_up(all, 0.0);
    for (const double window : {33.0, 2000.0}) EXPECT_TRUE(same_bits(reference, thrown_up(found, window))) << k;
  }
  EXPECT_GT(touching, 150);  // of 180
}

// On a diameter the wall of a hollow sphere, or tube, is a plane.
TEST(LatticeContact, InsideOfRoundThingsIsAPlaneOnADiameter) {
  LayerOptions options = layers_of(0.1, 1e3);
  options.pairs = 1.0;
  const std::array<double, 3> v = {0.8, 0.6, 0.0};
  LonePoint sphere(options, v, [](SurfaceBuilder& b) { b.add_hollow_sphere({0, 0, 0}, 1.0, {}); });
  LonePoint tube(options, v, [](SurfaceBuilder& b) { b.add_hollow_rod({0, 0, -100}, {0, 0, 100}, 1.0, {}); });
  LonePoint plane(options, v, [](SurfaceBuilder& b) {  // at a distance of 1 from the origin
    b.add_rigid_face(std::array<std::array<double, 3>, 3>{{{0.8 - 60.0, 0.6 + 80.0, -100.0},
                                                           {0.8 - 60.0, 0.6 + 80.0, 100.0},
                                                           {0.8 + 120.0, 0.6 - 160.0, 0.0}}},
                     {});
  });
  for (double t = 0.0; t < 2.0; t += 0.1) {
    const State &a = sphere.at(t), &b = tube.at(t), &c = plane.at(t);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(a.velocity[i], c.velocity[i], 1e-9) << t;
      EXPECT_NEAR(b.velocity[i], c.velocity[i], 1e-9) << t;
      EXPECT_NEAR(a.displacement[i], c.displacement[i], 1e-9) << t;
      EXPECT_NEAR(b.displacement[i], c.displacement[i], 1e-9) << t;
    }
  }
  EXPECT_LT(sphere.state.velocity[0], -0.79);  // it was thrown back
}

// Thrown askew in something round: the moment about the centre, or axis, stays; what a tube does not stop goes on.
TEST(LatticeContact, KeepsTheMomentWithinRoundThings) {
  LayerOptions options = layers_of(0.1, 1e3);
  options.pairs = 1.0;
  const std::array<double, 3> v = {0.9, 0.3, 0.2};
  LonePoint sphere(options, v, [](SurfaceBuilder& b) { b.add_hollow_sphere({0, 0.5, 0}, 1.0, {}); });
  LonePoint tube(options, v, [](SurfaceBuilder& b) { b.add_hollow_rod({0, 0.5, -100}, {0, 0.5, 100}, 1.0, {}); });
  for (LonePoint* body : {&sphere, &tube}) {
    const State& s = body->at(60.0);
    EXPECT_GT(measure(*body->avi, "contact_strikes"), 1000.0);
    const double x = s.displacement[0], y = s.displacement[1] - 0.5;
    EXPECT_NEAR(x * s.velocity[1] - y * s.velocity[0], 0.5 * 0.9, 1e-11);
    EXPECT_LT(std::hypot(x, y), 0.95);
  }
  EXPECT_NEAR(tube.state.velocity[2], 0.2, 1e-13);
  EXPECT_NEAR(tube.state.displacement[2], 0.2 * tube.state.clock[0], 1e-11);
}

// A body tumbling in a hollow sphere that moves, with the same bits however it is looked for.
TEST(LatticeContact, TumblesWithinASphereThatMoves) {
  const Mesh cube = tetrahedron_mesh(CellType::tetrahedron4, 1, 0.1, 3);
  const auto run = [&](LatticeOptions lattice, bool all_pairs) {
    LayerOptions options = layers_of(gap, 2e3);
    options.all_pairs = all_pairs;
    options.deepest = 6;
    const Body body = make_body_with(Mesh(cube), rubber, 1.0, [&](const Mesh& m, Model::Parts& parts) {
      SurfaceBuilder builder(m);
      builder.add_facets(m, boundary_facets(m), ContactSurface::both);
      builder.add_hollow_sphere({0.6, 0.5, 0.5}, 1.3, {0.05, 0.0, 0.0});
      parts.layers.push_back(std::make_unique<LayeredContact>(std::move(builder).build(), options, parts.mass, "ball"));
    });
    State state = approaching(body, body.model->node_count(), {0.3, 0.1, -0.2}, {});
    const auto avi = avi_with(body, lattice);
    avi->advance_to(state, end);
    EXPECT_GT(measure(*avi, "contact_strikes"), 1000.0);
    expect_within(body, state, end, {0.6 + 0.05 * end, 0.5, 0.5}, 1.3);
    return state;
  };
  expect_no_trace_of_the_search(run);
}

TEST(LatticeContact, OtherMethodsRefuseIt) {
  const Body body = two_cubes(layers_of(gap, 2e3), 1);
  EXPECT_THROW(AviExplicit(*body.model, own_steps(*body.model, 0.5)), InputError);
  EXPECT_THROW(SyncNewmark(*body.model, 1e-3), InputError);
}

// Beyond what 2^-20 of a tick resolves nothing stops it: that is said, and whom it was.
TEST(LatticeContact, SaysWhomNothingStops) {
  const Body body = two_cubes(layers_of(0.002, 1e-9), 1);
  State state = approaching(body, body.model->node_count() / 2, {0, 0, 10.0}, {0, 0, -10.0});
  const auto avi = avi_with(body);
  try {
    avi->advance_to(state, end);
    FAIL();
  } catch (const SolveError& e) {
    EXPECT_NE(std::string(e.what()).find("layers of contact could stop"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("node"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tempi
