// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/gmsh_mesh.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tempi/core/error.hpp"
#include "tempi/io/letter_case.hpp"
#include "tempi/io/read_mesh.hpp"

#ifdef TEMPI_WITH_GMSH
#include <gmsh.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <clocale>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <streambuf>
#include <tuple>
#include <utility>
#include <vector>

#include "tempi/io/element_blocks.hpp"
#include "tempi/io/mid_node_order.hpp"
#endif

namespace tempi {
namespace {

constexpr std::array<std::string_view, 12> extensions = {".msh", ".mesh", ".bdf", ".nas",  ".vtk",  ".unv",
                                                         ".geo", ".step", ".stp", ".brep", ".iges", ".igs"};
constexpr std::size_t first_geometry = 6;

}  // namespace

bool is_gmsh_extension(std::string_view lower_case) {
  return std::ranges::find(extensions, lower_case) != extensions.end();
}

bool is_geometry_extension(std::string_view lower_case) {
  return std::ranges::find(extensions.begin() + first_geometry, extensions.end(), lower_case) != extensions.end();
}

std::string gmsh_extensions() { return fmt::format("{}", fmt::join(extensions, " ")); }

#ifndef TEMPI_WITH_GMSH

MeshData read_gmsh(const std::filesystem::path& path, const MeshOptions&) {
  throw InputError(
      fmt::format("mesh file '{}' needs the Gmsh library (this Tempi was built without it). Build with "
                  "-DTEMPI_WITH_GMSH=ON, or give an Abaqus .inp file.",
                  path.string()));
}

#else

namespace {

// Takes everything that is written to std::cout: the geometry kernel below Gmsh cannot be told to be quiet.
class Silence : public std::streambuf {
 protected:
  int_type overflow(int_type c) override { return traits_type::not_eof(c); }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

// Gmsh between its start and its end, leaving nothing behind.
class Session {
 public:
  Session() : locale_(std::setlocale(LC_NUMERIC, nullptr)), cout_(std::cout.rdbuf(&silence_)) {
    try {
      gmsh::initialize(0, nullptr, false);
      gmsh::option::setNumber("General.Terminal", 0);
    } catch (...) {
      restore();
      throw;
    }
  }
  ~Session() {
    try {
      gmsh::finalize();
    } catch (...) {  // what was read is safe; nothing can be done about the rest
    }
    restore();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  void restore() {
    std::cout.rdbuf(cout_);
    std::setlocale(LC_NUMERIC, locale_.c_str());
#ifdef _OPENMP
    omp_set_num_threads(threads_);  // Gmsh has set its own, 1
#endif
  }

  Silence silence_;
  std::string locale_;
  std::streambuf* cout_;
#ifdef _OPENMP
  int threads_ = omp_get_max_threads();
#endif
};

struct EntityBlock {
  int dim = 0;
  int entity = 0;
  ElementBlock elements;
};

using Entity = std::pair<int, int>;  // dimension, tag

// A file as Gmsh holds it, out of Gmsh.
struct Extract {
  ElementBlocks blocks;
  Repeated repeated = Repeated::separate;
};

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

void mesh_geometry(const MeshOptions& options, const std::string& file) {
  const int dim = gmsh::model::getDimension();
  if (dim < 1) throw InputError(fmt::format("{}: no curve, surface or volume (nothing to mesh). Add one.", file));
  if (options.size > 0.0) {
    gmsh::option::setNumber("Mesh.MeshSizeFactor", 1.0);
    gmsh::option::setNumber("Mesh.MeshSizeMin", options.size);
    gmsh::option::setNumber("Mesh.MeshSizeMax", options.size);
  }
  gmsh::option::setNumber("Mesh.ElementOrder", options.refine > 0 ? 1 : options.order);
  gmsh::option::setNumber("Mesh.SecondOrderLinear", 0);
  gmsh::model::mesh::generate(dim);
  for (int i = 0; i < options.refine; ++i) gmsh::model::mesh::refine();
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

Extract finish(std::vector<EntityBlock>& blocks, Grouping grouping, ElementBlocks points, Repeated repeated) {
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
std::optional<Extract> extract_old_msh(const std::string& file) {
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

Extract extract(const std::filesystem::path& path, std::string_view extension, bool is_geometry,
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

[[noreturn]] void rethrow(const std::string& file, const std::string& message) {
  throw InputError(
      fmt::format("{}: Gmsh cannot read or mesh it ({}). Open the file in Gmsh to see where.", file, message));
}

// In a session of its own, with Gmsh's exceptions turned into ours.
Extract extract_safely(const std::filesystem::path& path, std::string_view extension, bool is_geometry,
                       const MeshOptions& options) {
  const std::string file = path.string();
  const Session session;
  try {
    return extract(path, extension, is_geometry, options);
  } catch (const InputError&) {
    throw;
  } catch (const std::string& message) {
    rethrow(file, message);
  } catch (const std::exception& error) {
    rethrow(file, error.what());
  } catch (...) {
    std::string message;
    gmsh::logger::getLastError(message);
    rethrow(file, message.empty() ? "no message" : message);
  }
}

}  // namespace

MeshData read_gmsh(const std::filesystem::path& path, const MeshOptions& options) {
  const std::string file = path.string();
  const std::string extension = lower_case(path.extension().string());
  const bool is_upper = path.extension() == upper_case(extension) && extension != ".brep";
  if (path.extension() != extension && !is_upper)
    throw InputError(fmt::format("mesh file '{}' has the extension '{}' (Gmsh knows it only as '{}'). Rename the file.",
                                 file, path.extension().string(), extension));
  const auto known = std::ranges::find(extensions, extension) - extensions.begin();
  const bool is_geometry = known >= static_cast<std::ptrdiff_t>(first_geometry);
  Extract extracted = extract_safely(path, extension, is_geometry, options);
  sort_points(extracted.blocks, file);
  if (is_geometry && top_dimension(extracted.blocks) == 2) reverse_clockwise(extracted.blocks);
  MeshData mesh = assemble(std::move(extracted.blocks), extracted.repeated, file);
  settle_mid_node_order(mesh, file);
  return mesh;
}

#endif

}  // namespace tempi
