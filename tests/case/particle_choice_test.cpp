// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/particle_choice.hpp"

#include <gtest/gtest.h>

#include <fstream>

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

ParticleModel from_file(const std::string& name, const std::string& text, const std::string& units = "",
                        double scale = 1.0) {
  const std::filesystem::path folder = ::testing::TempDir();
  std::ofstream(folder / name) << text;
  ParticlesInput in = two();
  in.mass.clear(), in.position.clear();
  in.file = name, in.units = units, in.scale = scale;
  return choose_particles(in, folder);
}

TEST(ChooseParticles, turns_a_file_into_si_units) {
  const std::string xyz =
      "1\nLattice=\"10 0 0 0 10 0 0 0 10\" Properties=pos:R:3:mass:R:1:velo:R:3\n1 2 3 39.95 4 5 6\n";
  const ParticleModel si = from_file("si.xyz", xyz), scaled = from_file("scaled.xyz", xyz, "", 2.0),
                      metal = from_file("metal.xyz", xyz, "metal");
  EXPECT_EQ(si.particles.position, (std::vector{1.0, 2.0, 3.0}));
  EXPECT_EQ(scaled.particles.position, (std::vector{2.0, 4.0, 6.0}));
  EXPECT_EQ(scaled.particles.velocity, (std::vector{8.0, 10.0, 12.0}));
  EXPECT_EQ(scaled.particles.mass, (std::vector{39.95}));
  EXPECT_EQ(*scaled.box.length(0), 20.0);
  EXPECT_DOUBLE_EQ(metal.particles.position[0], 1e-10);
  EXPECT_DOUBLE_EQ(metal.particles.velocity[0], 400.0);        // 4 angstrom/ps
  EXPECT_NEAR(metal.particles.mass[0], 66.34e-27, 0.005e-27);  // argon, as the thesis has it
  EXPECT_DOUBLE_EQ(*metal.box.length(0), 1e-9);
}

TEST(ChooseParticles, takes_the_radii_of_a_file) {
  const std::string csv = "x,y,mass,radius\n0,0,1,0.5\n";
  EXPECT_EQ(from_file("r.csv", csv, "", 2.0).radii, (std::vector{1.0}));
  EXPECT_DOUBLE_EQ(from_file("r.csv", csv, "cgs").radii[0], 5e-3);
  expect_words(refusal([&] { from_file("none.csv", "x,y,mass,radius\n0,0,1,0\n"); }), {"particle 0", "radius 0 m"});
  ParticlesInput in = two();
  in.mass.clear(), in.position.clear();
  in.file = "r.csv", in.scale = 1.0, in.radius = {1.0}, in.one_radius = true;
  expect_words(refusal([&] { choose_particles(in, ::testing::TempDir()); }), {"case.toml:6", "has radii, too"});
}

TEST(ChooseParticles, takes_the_masses_of_atoms_where_a_file_has_none) {
  const std::string xyz = "2\n\nAr 0 0 0\nH 1 0 0\n";
  const ParticleModel atoms = from_file("atoms.xyz", xyz, "metal");
  EXPECT_NEAR(atoms.particles.mass[0], 66.34e-27, 0.005e-27);
  EXPECT_NEAR(atoms.particles.mass[1], 1.6738e-27, 0.0001e-27);  // proton and electron: 1.67262 + 0.00091
  EXPECT_TRUE(atoms.warnings.empty());
  const ParticleModel metres = from_file("metres.xyz", xyz);
  ASSERT_EQ(metres.warnings.size(), 1u);
  EXPECT_NE(metres.warnings[0].find("coordinates are taken in metres"), std::string::npos) << metres.warnings[0];
  expect_words(refusal([] { from_file("beads.xyz", "1\n\nbead 0 0 0\n"); }), {"beads.xyz", "has no masses"});
}

TEST(ChooseParticles, reads_the_units_of_a_data_file) {
  const std::string text = "by hand, units = real\n\n1 atoms\n\nMasses\n\n1 39.95\n\nAtoms # atomic\n\n1 1 1 2 3\n";
  const ParticleModel model = from_file("units.data", text);
  EXPECT_DOUBLE_EQ(model.particles.position[1], 2e-10);
  EXPECT_NEAR(model.particles.mass[0], 66.34e-27, 0.005e-27);
  EXPECT_EQ(from_file("units.data", text, "si").particles.mass, (std::vector{39.95}));
  const std::string other = "by hand, units = furlongs\n\n1 atoms\n\nAtoms # atomic\n\n1 1 1 2 3\n";
  expect_words(refusal([&] { from_file("other.data", other); }), {"furlongs"});
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
