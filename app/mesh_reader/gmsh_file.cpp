// SPDX-License-Identifier: Apache-2.0
#include "gmsh_file.hpp"

#include <fmt/format.h>
#include <gmsh.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tempi/core/error.hpp"
#include "tempi/io/letter_case.hpp"

namespace tempi {
namespace {

struct EntityBlock {
  int dim = 0;
  int entity = 0;
  ElementBlock elements;
};

using Entity = std::pair<int, int>;  // dimension, tag

// ---- elements ----

std::optional<CellType> cell_type(int gmsh_type) {
  return find_cell_type([&](const CellTypeInfo& of) { return of.gmsh == gmsh_type; });
}

struct Refused {
  std::size_t count = 0;
  std::size_t first = 0;  // smallest label
};

[[noreturn]] void refuse_elements(const std::map<int, Refused>& refused, const std::string& file) {
  int type = 0;
  int dim = -1;
  std::string name;
  for (const auto& [candidate, unused] : refused) {
    std::string its_name;
    int its_dim = 0, order = 0, nodes = 0, primary = 0;
    std::vector<double> local;
    gmsh::model::mesh::getElementProperties(candidate, its_name, its_dim, order, nodes, local, primary);
    if (its_dim > dim) std::tie(type, dim, name) = std::tuple(candidate, its_dim, its_name);
  }
  const bool is_simplex = name.starts_with("Line") || name.starts_with("Triangle") || name.starts_with("Tetrahedron");
  throw InputError(
      fmt::format("{}: {} element{} of type {} (the first is {}; triangles and tetrahedra of order 1 and 2, their "
                  "edges and points are "
                  "supported). {}",
                  file, refused.at(type).count, refused.at(type).count == 1 ? "" : "s", name, refused.at(type).first,
                  is_simplex ? "Mesh with order 1 or 2."
                             : "Mesh with triangles or tetrahedra (in a .geo: Mesh.RecombineAll = 0, no Recombine)."));
}

std::vector<Index> as_indices(const std::vector<std::size_t>& tags) { return {tags.begin(), tags.end()}; }

std::vector<EntityBlock> extract_elements(const std::string& file) {
  std::vector<EntityBlock> blocks;
  std::map<int, Refused> refused;
  gmsh::vectorpair entities;
  gmsh::model::getEntities(entities);
  for (const auto& [dim, entity] : entities) {
    std::vector<int> types;
    std::vector<std::vector<std::size_t>> labels;
    std::vector<std::vector<std::size_t>> nodes;
    gmsh::model::mesh::getElements(types, labels, nodes, dim, entity);
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (labels[i].empty()) continue;
      const auto type = cell_type(types[i]);
      if (!type) {
        const std::size_t first = std::ranges::min(labels[i]);
        Refused& entry = refused.try_emplace(types[i], Refused{0, first}).first->second;
        entry = {entry.count + labels[i].size(), std::min(entry.first, first)};
        continue;
      }
      EntityBlock& block = blocks.emplace_back();
      block.dim = dim;
      block.entity = entity;
      block.elements.type = *type;
      block.elements.labels = as_indices(labels[i]);
      block.elements.nodes = as_indices(nodes[i]);
      if (*type == CellType::tetrahedron10)  // Gmsh's last two mid-edge nodes: 23, 13
        for (std::size_t last = 9; last < block.elements.nodes.size(); last += 10)
          std::swap(block.elements.nodes[last - 1], block.elements.nodes[last]);
    }
  }
  if (!refused.empty()) refuse_elements(refused, file);
  return blocks;
}

void extract_points(ElementBlocks& blocks) {
  std::vector<std::size_t> labels;
  std::vector<double> unused;
  gmsh::model::mesh::getNodes(labels, blocks.points, unused, -1, -1, false, false);
  blocks.point_labels = as_indices(labels);
}

// ---- groups ----

// Groups and, for each entity, which of them hold it.
struct Grouping {
  std::vector<Group> groups;
  std::map<Entity, std::vector<std::size_t>> of_entity;
};

std::string physical_name(int dim, int tag) {
  std::string name;
  gmsh::model::getPhysicalName(dim, tag, name);
  return name;
}

// The group of this name, or a new one; without a name always a new one.
std::size_t group_of(std::vector<Group>& groups, const std::string& name, int tag) {
  const auto found = name.empty() ? groups.end() : std::ranges::find(groups, name, &Group::name);
  if (found != groups.end()) return static_cast<std::size_t>(found - groups.begin());
  Group& group = groups.emplace_back();
  group.name = name;
  group.tag = tag;
  return groups.size() - 1;
}

std::vector<Entity> physical_groups() {
  gmsh::vectorpair physicals;
  gmsh::model::getPhysicalGroups(physicals);
  std::ranges::sort(physicals, [](Entity a, Entity b) { return a.first != b.first ? a.first > b.first : a < b; });
  return physicals;
}

enum class Unnamed { kept, skipped };

Grouping by_physical_group(Unnamed unnamed) {
  Grouping result;
  for (const auto& [dim, tag] : physical_groups()) {
    const std::string name = physical_name(dim, tag);
    if (name.empty() && unnamed == Unnamed::skipped) continue;
    const std::size_t group = group_of(result.groups, name, tag);
    std::vector<int> entities;
    gmsh::model::getEntitiesForPhysicalGroup(dim, tag, entities);
    for (const int entity : entities) result.of_entity[{dim, entity}].push_back(group);
  }
  return result;
}

// One group per entity that has elements; named if `tags_are_physical` and there is a name. Tag 0: no group.
Grouping by_entity(const std::vector<EntityBlock>& blocks, bool tags_are_physical) {
  std::vector<Entity> entities;
  for (const EntityBlock& block : blocks)
    if (block.entity != 0) entities.emplace_back(block.dim, block.entity);
  std::ranges::sort(entities, [](Entity a, Entity b) { return a.first != b.first ? a.first > b.first : a < b; });
  entities.erase(std::unique(entities.begin(), entities.end()), entities.end());
  Grouping result;
  for (const auto& [dim, tag] : entities) {
    const std::string name = tags_are_physical ? physical_name(dim, tag) : "";
    result.of_entity[{dim, tag}] = {group_of(result.groups, name, tag)};
  }
  return result;
}

// ---- geometries ----

// No fewer elements along the curves than this has the mesh; from the boxes around them.
double least_edges(double size) {
  gmsh::vectorpair curves;
  gmsh::model::getEntities(curves, 1);
  double length = 0.0;
  for (const auto& [dim, tag] : curves) {
    std::array<double, 6> box{};
    gmsh::model::getBoundingBox(dim, tag, box[0], box[1], box[2], box[3], box[4], box[5]);
    length += std::hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
  }
  return length / size;
}

void refine(int times, int dim, const std::string& file) {
  constexpr double most = 2e8;  // cells: beyond what a machine of today runs
  std::vector<int> types;
  std::vector<std::vector<std::size_t>> labels, nodes;
  gmsh::model::mesh::getElements(types, labels, nodes, dim);
  double cells = 0.0;
  for (const auto& of_type : labels) cells += static_cast<double>(of_type.size());
  if (const double wanted = cells * std::pow(2.0, dim * times); wanted > most)
    throw InputError(
        fmt::format("{}: refine = {} would make {:.2g} cells of {:.0f} (at most {:.0g}). Refine less, or "
                    "give a larger mesh.size.",
                    file, times, wanted, cells, most));
  for (int i = 0; i < times; ++i) gmsh::model::mesh::refine();
}

void mesh_geometry(const MeshOptions& options, const std::string& file) {
  constexpr double most_edges = 2e6;
  const int dim = gmsh::model::getDimension();
  if (dim < 1) throw InputError(fmt::format("{}: no curve, surface or volume (nothing to mesh). Add one.", file));
  if (options.size > 0.0)
    if (const double edges = least_edges(options.size); edges > most_edges)
      throw InputError(
          fmt::format("{}: size = {:.6g} would cut its curves alone into {:.2g} edges (at most {:.0g}; lengths are in "
                      "the file's units). Give a larger mesh.size.",
                      file, options.size, edges, most_edges));
  if (options.size > 0.0) {
    gmsh::option::setNumber("Mesh.MeshSizeFactor", 1.0);
    gmsh::option::setNumber("Mesh.MeshSizeMin", options.size);
    gmsh::option::setNumber("Mesh.MeshSizeMax", options.size);
  }
  gmsh::option::setNumber("Mesh.ElementOrder", options.refine > 0 ? 1 : options.order);
  if (!options.curved) gmsh::option::setNumber("Mesh.SecondOrderLinear", 1);
  gmsh::model::mesh::generate(dim);
  if (options.refine > 0) refine(options.refine, dim, file);
  if (options.refine > 0) gmsh::model::mesh::setOrder(options.order);
}

void mark(const ElementBlock& block, std::vector<bool>& is_used) {
  for (const Index label : block.nodes) is_used[static_cast<std::size_t>(label)] = true;
}

// Removes points and curves that only helped to build the geometry: on no cell, in no physical group.
void drop_construction(std::vector<EntityBlock>& blocks, ElementBlocks& points,
                       const std::map<Entity, std::vector<std::size_t>>& physical) {
  if (blocks.empty()) return;
  const int top = std::ranges::max(blocks, {}, &EntityBlock::dim).dim;
  const Index last = points.point_labels.empty() ? 0 : std::ranges::max(points.point_labels);
  std::vector<bool> is_used(static_cast<std::size_t>(last) + 1, false);
  for (const EntityBlock& block : blocks)
    if (block.dim == top || physical.contains({block.dim, block.entity})) mark(block.elements, is_used);
  std::erase_if(blocks, [&](const EntityBlock& block) {
    return std::ranges::none_of(block.elements.nodes,
                                [&](Index label) { return is_used[static_cast<std::size_t>(label)]; });
  });
  for (const EntityBlock& block : blocks) mark(block.elements, is_used);
  std::size_t kept = 0;
  for (std::size_t a = 0; a < points.point_labels.size(); ++a) {
    if (!is_used[static_cast<std::size_t>(points.point_labels[a])]) continue;
    std::copy_n(points.points.begin() + static_cast<std::ptrdiff_t>(3 * a), 3,
                points.points.begin() + static_cast<std::ptrdiff_t>(3 * kept));
    points.point_labels[kept++] = points.point_labels[a];
  }
  points.point_labels.resize(kept);
  points.points.resize(3 * kept);
}

// ---- files ----

// .msh before version 4 gives each element its own physical tag, which Gmsh blurs when elements of one entity differ.
bool is_old_msh(const std::filesystem::path& path, std::string_view extension) {
  if (extension != ".msh") return false;
  std::ifstream in(path, std::ios::binary);
  std::string word;
  for (int lines = 0; lines < 1000 && std::getline(in, word); ++lines) {
    if (word.starts_with("$MeshFormat")) return in >> word && word < "4";
    if (word.starts_with("$NOD")) return true;
  }
  return false;
}

// Gmsh skips points whose label it has already read.
void refuse_skipped_points(const std::string& file) {
  std::vector<std::string> log;
  gmsh::logger::get(log);
  for (const std::string& line : log)
    if (const std::size_t at = line.find("Skipping duplicate node "); at != std::string::npos)
      throw InputError(fmt::format("{}: two points have the label {} (each needs its own). Export the mesh again.",
                                   file, line.substr(at + 24)));
}

void open(const std::string& file) {
  gmsh::logger::stop();  // the log of earlier sessions is still there
  gmsh::logger::start();
  gmsh::clear();
  gmsh::open(file);
  refuse_skipped_points(file);
}

MeshExtract finish(std::vector<EntityBlock>& blocks, Grouping grouping, ElementBlocks points, Repeated repeated) {
  for (EntityBlock& block : blocks) {
    const auto groups = grouping.of_entity.find({block.dim, block.entity});
    if (groups != grouping.of_entity.end()) block.elements.groups = groups->second;
    points.blocks.push_back(std::move(block.elements));
  }
  points.groups = std::move(grouping.groups);
  return {std::move(points), repeated};
}

// Gmsh keeps only the last of several elements with one label; how many the file has it says in its log.
void refuse_lost_elements(const std::vector<EntityBlock>& blocks, const std::string& file) {
  std::size_t kept = 0;
  for (const EntityBlock& block : blocks) kept += block.elements.labels.size();
  std::vector<std::string> log;
  gmsh::logger::get(log);
  for (const std::string& line : log) {
    const std::size_t end = line.find(" elements");
    if (!line.starts_with("Info: ") || end == std::string::npos || end <= 6) continue;
    const std::string count = line.substr(6, end - 6);
    if (count.find_first_not_of("0123456789") == std::string::npos && std::stoull(count) > kept)
      throw InputError(
          fmt::format("{}: of {} elements only {} differ in their labels (each needs its own). Export the mesh "
                      "again.",
                      file, count, kept));
  }
}

// Reads with physical tags in the place of entities. Nothing if the file has no physical tags, or negative ones.
std::optional<MeshExtract> extract_old_msh(const std::string& file) {
  gmsh::option::setNumber("Mesh.SwitchElementTags", 1);
  open(file);
  gmsh::option::setNumber("Mesh.SwitchElementTags", 0);
  gmsh::vectorpair entities;
  gmsh::model::getEntities(entities);
  if (std::ranges::all_of(entities, [](Entity e) { return e.second == 0; }) ||
      std::ranges::any_of(entities, [](Entity e) { return e.second < 0; }))
    return std::nullopt;
  std::vector<EntityBlock> blocks = extract_elements(file);
  refuse_lost_elements(blocks, file);
  ElementBlocks points;
  extract_points(points);
  Grouping grouping = by_entity(blocks, true);
  return finish(blocks, std::move(grouping), std::move(points), Repeated::same);
}

MeshExtract extract(const std::filesystem::path& path, std::string_view extension, bool is_geometry,
                    const MeshOptions& options) {
  const std::string file = path.string();
  const bool is_old = is_old_msh(path, extension);
  if (is_old)
    if (auto old = extract_old_msh(file)) return std::move(*old);
  open(file);
  if (is_geometry) mesh_geometry(options, file);
  std::vector<EntityBlock> blocks = extract_elements(file);
  if (is_old) refuse_lost_elements(blocks, file);
  ElementBlocks points;
  extract_points(points);
  // Physical groups without a name are materials in .unv.
  Grouping physical = by_physical_group(extension == ".unv" ? Unnamed::skipped : Unnamed::kept);
  if (is_geometry) drop_construction(blocks, points, physical.of_entity);
  if (physical.groups.empty()) physical = by_entity(blocks, false);
  return finish(blocks, std::move(physical), std::move(points), Repeated::separate);
}

[[noreturn]] void refuse(const std::string& file, const std::string& message) {
  const bool meets_itself = message.find("PLC") != std::string::npos;
  throw InputError(fmt::format("{}: Gmsh cannot read or mesh it ({}). {}", file, message,
                               meets_itself ? "Its surface mesh meets itself: give a smaller mesh.size."
                                            : "Open the file in Gmsh to see where."));
}

}  // namespace

MeshExtract extract_by_gmsh(const std::filesystem::path& path, bool is_geometry, const MeshOptions& options) {
  const std::string file = path.string();
  gmsh::initialize(0, nullptr, false);
  gmsh::option::setNumber("General.Terminal", 0);
  try {
    return extract(path, lower_case(path.extension().string()), is_geometry, options);
  } catch (const InputError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::string& message) {
    refuse(file, message);
  } catch (const std::exception& error) {
    refuse(file, error.what());
  } catch (...) {
    std::string message;
    gmsh::logger::getLastError(message);
    refuse(file, message.empty() ? "no message" : message);
  }
}

}  // namespace tempi
