// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/particle_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tempi/io/unit_system.hpp"

namespace tempi {
namespace {

std::vector<double> flat(const std::vector<std::vector<double>>& rows) {
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

void place_here(const ParticlesInput& in, Particles& p) {
  const std::size_t dim = in.position.front().size();
  if (dim > 3)
    throw PlacedError(in.position_place, fmt::format("positions have {} components (must be 1, 2 or 3).", dim));
  p.dim = static_cast<int>(dim);
  p.position = flat(in.position);
  if (in.velocity.empty()) return;
  if (in.velocity.size() != in.position.size() || in.velocity.front().size() != dim)
    throw PlacedError(in.velocity_place,
                      fmt::format("velocity has {} entries of {} components, position {} of {}. Give one for each.",
                                  in.velocity.size(), in.velocity.front().size(), in.position.size(), dim));
  p.velocity = flat(in.velocity);
}

void convert(const ParticlesInput& in, Particles& p) {
  const std::string& name = in.units.empty() ? p.units : in.units;
  const auto units = find_units(name.empty() ? "si" : name);
  if (!units)
    throw PlacedError(in.place, fmt::format("'{}' says that its units are {}, which is not known here. Give units.",
                                            in.file, name));
  for (double& x : p.position) x *= in.scale * units->length;
  for (double& v : p.velocity) v *= in.scale * units->velocity;
  for (double& r : p.radius) r *= in.scale * units->length;
  for (double& m : p.mass) m *= units->mass;
  for (std::optional<double>& length : p.box)
    if (length) *length *= in.scale * units->length;
}

// Of atoms, where every particle is in a group that is named after a chemical element; false: nothing was done.
bool give_atomic_masses(Particles& p) {
  std::vector<double> mass(static_cast<std::size_t>(p.size()), 0.0);
  for (const Particles::Group& group : p.groups)
    if (const auto m = atomic_mass(group.name))
      for (const Index i : group.members) mass[static_cast<std::size_t>(i)] = *m;
  if (std::ranges::find(mass, 0.0) != mass.end()) return false;
  p.mass = std::move(mass);
  return true;
}

void give_masses(const ParticlesInput& in, const Place& place, Particles& p) {
  const auto count = static_cast<std::size_t>(p.size());
  if (!in.mass.empty()) {
    if (!p.mass.empty())
      throw PlacedError(in.mass_place, fmt::format("mass is given, and '{}' has masses, too. Keep one.", in.file));
    if (!in.one_mass && in.mass.size() != count)
      throw PlacedError(in.mass_place,
                        fmt::format("mass has {} entries for {} particles. Give one each, or one number for all.",
                                    in.mass.size(), count));
    p.mass = in.one_mass ? std::vector<double>(count, in.mass.front()) : in.mass;
  }
  if (p.mass.empty() && !give_atomic_masses(p))
    throw PlacedError(place,
                      "has no masses, and its species are not all chemical elements. Add mass = ... to [particles].");
  for (std::size_t i = 0; i < count; ++i)
    if (!(p.mass[i] > 0.0))
      throw PlacedError(place, fmt::format("particle {} has the mass {} kg (must be > 0).", i, p.mass[i]));
}

Box box_of(const ParticlesInput& in, const Place& place, const Particles& p) {
  Box::Lengths lengths = p.box;
  if (!in.box.empty()) {
    if (in.box.size() != static_cast<std::size_t>(p.dim))
      throw PlacedError(in.box_place, fmt::format("box has {} lengths (there are {} dimensions). Give one an axis, 0 "
                                                  "where space does not repeat.",
                                                  in.box.size(), p.dim));
    for (std::size_t c = 0; c < in.box.size(); ++c) {
      if (in.box[c] < 0.0)
        throw PlacedError(in.box_place, fmt::format("box has the length {} m (must be >= 0).", in.box[c]));
      lengths[c] = in.box[c] > 0.0 ? std::optional(in.box[c]) : std::nullopt;
    }
  }
  return at_place(in.box.empty() ? place : in.box_place, [&] { return Box(lengths); });
}

}  // namespace

ParticleModel choose_particles(const ParticlesInput& in, const std::filesystem::path& folder) {
  ParticleModel model;
  Particles& p = model.particles;
  Place place = in.place;
  if (in.file.empty()) {
    place_here(in, p);
  } else {
    std::filesystem::path file = in.file;
    if (file.is_relative()) file = folder / file;
    place = fmt::format("{}: {}", in.place, file.filename().string());
    p = at_place(place, [&] { return read_particles(file); });
    convert(in, p);
    for (const std::string& note : p.notes)
      model.warnings.push_back(fmt::format("{}: {}", file.filename().string(), note));
  }
  const bool atoms = p.mass.empty() && in.mass.empty();
  give_masses(in, place, p);
  if (atoms && in.units.empty() && p.units.empty() && in.scale == 1.0)
    model.warnings.push_back(fmt::format(
        "{}: masses are those of atoms, coordinates are taken in metres. Give units = \"metal\" (or scale = "
        "1e-10) where they are in angstrom.",
        std::filesystem::path(in.file).filename().string()));
  for (std::size_t i = 0; i < p.radius.size(); ++i)
    if (!(p.radius[i] > 0.0))
      throw PlacedError(place, fmt::format("particle {} has the radius {} m (must be > 0).", i, p.radius[i]));
  model.radii = p.radius;
  if (!in.radius.empty()) {
    if (!p.radius.empty())
      throw PlacedError(in.radius_place, fmt::format("radius is given, and '{}' has radii, too. Keep one.", in.file));
    if (!in.one_radius && std::ssize(in.radius) != p.size())
      throw PlacedError(in.radius_place,
                        fmt::format("radius has {} entries for {} particles. Give one each, or one number for all.",
                                    in.radius.size(), p.size()));
    model.radii =
        in.one_radius ? std::vector<double>(static_cast<std::size_t>(p.size()), in.radius.front()) : in.radius;
  }
  if (p.velocity.empty()) p.velocity.assign(p.position.size(), 0.0);
  model.box = box_of(in, place, p);
  return model;
}

Mesh mesh_of(const Mesh* elastic, const ParticleModel& model, const std::vector<NodePair>& bonds) {
  const Particles& p = model.particles;
  MeshData data;
  data.dim = p.dim;
  Index label = 0, cell_label = 0;
  if (elastic != nullptr) {
    if (elastic->dim() != p.dim)
      throw InputError(
          fmt::format("the mesh has {} dimensions, the particles have {}. Give them as many.", elastic->dim(), p.dim));
    data.points.assign(elastic->points().begin(), elastic->points().end());
    for (Index a = 0; a < elastic->node_count(); ++a)
      data.point_labels.push_back(elastic->point_label(make_id<NodeId>(a)));
    data.cells = elastic->cells();
    data.facets = elastic->facets();
    data.groups = elastic->groups();
    label = *std::ranges::max_element(data.point_labels) + 1;
    cell_label = *std::ranges::max_element(data.cells.labels) + 1;
  }
  const auto first = static_cast<Index>(data.point_labels.size());
  data.points.insert(data.points.end(), p.position.begin(), p.position.end());
  Group all;
  all.name = "particles";
  for (Index i = 0; i < p.size(); ++i) {
    data.point_labels.push_back(label + i);
    const std::array node = {make_id<NodeId>(first + i)};
    all.nodes.push_back(node[0]);
    data.cells.push_back(CellType::point1, node, cell_label + i);
  }
  for (const auto& bond : bonds) data.cells.push_back(CellType::line2, bond, cell_label + data.cells.size());
  bool taken = false;
  for (const Particles::Group& group : p.groups) {
    Group g;
    g.name = group.name;
    for (const Index i : group.members) g.nodes.push_back(make_id<NodeId>(first + i));
    taken = taken || g.name == all.name;
    data.groups.push_back(std::move(g));
  }
  if (!taken) data.groups.push_back(std::move(all));
  return Mesh(std::move(data));
}

}  // namespace tempi
