// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/lammps_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Words = std::vector<std::string_view>;

struct AtomStyle {
  std::string_view name;
  std::size_t type, x, columns;  // places of the type and of x; columns without image flags
};
constexpr std::array<AtomStyle, 7> styles = {{{"atomic", 1, 2, 5},
                                              {"charge", 1, 3, 6},
                                              {"molecular", 2, 3, 6},
                                              {"bond", 2, 3, 6},
                                              {"angle", 2, 3, 6},
                                              {"full", 2, 4, 7},
                                              {"sphere", 1, 4, 7}}};  // by name alone: as long as full
constexpr const char* sphere = "sphere";

// Headings of sections that say nothing of where atoms are, what they weigh and how fast they are.
constexpr std::array<std::string_view, 24> others = {"Bonds",
                                                     "Angles",
                                                     "Dihedrals",
                                                     "Impropers",
                                                     "Atom Type Labels",
                                                     "Bond Type Labels",
                                                     "Angle Type Labels",
                                                     "Dihedral Type Labels",
                                                     "Improper Type Labels",
                                                     "Pair Coeffs",
                                                     "PairIJ Coeffs",
                                                     "Bond Coeffs",
                                                     "Angle Coeffs",
                                                     "Dihedral Coeffs",
                                                     "Improper Coeffs",
                                                     "BondBond Coeffs",
                                                     "BondAngle Coeffs",
                                                     "MiddleBondTorsion Coeffs",
                                                     "EndBondTorsion Coeffs",
                                                     "AngleTorsion Coeffs",
                                                     "AngleAngleTorsion Coeffs",
                                                     "BondBond13 Coeffs",
                                                     "AngleAngle Coeffs",
                                                     "Ellipsoids"};

class Reader {
 public:
  explicit Reader(TextLines& lines) : lines_(lines) {}

  Particles read() {
    if (!lines_.next()) throw InputError("is empty.");
    const std::string first = lines_.text();
    if (const auto at = first.find("units = "); at != std::string::npos)
      p_.units = words_of(std::string_view(first).substr(at + 8)).empty()
                     ? ""
                     : std::string(words_of(std::string_view(first).substr(at + 8)).front());
    p_.dim = 3;
    read_header();
    while (true) {
      if (section_ == "Masses")
        read_masses();
      else if (section_ == "Atoms")
        read_atoms();
      else if (section_ == "Velocities")
        read_velocities();
      else if (std::ranges::find(others, section_) != others.end())
        skip();
      else if (section_.empty())
        break;
      else
        lines_.fail(fmt::format("'{}' is no section of a data file that is known here.", section_));
    }
    return finish();
  }

 private:
  // Its line without what is behind #; false at the end of the file or of the section (a heading follows).
  bool next_row(Words& row) {
    while (lines_.next()) {
      const std::string_view line = lines_.text();
      const std::size_t hash = line.find('#');
      comment_ = hash == std::string_view::npos ? "" : std::string(trimmed(line.substr(hash + 1)));
      row = words_of(line.substr(0, hash));
      if (row.empty()) continue;
      const char c = row.front().front();
      if ((c < 'A' || c > 'Z') && c != '_') return true;
      section_ = std::string(trimmed(line.substr(0, hash)));
      return false;
    }
    section_.clear();
    return false;
  }

  void read_header() {
    Words row;
    std::array<bool, 3> seen{};
    while (next_row(row)) {
      const std::string_view last = row.back();
      if (row.size() == 2 && last == "atoms") {
        atoms_ = lines_.count(row[0], "the number of atoms");
      } else if (row.size() == 4 && last.size() == 3 && last.ends_with("hi") && last[0] >= 'x' && last[0] <= 'z') {
        const auto axis = static_cast<std::size_t>(last[0] - 'x');
        const double low = lines_.number(row[0], "an end of the box"),
                     high = lines_.number(row[1], "an end of the box");
        if (!(high > low)) lines_.fail(fmt::format("the box goes from {} to {} (must be longer than 0).", low, high));
        p_.box[axis] = high - low;
        seen[axis] = true;
      } else if (row.size() == 6 && last == "yz") {
        for (std::size_t i = 0; i < 3; ++i)
          if (lines_.number(row[i], "a tilt of the box") != 0.0)
            lines_.fail("the box is tilted: boxes have right angles, along the axes.");
      }  // numbers of types, bonds ...: not needed
    }
    if (atoms_ < 1) throw InputError("names no number of atoms (a line such as \"4000 atoms\").");
    if (std::ranges::find(seen, true) != seen.end() && std::ranges::find(seen, false) != seen.end())
      throw InputError("gives the box along some axes only (must be xlo xhi, ylo yhi and zlo zhi).");
  }

  void read_masses() {
    Words row;
    while (next_row(row)) {
      if (row.size() != 2) lines_.fail(fmt::format("{} values in Masses (must be a type and a mass).", row.size()));
      const std::string type(row[0]);
      mass_of_[type] = lines_.number(row[1], "a mass");
      const Words label = words_of(comment_);
      if (!label.empty()) label_of_[type] = std::string(label.front());
    }
  }

  void read_atoms() {
    const std::string hint = comment_;
    Words row;
    const AtomStyle* style = nullptr;
    while (next_row(row)) {
      if (style == nullptr) style = &choose_style(hint, row);
      if (row.size() != style->columns && row.size() != style->columns + 3)
        lines_.fail(fmt::format("{} values of an atom of style {} (must be {}, or {} with image flags).", row.size(),
                                style->name, style->columns, style->columns + 3));
      if (!number_of_.emplace(lines_.count(row[0], "an atom's number"), p_.size()).second)
        lines_.fail(fmt::format("the atom {} is there twice.", row[0]));
      types_.emplace_back(row[style->type]);
      if (style->name == sphere) add_sphere(row);
      for (std::size_t c = 0; c < 3; ++c) p_.position.push_back(lines_.number(row[style->x + c], "a position"));
    }
  }

  // Number, type, diameter, density. Densities are masses of the file over its lengths cubed.
  void add_sphere(const Words& row) {
    if (p_.units == "metal" || p_.units == "real" || p_.units == "electron")
      lines_.fail(fmt::format("spheres in units of atoms ({}) have a density of its own kind. Give masses.", p_.units));
    const double diameter = lines_.number(row[2], "a diameter"), density = lines_.number(row[3], "a density");
    if (!(diameter > 0.0))
      lines_.fail(fmt::format("the diameter of atom {} is {} (must be > 0: points have none here).", row[0], diameter));
    p_.radius.push_back(0.5 * diameter);
    p_.mass.push_back(density * std::numbers::pi / 6.0 * diameter * diameter * diameter);
  }

  const AtomStyle& choose_style(const std::string& hint, const Words& row) const {
    std::vector<std::string_view> names;
    for (const AtomStyle& s : styles) names.push_back(s.name);
    if (!hint.empty()) {
      const auto found = std::ranges::find(styles, words_of(hint).front(), &AtomStyle::name);
      if (found == styles.end())
        lines_.fail(fmt::format("the atom style \"{}\" is not known (known: {}).", hint, fmt::join(names, ", ")));
      return *found;
    }
    const auto fits = [&](const AtomStyle& s) {
      return s.name != sphere && (row.size() == s.columns || row.size() == s.columns + 3);
    };
    const auto first = std::ranges::find_if(styles, fits);
    if (first == styles.end() || std::find_if(first + 1, styles.end(), fits) != styles.end())
      lines_.fail(
          fmt::format("{} values may be of several atom styles, or of none. Write the style behind the word "
                      "Atoms: \"Atoms # charge\" (known: {}).",
                      row.size(), fmt::join(names, ", ")));
    return *first;
  }

  void read_velocities() {
    Words row;
    p_.velocity.assign(p_.position.size(), 0.0);
    while (next_row(row)) {
      const bool spins = row.size() == 7 && !p_.radius.empty();  // which nothing here does
      if (row.size() != 4 && !spins) lines_.fail(fmt::format("{} values in Velocities (must be 4).", row.size()));
      const auto atom = number_of_.find(lines_.count(row[0], "an atom's number"));
      if (atom == number_of_.end())
        lines_.fail(fmt::format("there is no atom {} (Velocities come after Atoms).", row[0]));
      for (std::size_t c = 0; c < 3; ++c)
        p_.velocity[3 * static_cast<std::size_t>(atom->second) + c] = lines_.number(row[1 + c], "a velocity");
    }
  }

  void skip() {
    p_.notes.push_back(fmt::format("the section {} is not read: bonds and forces belong to [[potential]].", section_));
    Words row;
    while (lines_.next()) {  // its rows may begin with letters; a heading stands between blank lines
      const std::string_view line = trimmed(std::string_view(lines_.text()).substr(0, lines_.text().find('#')));
      if (line == "Masses" || line == "Atoms" || line == "Velocities" ||
          std::ranges::find(others, line) != others.end()) {
        const std::size_t hash = lines_.text().find('#');
        comment_ =
            hash == std::string::npos ? "" : std::string(trimmed(std::string_view(lines_.text()).substr(hash + 1)));
        section_ = std::string(line);
        return;
      }
    }
    section_.clear();
  }

  Particles finish() {
    if (p_.size() != atoms_)
      throw InputError(fmt::format("announces {} atoms and has {} (in its section Atoms).", atoms_, p_.size()));
    put_in_order();
    for (Index i = 0; i < p_.size(); ++i) {
      const std::string& type = types_[static_cast<std::size_t>(i)];
      const auto mass = mass_of_.find(type);
      if (mass == mass_of_.end() && !mass_of_.empty() && p_.radius.empty())
        throw InputError(fmt::format("has no mass for the type {}.", type));
      if (mass != mass_of_.end() && p_.radius.empty()) p_.mass.push_back(mass->second);  // spheres have their own
      const auto label = label_of_.find(type);
      p_.put_in_group(label != label_of_.end() ? label->second : "type" + type, i);
    }
    return std::move(p_);
  }

  // LAMMPS writes atoms as they lie in its memory: here they are numbered as their own numbers ascend.
  void put_in_order() {
    const auto sort = [&](auto& values) {
      if (values.empty()) return;
      const std::size_t each = values.size() / number_of_.size();
      auto sorted = values;
      auto to = sorted.begin();
      for (const auto& [atom, row] : number_of_)
        to = std::copy_n(values.begin() + row * static_cast<std::ptrdiff_t>(each), each, to);
      values = std::move(sorted);
    };
    sort(p_.position);
    sort(p_.velocity);
    sort(p_.radius);
    sort(p_.mass);
    sort(types_);
  }

  TextLines& lines_;
  Particles p_;
  Index atoms_ = 0;
  std::string section_, comment_;
  std::map<std::string, double> mass_of_;
  std::map<std::string, std::string> label_of_;
  std::map<Index, Index> number_of_;  // the atoms' own numbers, and their rows among Atoms
  std::vector<std::string> types_;
};

}  // namespace

Particles read_lammps_data(TextLines& lines) { return Reader(lines).read(); }

}  // namespace tempi
