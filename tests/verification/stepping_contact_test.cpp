// SPDX-License-Identifier: Apache-2.0
// Energy-stepping of bodies that touch: walls that nobody passes, against motions known in closed form; contact of
// faces, by what it keeps. Gonzalez (2011), section 2.5.2 and chapter 4.
#include <gtest/gtest.h>

#include <filesystem>
#include <numbers>

#include "support/measure.hpp"
#include "support/meshes.hpp"
#include "support/runs.hpp"
#include "support/stepping_methods.hpp"
#include "tempi/contact/face_contact.hpp"
#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"
#include "tempi/potential/uniform_field.hpp"

namespace tempi::test {
namespace {

using enum Wall::Shape;

// A free particle: a field without strength, for a term.
Body particle(int dim, std::vector<double> place) {
  Model::Parts parts = particles(dim, std::move(place), {2.0});
  parts.add(make_uniform_field(parts.reference, dim, parts.mass, {NodeId{0}}, {}));
  Body body;
  body.model = std::make_unique<Model>(std::move(parts));
  return body;
}

std::unique_ptr<SteppingEnergy> make(const Model& model, std::vector<HardWall> walls, double h = 1e-3) {
  return std::make_unique<SteppingEnergy>(model, one_subdomain(model, h), uniform_steps(model, 1.0), std::move(walls));
}

// ---- walls ----

TEST(HardWall, bounces_a_particle_to_and_fro) {
  const Body body = particle(2, {0.3, 0.0});
  const std::vector<NodeId> all = {NodeId{0}};
  const auto method = make(*body.model, {{checked({plane, {0, 0, 0}, {3, 0, 0}, {}, 0.0, false}, 2), all},
                                         {checked({plane, {1, 5, 0}, {-1, 0, 0}, {}, 0.0, false}, 2), all}});
  State state = reference_state(*body.model);
  state.velocity = {0.7, 0.25};
  double worst = 0.0;
  for (int i = 1; i <= 3000; ++i) {
    const double t = 0.5 * i;
    method->advance_to(state, t);
    const Snapshot at = method->synchronized(state, t);
    const double phase = std::fmod(0.3 + 0.7 * t, 2.0);
    worst = std::max(worst, std::abs(0.3 + at.state.displacement[0] - (phase < 1.0 ? phase : 2.0 - phase)));
    EXPECT_EQ(std::abs(at.state.velocity[0]), 0.7);
    EXPECT_NEAR(at.state.displacement[1], 0.25 * t, 1e-11);
  }
  EXPECT_LT(worst, 1e-10);
  EXPECT_EQ(measure(*method, "wall_hits"), std::floor(0.3 + 0.7 * 1500.0));
  EXPECT_EQ(method->level_error(), 0.0);
}

// A billiard in a circle: every chord has the length 2 R cos(angle), and the angular momentum about the centre stays.
TEST(HardWall, keeps_the_chords_of_a_round_billiard) {
  const Body body = particle(2, {1.2, 0.1});
  const double R = 1.5;
  const auto method =
      make(*body.model, {{checked({sphere, {0.2, 0.1, 0}, {}, {}, R, true}, 2), std::vector{NodeId{0}}}});
  State state = reference_state(*body.model);
  state.velocity = {0.3, 0.6};
  const auto moment = [&](const State& s) {
    return (1.0 + s.displacement[0]) * s.velocity[1] - s.displacement[1] * s.velocity[0];
  };
  const double L = moment(state), speed = std::hypot(0.3, 0.6), chord = 2.0 * std::sqrt(R * R - std::pow(L / speed, 2));
  const double end = 1000.5 * chord / speed;
  method->advance_to(state, end);
  const Snapshot at = method->synchronized(state, end);
  EXPECT_NEAR(moment(at.state), L, 1e-11);
  EXPECT_NEAR(std::hypot(at.state.velocity[0], at.state.velocity[1]), speed, 1e-12);
  EXPECT_GE(measure(*method, "wall_hits"), 1000.0);
  EXPECT_LE(measure(*method, "wall_hits"), 1001.0);
}

TEST(HardWall, throws_an_elastic_body_back_and_is_reversible) {
  for (const int dim : {2, 3}) {
    SCOPED_TRACE(dim);
    Mesh mesh = dim == 2 ? triangle_mesh(CellType::triangle3, 3, 0.15, 12)
                         : tetrahedron_mesh(CellType::tetrahedron4, 2, 0.1, 4);
    const Body body = make_body(centred(mesh), NeoHookean{{1.3, 0.7}}, 1.2);
    const Model& model = *body.model;
    const auto d = static_cast<std::size_t>(dim);
    std::vector<NodeId> all;
    for (Index a = 0; a < model.node_count(); ++a) all.push_back(make_id<NodeId>(a));
    const HardWall wall = {checked({plane, {0.0, -0.7, 0.0}, {0.2, 1, 0}, {}, 0.0, false}, dim), all};
    State state = moving_state(body, 0.0, 0.0, 5);
    for (std::size_t i = 1; i < state.velocity.size(); i += d) state.velocity[i] -= 0.4;
    const State start = state;
    const Momenta before = momenta(model, state);
    const auto method = make(model, {wall}, 1e-3);
    for (int i = 1; i <= 100; ++i) {
      method->advance_to(state, 0.03 * i);
      const Snapshot at = method->synchronized(state, 0.03 * i);
      double stepped = kinetic(model, at.state) + static_cast<double>(method->level(0)) * 1e-3;
      EXPECT_NEAR(stepped, method->stepped_energy(), 1e-12 * method->stepped_energy());
      for (Index a = 0; a < model.node_count(); ++a) {
        std::array<double, 3> x{};
        for (std::size_t c = 0; c < d; ++c)
          x[c] = model.reference()[static_cast<std::size_t>(a) * d + c] +
                 at.state.displacement[static_cast<std::size_t>(a) * d + c];
        EXPECT_GT(gap(wall.wall, x).distance, -1e-13);
      }
    }
    // The wall has pushed along its normal only.
    const Momenta after = momenta(model, method->synchronized(state, 3.0).state);
    const double along = after.linear[0] - before.linear[0], across = after.linear[1] - before.linear[1];
    EXPECT_GT(across, 0.5 * before.linear_scale);
    EXPECT_NEAR(along, 0.2 * across, 1e-12 * across);
    EXPECT_GT(measure(*method, "wall_hits"), 10.0);

    State back = method->synchronized(state, 3.0).state;
    for (double& v : back.velocity) v = -v;
    std::ranges::fill(back.clock, 0.0);
    const auto again = make(model, {wall}, 1e-3);
    again->advance_to(back, 3.0);
    const State there = again->synchronized(back, 3.0).state;
    for (std::size_t i = 0; i < there.velocity.size(); ++i) {
      EXPECT_NEAR(there.displacement[i], start.displacement[i], 1e-6);
      EXPECT_NEAR(there.velocity[i], -start.velocity[i], 1e-6);
    }
  }
}

TEST(HardWall, refuses_a_start_beyond_it_and_a_node_that_cannot_leave) {
  const Body body = particle(2, {0.3, 0.0});
  const auto beyond = make(*body.model, {{checked({plane, {0.5, 0, 0}, {1, 0, 0}, {}, 0.0, false}, 2), {NodeId{0}}}});
  State state = reference_state(*body.model);
  EXPECT_THROW(beyond->advance_to(state, 1.0), InputError);
}

// ---- faces ----

// Two blocks of tetrahedra, one askew, flying at each other.
struct TwoBlocks {
  Body body;
  std::vector<SurfaceTriangle> first, second;
  std::array<std::vector<NodeId>, 2> nodes;
  const FaceContact* contact = nullptr;

  explicit TwoBlocks(CellType type = CellType::tetrahedron4) {
    const Mesh block = tetrahedron_mesh(type, 2, 0.05, 4);
    std::vector<double> points(block.points().begin(), block.points().end());
    std::vector<std::vector<int>> cells;
    const auto count = static_cast<int>(block.node_count());
    for (const int body_of : {0, 1})
      for (Index c = 0; c < block.cells().size(); ++c) {
        cells.emplace_back();
        for (const NodeId a : block.cells()[c]) cells.back().push_back(static_cast<int>(index(a)) + body_of * count);
      }
    const double cosine = std::cos(0.6), sine = std::sin(0.6);
    for (Index a = 0; a < block.node_count(); ++a) {  // turned about two axes, a corner ahead
      const auto x = block.point(make_id<NodeId>(a));
      const double p = cosine * x[0] - sine * x[1], q = sine * x[0] + cosine * x[1], r = x[2];
      points.insert(points.end(), {cosine * p - sine * r + 2.3, q - 0.35, sine * p + cosine * r - 0.2});
    }
    body.mesh = std::make_unique<Mesh>(mesh_of(3, std::move(points), type, cells));
    Model::Parts parts = elastic_parts(*body.mesh, NeoHookean{{1.3, 0.7}}, 1.2);
    for (const CellFacet& f : boundary_facets(*body.mesh))
      for (const SurfaceTriangle& t : surface_triangles(*body.mesh, std::vector{f}))
        (index(t[0]) < count ? first : second).push_back(t);
    auto faces = make_face_contact(parts.reference, first, second, 0.05);
    contact = faces.get();
    parts.add(std::move(faces));
    body.model = std::make_unique<Model>(std::move(parts));
    for (int a = 0; a < 2 * count; ++a) nodes[a < count ? 0 : 1].push_back(make_id<NodeId>(a));
  }

  State start() const {
    State state = reference_state(*body.model);
    for (const NodeId a : nodes[1]) state.velocity[3 * ordinal(a)] = -0.5;
    for (const NodeId a : nodes[0]) {
      state.velocity[3 * ordinal(a)] = -0.1 * body.model->reference()[3 * ordinal(a) + 1];
      state.velocity[3 * ordinal(a) + 1] = 0.1 * body.model->reference()[3 * ordinal(a)];
    }
    return state;
  }

  // Each body, and what they do to each other.
  std::unique_ptr<SteppingEnergy> several(double h) const {
    Subdomains all = one_subdomain(*body.model, h);
    all.energy_step.assign(3, h);
    const auto last = static_cast<Index>(all.of_term.size()) - 1;
    for (Index k = 0; k < last; ++k)
      all.of_term[static_cast<std::size_t>(k)] =
          std::ranges::binary_search(nodes[0], body.model->term(make_id<TermId>(k)).stencil()[0]) ? 0 : 1;
    all.of_term.back() = 2;
    return std::make_unique<SteppingEnergy>(*body.model, std::move(all), uniform_steps(*body.model, 1.0));
  }
};

TEST(FaceContact, keeps_energy_and_momenta_through_a_collision) {
  for (const CellType type : {CellType::tetrahedron4, CellType::tetrahedron10}) {
    const TwoBlocks two(type);
    const auto one = make(*two.body.model, {}, 2e-4), three = two.several(2e-4);
    for (SteppingEnergy* method : {one.get(), three.get()}) {
      SCOPED_TRACE(method->name());
      expect_kept(kept_over(two.body, *method, two.start(), 4.0), 300);
    }
    EXPECT_GT(three->events(2).all(), 20);  // they did meet
  }
}

// Rows of a history look by batches.
TEST(FaceContact, is_shown_as_terms_one_by_one_have_it) {
  for (const CellType type : {CellType::tetrahedron4, CellType::tetrahedron10}) {
    const TwoBlocks two(type);
    const Model& model = *two.body.model;
    const auto method = two.several(2e-4);
    State state = two.start();
    double contact = 0.0;
    for (double t = 0.0; t < 4.0; t += 0.02) {
      method->advance_to(state, t);
      const Snapshot now = method->synchronized(state, t);
      const Snapshot one_by_one = KickDrift(model, 0.0).synchronized(state, t, false, [](TermId) { return 0.0; });
      EXPECT_EQ(now.state.displacement, one_by_one.state.displacement);
      EXPECT_EQ(now.state.velocity, one_by_one.state.velocity);
      EXPECT_NEAR(now.potential_energy, one_by_one.potential_energy, 1e-13 * std::max(1e-3, now.potential_energy));
      EXPECT_TRUE(now.admissible);
      double most = 0.0;
      for (const double f : now.force) most = std::max(most, std::abs(f));
      for (std::size_t i = 0; i < now.force.size(); ++i)
        EXPECT_NEAR(now.force[i], one_by_one.force[i], 1e-12 * std::max(1e-3, most));
      const Model::Term last = model.term(make_id<TermId>(model.term_count() - 1));
      contact = std::max(contact, last.potential->energy(last.k, now.state.displacement, t));
    }
    EXPECT_GT(contact, 1e-5);  // they were in contact when somebody looked
  }
}

TEST(FaceContact, leaves_bodies_their_own_energy_until_they_meet) {
  const TwoBlocks two;
  const Model& model = *two.body.model;
  const double h = 2e-4;
  const auto method = two.several(h);
  State state = two.start();
  const auto local = [&](const State& s, std::size_t b) {
    double sum = static_cast<double>(method->level(static_cast<Index>(b))) * h;
    for (const NodeId a : two.nodes[b])
      for (std::size_t c = 0; c < 3; ++c) sum += 0.5 * model.mass(a) * std::pow(s.velocity[3 * ordinal(a) + c], 2);
    return sum;
  };
  const std::array<double, 2> before = {local(state, 0), local(state, 1)};
  const double scale = before[0] + before[1];
  double met = -1.0, parted = -1.0;
  method->set_witness([&](Index i, double t, double) {
    if (i != 2) return;
    if (met < 0.0) met = t;
    parted = t;
  });
  std::array<double, 2> after{};
  double parted_then = -1.0;
  for (int i = 1; i <= 400; ++i) {
    method->advance_to(state, 0.02 * i);
    const State at = method->synchronized(state, 0.02 * i).state;
    for (std::size_t b = 0; b < 2; ++b) {
      if (met < 0.0) {
        EXPECT_NEAR(local(at, b), before[b], 1e-12 * scale);
      }
      if (parted == parted_then && met > 0.0) {
        EXPECT_NEAR(local(at, b), after[b], 1e-11 * scale);
      }
      after[b] = local(at, b);
    }
    parted_then = parted;
  }
  EXPECT_GT(met, 0.3);
  EXPECT_LT(parted, 7.0);
  EXPECT_GT(std::abs(after[0] - before[0]), 0.1 * scale);  // the control: it was not so all along
}

// Nodes 0 to 3, nodes 4 to 7, and their contact as the third term.
Model::Parts touching_tetrahedra(const Mesh& mesh, const NeoHookean& material, double penalty) {
  Model::Parts parts = elastic_parts(mesh, material, 1.2);
  std::array<std::vector<SurfaceTriangle>, 2> sides;
  for (const CellFacet& f : boundary_facets(mesh))
    for (const SurfaceTriangle& t : surface_triangles(mesh, std::vector{f}))
      sides[index(t[0]) < 4 ? 0 : 1].push_back(t);
  parts.add(make_face_contact(parts.reference, sides[0], sides[1], penalty));
  return parts;
}

// Two tetrahedra, corner against corner, which pass each other straight. How deep they are in each other on the way is
// a hundredth of an edge: nothing is there half an edge before, nor behind.
TEST(FaceContact, meets_what_it_would_pass_through_between_two_looks) {
  for (const double gap : {-0.01, 0.01})
    for (const double ahead : {0.32, 0.47, 0.55, 0.68, 0.73, 1.04}) {
      SCOPED_TRACE(gap);
      SCOPED_TRACE(ahead);
      const Mesh mesh =
          mesh_of(3, {0,      0, 0,   0.6,         0, -1,  -0.3,         0.5, -1,  -0.3,         -0.5, -1,
                      -ahead, 0, gap, 0.6 - ahead, 0, 1.0, -0.3 - ahead, 0.5, 1.0, -0.3 - ahead, -0.5, 1.0},
                  CellType::tetrahedron4, {{0, 2, 1, 3}, {4, 5, 6, 7}});
      const Model model(touching_tetrahedra(mesh, NeoHookean{{130.0, 70.0}}, 0.01));
      Subdomains each = one_subdomain(model, 1e-4);
      each.energy_step.assign(3, 1e-4);
      each.of_term = {0, 1, 2};
      SteppingEnergy method(model, std::move(each), uniform_steps(model, 1.0));
      State state = reference_state(model);
      for (std::size_t a = 4; a < 8; ++a) state.velocity[3 * a] = 0.5;
      method.advance_to(state, 4.0);
      EXPECT_EQ(method.events(2).all() > 0, gap < 0.0);
    }
}

// A wedge of a body on a face it lies flat to: its sides cross that face along their whole lower edges at once.
TEST(FaceContact, tells_faces_that_meet_flat) {
  const Mesh mesh = mesh_of(3, {-2, -2, 0, 3, -2, 0, 0, 3, 0, 0, 0, -1, 0, 0, 0.2, 0, 1, 0.2, 1, 0, 0.2, 0, 0, 1},
                            CellType::tetrahedron4, {{0, 2, 1, 3}, {4, 6, 5, 7}});
  const Model model(touching_tetrahedra(mesh, NeoHookean{{1.3, 0.7}}, 0.05));
  const auto method = make(model, {}, 1e-2);
  State state = reference_state(model);
  for (std::size_t a = 4; a < 8; ++a) state.velocity[3 * a + 2] = -0.5;
  try {
    method->advance_to(state, 1.0);
    FAIL() << "it went on";
  } catch (const SolveError& error) {
    EXPECT_NE(std::string(error.what()).find("meet flat"), std::string::npos) << error.what();
  }
}

TEST(FaceContact, goes_on_to_the_same_bits) {
  const TwoBlocks two;
  std::vector<NodeId> all;
  for (Index a = 0; a < two.body.model->node_count(); ++a) all.push_back(make_id<NodeId>(a));
  const auto make_it = [&](bool several) {
    if (several) return two.several(5e-4);
    return make(*two.body.model, {{checked({plane, {-0.02, 0, 0}, {1, 0, 0}, {}, 0.0, false}, 3), all}}, 5e-4);
  };
  for (const bool several : {false, true})
    expect_same_bits_through_checkpoints(*two.body.model, two.start(), 3.0, 8, [&] { return make_it(several); });
}

}  // namespace
}  // namespace tempi::test
