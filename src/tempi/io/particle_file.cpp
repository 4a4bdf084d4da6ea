// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/particle_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "tempi/core/error.hpp"
#include "tempi/io/lammps_data.hpp"
#include "tempi/io/letter_case.hpp"
#include "tempi/io/text_lines.hpp"

namespace tempi {
namespace {

Particles read_csv(TextLines& lines) {
  constexpr std::array<std::string_view, 9> known = {"mass", "x", "y", "z", "vx", "vy", "vz", "radius", "group"};
  const auto next_row = [&] {
    while (lines.next())
      if (const auto text = trimmed(lines.text()); !text.empty() && text.front() != '#') return true;
    return false;
  };
  if (!next_row()) throw InputError("is empty (must have a header: mass,x,y,vx,vy).");
  const std::string header = lower_case(lines.text());
  const std::vector<std::string_view> names = split(header, ',');
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::find(known, names[i]) == known.end())
      lines.fail(fmt::format("unknown column \"{}\" (known: {}).", names[i], fmt::join(known, ", ")));
    if (std::ranges::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      lines.fail(fmt::format("the column \"{}\" is there twice.", names[i]));
  }
  const auto column = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - names.begin()));
  };
  Particles p;
  p.dim = column("z") ? 3 : 2;
  std::vector<std::size_t> places, velocities;
  for (int c = 0; c < p.dim; ++c) {
    const std::string axis(1, "xyz"[c]);
    if (!column(axis)) lines.fail(fmt::format("there is no column \"{}\".", axis));
    places.push_back(*column(axis));
    if (const auto v = column("v" + axis)) velocities.push_back(*v);
  }
  if (p.dim == 2 && column("vz")) lines.fail("there is a column \"vz\", but none for z.");
  if (!velocities.empty() && velocities.size() != places.size())
    lines.fail("velocities do not have as many columns as positions. Give all of vx, vy (and vz), or none.");
  const auto mass = column("mass"), radius = column("radius"), group = column("group");
  while (next_row()) {
    const std::vector<std::string_view> fields = split(lines.text(), ',');
    if (fields.size() != names.size())
      lines.fail(fmt::format("{} values for {} columns.", fields.size(), names.size()));
    if (group) p.put_in_group(fields[*group], p.size());
    if (mass) p.mass.push_back(lines.number(fields[*mass], "mass"));
    if (radius) p.radius.push_back(lines.number(fields[*radius], "radius"));
    for (const std::size_t i : places) p.position.push_back(lines.number(fields[i], names[i]));
    for (const std::size_t i : velocities) p.velocity.push_back(lines.number(fields[i], names[i]));
  }
  return p;
}

// The value of key=value or key="a value" in the comment of an extended XYZ.
std::optional<std::string> property(const std::string& comment, const std::string& key) {
  const std::string low = lower_case(comment), sought = lower_case(key) + "=";
  for (std::size_t at = low.find(sought); at != std::string::npos; at = low.find(sought, at + 1)) {
    if (at > 0 && low[at - 1] != ' ' && low[at - 1] != '\t') continue;
    const std::size_t start = at + sought.size();
    const bool quoted = start < comment.size() && comment[start] == '"';
    const std::size_t from = quoted ? start + 1 : start;
    return comment.substr(from, comment.find_first_of(quoted ? "\"" : " \t\r", from) - from);
  }
  return std::nullopt;
}

void read_box(const TextLines& lines, Particles& p) {
  const auto lattice = property(lines.text(), "Lattice");
  if (!lattice) return;
  const auto words = words_of(*lattice);
  if (words.size() != 9) lines.fail(fmt::format("Lattice has {} numbers (must be 9).", words.size()));
  std::vector<std::string> periodic = {"T", "T", "T"};
  if (const auto pbc = property(lines.text(), "pbc")) {
    periodic.clear();
    for (const std::string_view word : words_of(*pbc)) periodic.emplace_back(word);
    for (std::string& word : periodic) {
      word = lower_case(word);
      if (word == "1" || word == "true") word = "t";
      if (word == "0" || word == "false") word = "f";
      if (word != "t" && word != "f") lines.fail(fmt::format("pbc has the entry \"{}\" (must be T or F).", word));
    }
    if (periodic.size() != 3) lines.fail(fmt::format("pbc has {} entries (must be 3).", periodic.size()));
  }
  for (std::size_t i = 0; i < 9; ++i) {
    const double value = lines.number(words[i], "an entry of Lattice");
    if (i / 3 != i % 3 && value != 0.0)
      lines.fail(
          fmt::format("Lattice is skewed (entry {} is {}): boxes have right angles, along the axes.", i + 1, value));
    if (i / 3 == i % 3 && lower_case(periodic[i / 3]) == "t") p.box[i / 3] = value;
  }
}

Particles read_xyz(TextLines& lines) {
  if (!lines.next()) throw InputError("is empty.");
  const double announced = lines.number(trimmed(lines.text()), "the number of particles");
  if (!(announced >= 1.0) || announced != std::floor(announced))
    lines.fail(fmt::format("the number of particles is {} (must be at least 1).", announced));
  if (!lines.next()) lines.fail("the file ends before its comment line.");
  Particles p;
  p.dim = 3;
  read_box(lines, p);
  std::optional<std::size_t> species = 0, position = 1, mass, radius, velocity;
  std::size_t columns = 4;
  if (const auto properties = property(lines.text(), "Properties")) {
    species = position = std::nullopt;
    columns = 0;
    const auto parts = split(*properties, ':');
    for (std::size_t i = 0; i + 2 < parts.size() + (parts.size() % 3 == 0 ? 0 : 3); i += 3) {
      if (i + 2 >= parts.size()) lines.fail("Properties is not of the form name:type:count:name:type:count ...");
      const std::string name = lower_case(parts[i]);
      const double number = lines.number(parts[i + 2], "a count in Properties");
      if (!(number >= 1.0 && number <= 1000.0))
        lines.fail(fmt::format("Properties gives {} {} columns (1 to 1000 are possible).", parts[i], number));
      const auto count = static_cast<std::size_t>(number);
      const std::size_t wanted = name == "pos" || name.starts_with("vel") ? 3 : 1;
      std::optional<std::size_t>* const place =
          name == "species"                                                               ? &species
          : name == "pos"                                                                 ? &position
          : name == "mass" || name == "masses"                                            ? &mass
          : name == "radius" || name == "radii"                                           ? &radius
          : name == "vel" || name == "velo" || name == "velocity" || name == "velocities" ? &velocity
                                                                                          : nullptr;
      if (place != nullptr && count != wanted)
        lines.fail(fmt::format("{} has {} columns in Properties (must be {}).", name, count, wanted));
      if (place != nullptr) *place = columns;
      columns += count;
    }
    if (!position) lines.fail("Properties names no positions (pos:R:3).");
  }
  while (p.size() < static_cast<Index>(announced)) {
    if (!lines.next())
      throw InputError(fmt::format("ends after {} of {} particles.", p.size(), static_cast<Index>(announced)));
    const auto words = words_of(lines.text());
    if (words.size() != columns)
      lines.fail(fmt::format("{} values for {} columns. Name columns beyond species and place by Properties=...",
                             words.size(), columns));
    if (species) p.put_in_group(words[*species], p.size());
    if (mass) p.mass.push_back(lines.number(words[*mass], "mass"));
    if (radius) p.radius.push_back(lines.number(words[*radius], "radius"));
    for (std::size_t c = 0; c < 3 && velocity; ++c)
      p.velocity.push_back(lines.number(words[*velocity + c], "a velocity"));
    for (std::size_t c = 0; c < 3; ++c) p.position.push_back(lines.number(words[*position + c], "a position"));
  }
  return p;
}

}  // namespace

void Particles::put_in_group(std::string_view name, Index particle) {
  if (name.empty()) return;
  auto group = std::ranges::find(groups, name, &Group::name);
  if (group == groups.end()) group = groups.insert(group, {std::string(name), {}});
  group->members.push_back(particle);
}

Particles read_particles(const std::filesystem::path& file) {
  const std::string ending = lower_case(file.extension().string());
  const bool csv = ending == ".csv", xyz = ending == ".xyz" || ending == ".extxyz";
  const bool lammps = ending == ".data" || ending == ".lmp" || ending == ".lammps" ||
                      (!csv && !xyz && file.filename().string().starts_with("data."));
  if (!csv && !xyz && !lammps)
    throw InputError(
        fmt::format("the ending \"{}\" is not known for particles (.csv, .xyz, .extxyz; .data, .lmp, .lammps or a name "
                    "data.* of LAMMPS).",
                    ending));
  TextLines lines(file);
  Particles p = csv ? read_csv(lines) : xyz ? read_xyz(lines) : read_lammps_data(lines);
  if (p.size() == 0) throw InputError("has a header, but no particles.");
  return p;
}

}  // namespace tempi
