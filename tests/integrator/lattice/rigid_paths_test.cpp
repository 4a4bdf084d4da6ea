// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/rigid_paths.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/lone_point.hpp"
#include "support/measure.hpp"
#include "support/touching.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using namespace test;

RigidMotion moving(const std::string& x, const std::string& y, const std::string& z,
                   const std::array<double, 3>& velocity = {}) {
  std::vector<Expression> u;
  for (const std::string& text : {x, y, z}) u.emplace_back(text, Constants{});
  return {velocity, std::make_shared<VectorExpression>(std::move(u))};
}

ContactSurface sphere_that(const RigidMotion& motion) {
  const Mesh mesh = mesh_of(3, {0.0, 0.0, 0.0}, CellType::point1, {{0}});
  SurfaceBuilder builder(mesh);
  builder.add_sphere(make_id<NodeId>(0), 0.05, ContactSurface::both);
  builder.add_rigid_sphere({1.0, 2.0, 3.0}, 0.5, motion);
  ContactSurface surface = std::move(builder).build();
  surface.finish();
  return surface;
}

// At whole ticks where the formula has it, between them straight; its line, its path and its place are the same.
TEST(RigidPaths, GoStraightFromTickToTick) {
  const ContactSurface surface = sphere_that(moving("sin(t)", "t^2", "0", {0.0, 0.0, 0.3}));
  const double tick = 0.1;
  RigidPaths rigid(surface, tick);
  rigid.begin(2.5, 7.25);
  const Path path = rigid.path(1);
  ASSERT_EQ(path.size(), 7u);  // 2.5, 3 to 7, 7.25
  const auto formula = [&](double t) { return std::array{1.0 + std::sin(t), 2.0 + t * t, 3.0 + 0.3 * t}; };
  for (double now : {0.0, 1.75, 2.5, 3.0, 3.5, 6.0, 7.0, 7.125, 7.25, 30.5}) {
    const auto before = formula(std::floor(now) * tick), after = formula(std::floor(now + 1.0) * tick);
    rigid.set_lines(now);
    for (std::size_t c = 0; c < 3; ++c) {
      const double s = now - std::floor(now), straight = before[c] + s * (after[c] - before[c]);
      EXPECT_NEAR(rigid.place(1, now)[c], straight, 1e-14);
      const NodeLine& line = *rigid.line(1);
      EXPECT_NEAR(surface.vertices()[1].place[c] + line.displacement[c] + line.velocity[c] * (now - line.clock) * tick,
                  straight, 1e-14);
      if (now >= 2.5 && now <= 7.25) {
        EXPECT_NEAR(place_at(path, now)[c], straight, 1e-14);
      }
    }
  }
  EXPECT_NEAR(rigid.velocity(1, 6.0)[1], 2.0 * 0.6, 1e-13);  // where it bends that of the parabola
  EXPECT_NEAR(rigid.velocity(1, 6.5)[1], 2.0 * 0.65, 1e-13);
  EXPECT_NEAR(rigid.velocity(1, 0.0)[1], 0.1, 1e-13);  // there is nothing before
}

// Whoever counts on its speed is told when it goes faster.
TEST(RigidPaths, TellsWhenItGoesFaster) {
  const ContactSurface surface = sphere_that(moving("t < 20 ? t : 20 + 5*(t - 20)", "0", "0"));
  RigidPaths rigid(surface, 0.1);
  for (double from = 0.0; from < 400.0; from += 4.0) {
    const bool told = rigid.begin(from, from + 4.0);
    EXPECT_EQ(told, from == 0.0 || from == 196.0) << from;  // it was at rest, or slower
    EXPECT_GE(rigid.speed(1), rigid.velocity(1, from + 3.5)[0]);
  }
}

TEST(RigidPaths, FormulaWithoutAValueIsTold) {
  const ContactSurface surface = sphere_that(moving("sqrt(0.25 - t)", "0", "0"));
  RigidPaths rigid(surface, 0.1);
  EXPECT_NO_THROW(rigid.begin(0.0, 1.0));
  EXPECT_THROW(rigid.begin(1.0, 3.0), SolveError);
}

LayerOptions stiff_layers() {
  LayerOptions options = layers_of(0.1, 1e3);
  options.pairs = 1.0;
  return options;
}

// A floor that is pushed up at a constant acceleration, straight from tick to tick, is a floor at rest seen by a body
// that is kicked at every tick: to rounding.
TEST(RigidPaths, FloorPushedUpIsGravity) {
  const double g = 1.0, tick = 0.02;
  LonePoint falls(
      stiff_layers(), {0.3, 0.5, 0.0},
      [](SurfaceBuilder& b) {
        b.add_rigid_box({-9, -2, -9}, {9, -0.5, 9}, {});
      },
      {0.0, -g, 0.0}, 0.0, tick);
  LonePoint rests(
      stiff_layers(), {0.3, 0.5, 0.0},
      [](SurfaceBuilder& b) {
        b.add_rigid_box({-9, -2, -9}, {9, -0.5, 9}, moving("0", "0.5*t^2", "0"));
      },
      {}, 0.0, tick);
  for (int k = 1; k <= 20; ++k) {
    const double t = 0.2 * k;
    const State &a = falls.at(t), &b = rests.at(t);
    const double own = a.displacement[1] + a.velocity[1] * (t - a.clock[0]),
                 seen = b.displacement[1] + b.velocity[1] * (t - b.clock[0]) - 0.5 * g * t * t;
    EXPECT_NEAR(own, seen, 1e-12) << t;
    EXPECT_NEAR(b.velocity[0], 0.3, 1e-12);
  }
  EXPECT_GT(measure(*rests.avi, "contact_strikes"), 100.0);
  EXPECT_GT(rests.state.velocity[1], 3.0);  // the floor took it along
}

// A formula that is a constant velocity, and that velocity.
TEST(RigidPaths, FormulaOfAVelocityIsThatVelocity) {
  LonePoint formula(stiff_layers(), {0.5, 0.2, 0.1}, [](SurfaceBuilder& b) {
    b.add_hollow_sphere({0.1, 0.0, 0.0}, 1.0, moving("0.125*t", "0", "-0.25*t"));
  });
  LonePoint velocity(stiff_layers(), {0.5, 0.2, 0.1}, [](SurfaceBuilder& b) {
    b.add_hollow_sphere({0.1, 0.0, 0.0}, 1.0, {{0.125, 0.0, -0.25}});
  });
  for (double t = 0.5; t < 12.0; t += 0.5) {
    const State &a = formula.at(t), &b = velocity.at(t);
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(a.displacement[c], b.displacement[c], 1e-10) << t;
      EXPECT_NEAR(a.velocity[c], b.velocity[c], 1e-10) << t;
    }
    EXPECT_NEAR(a.constraints.work.value(), b.constraints.work.value(), 1e-10) << t;
  }
  EXPECT_GT(measure(*formula.avi, "contact_strikes"), 500.0);
}

// What a wall that is shaken gives is what a body has got: momentum to rounding, energy as layers give it back.
TEST(RigidPaths, BooksWhatItGives) {
  LayerOptions options = stiff_layers();
  options.speed = 4.0;
  const std::array<double, 3> thrown = {0.4, -0.7, 0.2};
  for (const double tick : {0.02, 0.005, 0.0025}) {
    LonePoint point(
        options, thrown,
        [](SurfaceBuilder& b) {
          b.add_hollow_sphere({0.0, 0.0, 0.0}, 1.0, moving("0.2*sin(3*t)", "0.1*(1-cos(2*t))", "0"));
        },
        {}, 0.0, tick);
    const State& s = point.at(20.0);
    double energy = sample(*point.model, point.avi->synchronized(s, 20.0)).energy.potential;
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(s.constraints.impulse[c].value(), 2.0 * (s.velocity[c] - thrown[c]), 1e-12);  // its mass is 2
      energy += s.velocity[c] * s.velocity[c] - thrown[c] * thrown[c];
    }
    const double work = s.constraints.work.value();
    EXPECT_GT(work, 1.0);
    EXPECT_NEAR(energy, work, 5e-6 * work) << tick;
  }
}

// The same bits however it is looked for, and nothing gets out: a cube in a sphere that is shaken.
TEST(RigidPaths, ShakenWallsLeaveNoTraceOfTheSearch) {
  const Mesh cube = tetrahedron_mesh(CellType::tetrahedron4, 1, 0.1, 3);
  const double end = 6.0;
  const auto run = [&](LatticeOptions lattice, bool all_pairs) {
    LayerOptions options = layers_of(0.04, 2e3);
    options.all_pairs = all_pairs;
    options.deepest = 6;
    options.friction = 0.2;
    const Body body =
        make_body_with(Mesh(cube), NeoHookean{lame_from_young(1.0, 0.3)}, 1.0, [&](const Mesh& m, Model::Parts& parts) {
          SurfaceBuilder builder(m);
          builder.add_facets(m, boundary_facets(m), ContactSurface::both);
          builder.add_hollow_sphere({0.6, 0.5, 0.5}, 1.3, moving("0.2*sin(2*t)", "0.1*sin(5*t)", "0.05*t"));
          parts.layers.push_back(
              std::make_unique<LayeredContact>(std::move(builder).build(), options, parts.mass, "ball"));
        });
    State state = approaching(body, body.model->node_count(), {0.3, 0.1, -0.2}, {});
    const auto avi = avi_with(body, lattice);
    avi->advance_to(state, end);
    EXPECT_GT(measure(*avi, "contact_strikes"), 1000.0);
    expect_within(body, state, end, {0.6 + 0.2 * std::sin(2 * end), 0.5 + 0.1 * std::sin(5 * end), 0.5 + 0.05 * end},
                  1.3);
    return state;
  };
  expect_no_trace_of_the_search(run);
}

}  // namespace
}  // namespace tempi
