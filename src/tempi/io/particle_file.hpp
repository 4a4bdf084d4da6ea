// SPDX-License-Identifier: Apache-2.0
// Particles from a file: comma-separated values, (extended) XYZ, or a data file of LAMMPS (io/lammps_data.hpp).
//
// CSV: a header with the columns mass, x, y[, z] and perhaps vx, vy[, vz], radius and group, in any order; then a row
// a particle. Lines that begin with # and empty lines do not count.
// XYZ: the number of particles, a comment, then a row a particle: species x y z. In the comment, extended XYZ may name
// the columns (Properties=species:S:1:pos:R:3:mass:R:1:velo:R:3:radius:R:1; masses, vel, velocity, velocities, radii
// do, too; others are skipped) and a periodic box (Lattice="...", right-angled and along the axes; pbc="T T F"). Only
// the first picture of a film is read. Each species is a group.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

struct Particles {
  int dim = 0;
  std::vector<double> position;  // [m, or as `units` say], dim components a particle
  std::vector<double> velocity;  // [m/s], likewise; empty: none given
  std::vector<double> mass;      // [kg]; empty: none given
  std::vector<double> radius;    // [m]; empty: none given
  struct Group {
    std::string name;
    std::vector<Index> members;  // ascending
  };
  std::vector<Group> groups;
  std::array<std::optional<double>, 3> box{};  // [m]; empty: free along this axis
  std::string units;               // in which the file says it is written (unit_system.hpp); empty: it does not
  std::vector<std::string> notes;  // what the file has and nobody reads

  void put_in_group(std::string_view name, Index particle);  // without a name: in none
  Index size() const { return dim == 0 ? 0 : static_cast<Index>(position.size()) / dim; }
};

// In the file's units. By its ending: .csv, .xyz, .extxyz; .data, .lmp, .lammps, or a name data.*. Throws InputError
// with the line: cannot be read, another ending, a column unknown or missing, a number that is none, another count than
// announced, a box that is skewed.
Particles read_particles(const std::filesystem::path& file);

}  // namespace tempi
