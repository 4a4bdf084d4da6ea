// SPDX-License-Identifier: Apache-2.0
// Units in which files of particles are written, and the masses of atoms.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tempi {

struct UnitSystem {
  std::string_view name;
  double length;    // [m]
  double mass;      // [kg]
  double velocity;  // [m/s]
};

// Those of LAMMPS (its manual, "units"); the first is si. Numbers without units, lj, count as si.
std::span<const UnitSystem> unit_systems();
std::optional<UnitSystem> find_units(std::string_view name);

// Mean mass of an atom of the element [kg]: standard atomic weights (IUPAC 2021, abridged; of elements without a stable
// isotope the mass number of the longest-lived one). `symbol` as chemists write it, such as Ar.
std::optional<double> atomic_mass(std::string_view symbol);

}  // namespace tempi
