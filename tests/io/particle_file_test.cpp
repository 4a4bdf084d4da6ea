// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/particle_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Numbers = std::vector<double>;
using Members = std::vector<Index>;

class ParticleFile : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const auto file = std::filesystem::path(::testing::TempDir()) / (std::string(test->name()) + name);
    std::ofstream(file) << text;
    return file;
  }
  void refused(const std::string& name, const std::string& text, const std::string& word) const {
    try {
      read_particles(write(name, text));
      ADD_FAILURE() << "accepted: " << text;
    } catch (const InputError& e) {
      EXPECT_NE(std::string::npos, std::string(e.what()).find(word)) << e.what();
    }
  }
};

TEST_F(ParticleFile, csv_gives_places_velocities_masses_and_groups_in_any_order_of_columns) {
  const Particles p = read_particles(write(".csv",
                                           "# two of them\n"
                                           "x, Y,vx,vy,group,mass\r\n"
                                           "0.5,-1e-3,1,2,ion,3\n"
                                           "\n"
                                           "+7,8,9,10,,4\n"));
  EXPECT_EQ(2, p.dim);
  EXPECT_EQ((Numbers{0.5, -1e-3, 7.0, 8.0}), p.position);
  EXPECT_EQ((Numbers{1.0, 2.0, 9.0, 10.0}), p.velocity);
  EXPECT_EQ((Numbers{3.0, 4.0}), p.mass);
  ASSERT_EQ(1U, p.groups.size());
  EXPECT_EQ("ion", p.groups[0].name);
  EXPECT_EQ((Members{0}), p.groups[0].members);
}

TEST_F(ParticleFile, spheres_have_radii_in_every_format) {
  EXPECT_EQ((Numbers{0.25, 0.5}), read_particles(write(".csv", "x,y,radius,mass\n0,0,0.25,1\n1,0,0.5,2\n")).radius);
  EXPECT_EQ((Numbers{0.25, 0.5}),
            read_particles(write(".xyz", "2\nProperties=species:S:1:pos:R:3:radius:R:1\nA 0 0 0 0.25\nA 1 0 0 0.5\n"))
                .radius);
  const Particles p =
      read_particles(write(".data",
                           "units = si\n\n2 atoms\n\nAtoms # sphere\n\n1 1 0.5 2500 0 0 1\n2 1 1.0 1000 0 1 0\n\n"
                           "Velocities\n\n2 1 2 3 0 0 7\n"));
  EXPECT_EQ((Numbers{0.25, 0.5}), p.radius);
  EXPECT_EQ((Numbers{0.0, 0.0, 1.0, 0.0, 1.0, 0.0}), p.position);
  EXPECT_EQ((Numbers{0.0, 0.0, 0.0, 1.0, 2.0, 3.0}), p.velocity);
  ASSERT_EQ(2U, p.mass.size());
  EXPECT_NEAR(2500.0 * 4.0 / 3.0 * 3.14159265358979 * 0.25 * 0.25 * 0.25, p.mass[0], 1e-10);
  EXPECT_NEAR(1000.0 * 4.0 / 3.0 * 3.14159265358979 * 0.125, p.mass[1], 1e-9);
  EXPECT_TRUE(read_particles(write(".csv", "x,y,mass\n0,0,1\n")).radius.empty());
  refused(".data", "\n1 atoms\n\nAtoms # sphere\n\n1 1 0 2500 0 0 1\n", "diameter of atom 1 is 0");
  refused(".data", "units = metal\n\n1 atoms\n\nAtoms # sphere\n\n1 1 1 2500 0 0 1\n", "Give masses");
}

TEST_F(ParticleFile, csv_with_z_is_in_space_and_may_leave_out_masses_and_velocities) {
  const Particles p = read_particles(write(".csv", "z,y,x\n1,2,3\n"));
  EXPECT_EQ(3, p.dim);
  EXPECT_EQ((Numbers{3.0, 2.0, 1.0}), p.position);
  EXPECT_TRUE(p.velocity.empty());
  EXPECT_TRUE(p.mass.empty());
}

TEST_F(ParticleFile, extended_xyz_gives_columns_by_name_and_the_box) {
  const Particles p = read_particles(write(
      ".xyz",
      "2\n"
      "Lattice=\"10 0 0 0 20.5 0 0 0 30\" Properties=id:I:1:species:S:1:pos:R:3:masses:R:1:vel:R:3 pbc=\"T F T\" a=1\n"
      "1 Ar 0 1 2 39.9 -1 -2 -3\n"
      "2 Kr 3 4 5 83.8 1 2 3\n"
      "2\nthe next picture\n"));
  EXPECT_EQ(3, p.dim);
  EXPECT_EQ((Numbers{0.0, 1.0, 2.0, 3.0, 4.0, 5.0}), p.position);
  EXPECT_EQ((Numbers{-1.0, -2.0, -3.0, 1.0, 2.0, 3.0}), p.velocity);
  EXPECT_EQ((Numbers{39.9, 83.8}), p.mass);
  EXPECT_EQ(10.0, p.box[0]);
  EXPECT_FALSE(p.box[1].has_value());
  EXPECT_EQ(30.0, p.box[2]);
  ASSERT_EQ(2U, p.groups.size());
  EXPECT_EQ("Kr", p.groups[1].name);
}

TEST_F(ParticleFile, plain_xyz_has_species_and_places) {
  const Particles p = read_particles(write(".xyz", "1\nwater?\nO 1.5 2 -3\n"));
  EXPECT_EQ((Numbers{1.5, 2.0, -3.0}), p.position);
  EXPECT_FALSE(p.box[0].has_value());
  EXPECT_EQ("O", p.groups.at(0).name);
}

constexpr const char* lammps_full =
    "LAMMPS data file via write_data, version 23 Jun 2022, timestep = 0, units = metal\n"
    "\n"
    "3 atoms\n"
    "2 atom types\n"
    "1 bonds\n"
    "\n"
    "-1 9 xlo xhi\n"
    "0 20.5 ylo yhi\n"
    "0.0 3e1 zlo zhi  # the last\n"
    "\n"
    "Masses\n"
    "\n"
    "1 39.95 # Ar\n"
    "2 83.798\n"
    "\n"
    "Pair Coeffs # lj/cut\n"
    "\n"
    "1 0.01 3.4\n"
    "\n"
    "Atoms # full\n"
    "\n"
    "7 1 2 0.0 1 2 3 0 0 -1\n"
    "2 1 1 0.5 4 5 6 0 0 0\n"
    "9 2 1 -0.5 7 8 9 1 0 0\n"
    "\n"
    "Velocities\n"
    "\n"
    "9 -1 -2 -3\n"
    "7 1 2 3\n"
    "\n"
    "Bonds\n"
    "\n"
    "1 1 7 2\n";

TEST_F(ParticleFile, lammps_data_has_atoms_by_their_numbers_types_masses_velocities_and_a_box) {
  const Particles p = read_particles(write(".data", lammps_full));
  EXPECT_EQ(3, p.dim);
  EXPECT_EQ("metal", p.units);
  EXPECT_EQ((Numbers{4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 7.0, 8.0, 9.0}), p.position);
  EXPECT_EQ((Numbers{0.0, 0.0, 0.0, 1.0, 2.0, 3.0, -1.0, -2.0, -3.0}), p.velocity);
  EXPECT_EQ((Numbers{39.95, 83.798, 39.95}), p.mass);
  EXPECT_EQ(10.0, p.box[0]);
  EXPECT_EQ(20.5, p.box[1]);
  EXPECT_EQ(30.0, p.box[2]);
  ASSERT_EQ(2U, p.groups.size());
  EXPECT_EQ("Ar", p.groups[0].name);
  EXPECT_EQ((Members{0, 2}), p.groups[0].members);
  EXPECT_EQ("type2", p.groups[1].name);
  ASSERT_EQ(2U, p.notes.size());
  EXPECT_NE(std::string::npos, p.notes[1].find("Bonds")) << p.notes[1];
}

TEST_F(ParticleFile, lammps_atom_styles_are_named_or_told_by_their_columns) {
  const std::string head = "a title\n1 atoms\n";
  EXPECT_EQ((Numbers{1.0, 2.0, 3.0}), read_particles(write(".lmp", head + "Atoms\n\n1 1 1 2 3\n")).position);
  EXPECT_EQ((Numbers{1.0, 2.0, 3.0}), read_particles(write(".lammps", head + "Atoms\n\n1 1 1 0.5 1 2 3\n")).position);
  EXPECT_EQ((Numbers{1.0, 2.0, 3.0}),
            read_particles(write(".data", head + "Atoms # charge\n\n1 1 0.5 1 2 3\n")).position);
  EXPECT_TRUE(read_particles(write(".lmp", head + "Atoms\n\n1 1 1 2 3\n")).mass.empty());
  refused(".lmp", head + "Atoms\n\n1 1 0.5 1 2 3\n", "of several atom styles");
  refused(".lmp", head + "Atoms # ellipsoid\n\n1 1 0.5 1 2 3\n", "\"ellipsoid\" is not known");
  refused(".lmp", "a title\n2 atoms\nAtoms\n\n1 1 1 2 3\n", "announces 2 atoms and has 1");
  refused(".lmp", "a title\n\nAtoms\n\n1 1 1 2 3\n", "names no number of atoms");
  refused(".lmp", head + "0 1 xlo xhi\nAtoms\n\n1 1 1 2 3\n", "along some axes only");
  refused(".lmp", head + "1 0 xlo xhi\n", "line 3: the box goes from 1 to 0");
  refused(".lmp", head + "0 1 2 xy xz yz\n", "tilted");
  refused(".lmp", head + "Masses\n\n2 5\nAtoms\n\n1 1 1 2 3\n", "no mass for the type 1");
  refused(".lmp", head + "Velocities\n\n1 1 1 2\n", "no atom 1");
  refused(".lmp", head + "Lasagne\n\n1 1 1 2\n", "'Lasagne' is no section");
}

TEST_F(ParticleFile, says_what_is_wrong_and_where) {
  refused(".txt", "", "\".txt\" is not known");
  refused(".csv", "mass,x,y,charge\n", "line 1: unknown column \"charge\"");
  refused(".csv", "mass,x,x\n", "\"x\" is there twice");
  refused(".csv", "mass,x\n", "no column \"y\"");
  refused(".csv", "x,y,vx\n", "as many columns");
  refused(".csv", "x,y\n1,2\n3\n", "line 3: 1 values for 2 columns");
  refused(".csv", "x,y\n1,two\n", "y is \"two\"");
  refused(".csv", "x,y\n1,nan\n", "finite");
  refused(".csv", "x,y\n", "no particles");
  refused(".csv", "", "empty");
  refused(".xyz", "3\n\nA 0 0 0\n", "ends after 1 of 3 particles");
  refused(".xyz", "many\n\n", "line 1: the number of particles is \"many\"");
  refused(".xyz", "1\n\nA 0 0\n", "line 3: 3 values for 4 columns");
  refused(".xyz", "1\nLattice=\"1 0 0 0.5 1 0 0 0 1\"\nA 0 0 0\n", "skewed");
  refused(".xyz", "1\nProperties=species:S:1:mass:R:1\nA 1\n", "names no positions");
  refused(".xyz", "1\nProperties=species:S:1:pos:R:3:velo:R:3:mine:R:-3\nA 0 0 1\n", "gives mine -3 columns");
  EXPECT_THROW(read_particles("/no/such/place.csv"), InputError);
}

}  // namespace
}  // namespace tempi
