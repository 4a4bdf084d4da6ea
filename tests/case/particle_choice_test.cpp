// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/particle_choice.hpp"

#include <gtest/gtest.h>

#include "support/cases.hpp"
#include "support/meshes.hpp"

namespace tempi {
namespace {

using test::expect_words;
using test::refusal;

ParticlesInput two() {
  ParticlesInput in;
  in.mass = {2.0, 3.0};
  in.one_mass = in.one_radius = false;
  in.position = {{0.0, 1.0}, {2.0, 3.0}};
  in.place = "case.toml:1", in.mass_place = "case.toml:2", in.velocity_place = "case.toml:4";
  in.box_place = "case.toml:5", in.radius_place = "case.toml:6";
  return in;
}

TEST(ChooseParticles, places_them_as_the_case_has_them) {
  ParticlesInput in = two();
  in.velocity = {{1.0, 0.0}, {0.0, -1.0}};
  in.box = {4.0, 0.0};
  in.radius = {0.1, 0.2};
  const ParticleModel model = choose_particles(in, ".");
  EXPECT_EQ(model.particles.position, (std::vector{0.0, 1.0, 2.0, 3.0}));
  EXPECT_EQ(model.particles.velocity, (std::vector{1.0, 0.0, 0.0, -1.0}));
  EXPECT_EQ(model.particles.mass, (std::vector{2.0, 3.0}));
  EXPECT_EQ(model.radii, (std::vector{0.1, 0.2}));
  EXPECT_EQ(*model.box.length(0), 4.0);
  EXPECT_FALSE(model.box.length(1));
}

TEST(ChooseParticles, takes_one_number_for_all_and_rest_where_nothing_is_said) {
  ParticlesInput in = two();
  in.mass = {5.0}, in.one_mass = true;
  in.radius = {0.3}, in.one_radius = true;
  const ParticleModel model = choose_particles(in, ".");
  EXPECT_EQ(model.particles.mass, (std::vector{5.0, 5.0}));
  EXPECT_EQ(model.radii, (std::vector{0.3, 0.3}));
  EXPECT_EQ(model.particles.velocity, std::vector(4, 0.0));
  EXPECT_TRUE(choose_particles(two(), ".").radii.empty());
}

TEST(ChooseParticles, refuses_what_does_not_fit) {
  const auto refused = [](auto&& edit) {
    ParticlesInput in = two();
    edit(in);
    return refusal([&] { choose_particles(in, "."); });
  };
  expect_words(refused([](auto& in) { in.mass = {1.0}; }), {"case.toml:2", "1 entries for 2 particles"});
  expect_words(refused([](auto& in) { in.mass = {1.0, -1.0}; }), {"particle 1", "-1 kg"});
  expect_words(refused([](auto& in) { in.velocity = {{1.0, 0.0}}; }), {"case.toml:4", "velocity has 1"});
  expect_words(refused([](auto& in) { in.box = {1.0}; }), {"case.toml:5", "box has 1 lengths"});
  expect_words(refused([](auto& in) { in.radius = {1.0, 1.0, 1.0}; }), {"case.toml:6", "radius has 3 entries"});
}

TEST(MeshOfParticles, has_points_then_bonds) {
  const ParticleModel model = choose_particles(two(), ".");
  const Mesh mesh = mesh_of(nullptr, model, {NodePair{NodeId{0}, NodeId{1}}});
  EXPECT_EQ(mesh.cells().types, (std::vector{CellType::point1, CellType::point1, CellType::line2}));
  EXPECT_EQ(mesh.point_label(NodeId{1}), 1);
  EXPECT_EQ(mesh.groups().back().name, "particles");
  EXPECT_EQ(mesh.groups().back().nodes.size(), 2u);
}

TEST(MeshOfParticles, follows_the_cells_of_a_mesh) {
  const Mesh elastic = test::triangle_mesh(CellType::triangle3, 2);
  const ParticleModel model = choose_particles(two(), ".");
  const Mesh mesh = mesh_of(&elastic, model, {});
  EXPECT_EQ(mesh.node_count(), elastic.node_count() + 2);
  EXPECT_EQ(mesh.cells().size(), elastic.cells().size() + 2);
  for (Index a = 0; a < elastic.node_count(); ++a)
    EXPECT_EQ(mesh.point_label(make_id<NodeId>(a)), elastic.point_label(make_id<NodeId>(a)));
  const auto first = make_id<NodeId>(elastic.node_count());
  EXPECT_GT(mesh.point_label(first), elastic.point_label(make_id<NodeId>(elastic.node_count() - 1)));
  EXPECT_EQ(mesh.point(first)[1], 1.0);
  EXPECT_EQ(mesh.groups().back().nodes, (std::vector{first, make_id<NodeId>(elastic.node_count() + 1)}));
  const Mesh space = test::tetrahedron_mesh(CellType::tetrahedron4, 1);
  expect_words(refusal([&] { mesh_of(&space, model, {}); }), {"3 dimensions", "the particles have 2"});
}

}  // namespace
}  // namespace tempi
