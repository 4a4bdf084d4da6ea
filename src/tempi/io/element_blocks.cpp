// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/element_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"
#include "tempi/io/label_index.hpp"

namespace tempi {
namespace {

// An element on its way into its place.
struct Item {
  Index label = 0;
  std::uint32_t block = 0;
  std::uint32_t element = 0;
};

std::vector<Item> items_of(const ElementBlocks& blocks, bool of_cells, int dim) {
  std::vector<Item> items;
  for (std::size_t b = 0; b < blocks.blocks.size(); ++b) {
    const ElementBlock& block = blocks.blocks[b];
    if ((info(block.type).dim == dim) != of_cells) continue;
    for (std::size_t e = 0; e < block.labels.size(); ++e)
      items.push_back({block.labels[e], static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(e)});
  }
  if (!std::ranges::is_sorted(items, {}, &Item::label)) std::ranges::stable_sort(items, {}, &Item::label);
  return items;
}

// Puts elements into a cell array and their groups' lists.
class Filler {
 public:
  Filler(const ElementBlocks& blocks, Repeated repeated, const std::string& file)
      : blocks_(blocks), index_(blocks.point_labels), repeated_(repeated), file_(file) {}

  // `list(group)` is the vector of ids that the elements go to.
  template <class Id, class List>
  void fill(const std::vector<Item>& items, CellArray& cells, std::vector<Group>& groups, List list) {
    first_of_.clear();
    for (const Item& item : items) {
      const ElementBlock& block = blocks_.blocks[item.block];
      look_up(block, item);
      const Index place = place_of(block.type, cells.size());
      if (place == cells.size()) cells.push_back(block.type, nodes_, item.label);
      for (const std::size_t g : block.groups) list(groups[g]).push_back(make_id<Id>(place));
    }
    for (Group& group : groups) {
      std::vector<Id>& ids = list(group);
      make_distinct(ids);
    }
  }

 private:
  void look_up(const ElementBlock& block, const Item& item) {
    const auto count = static_cast<std::size_t>(info(block.type).nodes);
    nodes_.clear();
    for (const Index label : std::span(block.nodes).subspan(item.element * count, count)) {
      const auto node = index_.find(label);
      if (!node)
        throw InputError(
            fmt::format("{}: element {} names point {}, which the file does not have. Export the mesh again.", file_,
                        item.label, label));
      nodes_.push_back(make_id<NodeId>(*node));
    }
  }

  // Where an element with the current nodes goes: `next`, or where its first appearance went.
  Index place_of(CellType type, Index next) {
    if (repeated_ == Repeated::separate) return next;
    std::vector<NodeId> key = nodes_;
    std::ranges::sort(key);
    return first_of_.try_emplace({type, std::move(key)}, next).first->second;
  }

  const ElementBlocks& blocks_;
  LabelIndex index_;
  Repeated repeated_;
  const std::string& file_;
  std::vector<NodeId> nodes_;
  std::map<std::pair<CellType, std::vector<NodeId>>, Index> first_of_;
};

// Leaves out the coordinates beyond the dimension; cells must not vary in them.
void reduce_points(const std::vector<double>& xyz, const std::string& file, MeshData& mesh) {
  std::array<double, 3> low{};
  std::array<double, 3> high{};
  for (std::size_t i = 0; i < mesh.cells.nodes.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const double x = xyz[3 * ordinal(mesh.cells.nodes[i]) + k];
      low[k] = i == 0 ? x : std::min(low[k], x);
      high[k] = i == 0 ? x : std::max(high[k], x);
    }
  const double extent = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  const auto dim = static_cast<std::size_t>(mesh.dim);
  for (std::size_t k = dim; k < 3; ++k)
    if (high[k] - low[k] > 1e-9 * extent)
      throw InputError(
          fmt::format("{}: the {} do not lie {} ({} runs from {:.6g} to {:.6g}). {}", file,
                      dim == 2 ? "triangles" : "lines", dim == 2 ? "in a plane z = constant" : "along x", "xyz"[k],
                      low[k], high[k],
                      dim == 2 ? "Mesh the volume with tetrahedra, turn the surface into that plane, or make it a "
                                 "shell by model = \"shell\" in its [[material]]."
                               : "Turn them into that direction, or mesh a surface or volume."));
  mesh.points.clear();
  mesh.points.reserve(mesh.point_labels.size() * dim);
  for (std::size_t a = 0; a < mesh.point_labels.size(); ++a)
    mesh.points.insert(mesh.points.end(), xyz.begin() + static_cast<std::ptrdiff_t>(3 * a),
                       xyz.begin() + static_cast<std::ptrdiff_t>(3 * a + dim));
}

void check_labels(const CellArray& cells, const std::string& file) {
  const auto twice = std::ranges::adjacent_find(cells.labels);
  if (twice != cells.labels.end())
    throw InputError(
        fmt::format("{}: two cells have the label {} (each needs its own). Export the mesh again.", file, *twice));
}

void check_lines(const CellArray& cells, const std::string& file) {
  const auto count = std::ranges::count(cells.types, CellType::line3);
  if (count == 0) return;
  const auto first = std::ranges::find(cells.types, CellType::line3) - cells.types.begin();
  throw InputError(
      fmt::format("{}: {} elements of type 3-node line as cells (the first is {}; only 2-node lines are "
                  "supported). Mesh with order = 1.",
                  file, count, cells.labels[static_cast<std::size_t>(first)]));
}

void reverse_triangles(ElementBlock& block) {
  const auto count = static_cast<std::size_t>(info(block.type).nodes);
  for (std::size_t first = 0; first < block.nodes.size(); first += count) {
    std::swap(block.nodes[first + 1], block.nodes[first + 2]);
    if (block.type == CellType::triangle6) std::swap(block.nodes[first + 3], block.nodes[first + 5]);
  }
}

// Twice the area in the x-y plane, by the vertices.
double doubled_area(const std::array<const double*, 3>& x) {
  return (x[1][0] - x[0][0]) * (x[2][1] - x[0][1]) - (x[2][0] - x[0][0]) * (x[1][1] - x[0][1]);
}

}  // namespace

int top_dimension(const ElementBlocks& blocks) {
  int dim = 0;
  for (const ElementBlock& block : blocks.blocks)
    if (!block.labels.empty()) dim = std::max(dim, info(block.type).dim);
  return dim;
}

void sort_points(ElementBlocks& blocks, const std::string& file) {
  const std::vector<Index>& labels = blocks.point_labels;
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t a) { return labels[a]; });
  std::vector<Index> sorted_labels;
  std::vector<double> sorted_points;
  sorted_labels.reserve(labels.size());
  sorted_points.reserve(blocks.points.size());
  for (const std::size_t a : order) {
    if (!sorted_labels.empty() && sorted_labels.back() == labels[a])
      throw InputError(fmt::format("{}: two points have the label {} (each needs its own). Export the mesh again.",
                                   file, labels[a]));
    sorted_labels.push_back(labels[a]);
    for (std::size_t k = 0; k < 3; ++k) sorted_points.push_back(blocks.points[3 * a + k]);
  }
  blocks.point_labels = std::move(sorted_labels);
  blocks.points = std::move(sorted_points);
}

void reverse_clockwise(ElementBlocks& blocks) {
  const LabelIndex index(blocks.point_labels);
  for (ElementBlock& block : blocks.blocks) {
    if (info(block.type).dim != 2) continue;
    const auto count = static_cast<std::size_t>(info(block.type).nodes);
    bool all_clockwise = true;
    for (std::size_t first = 0; first < block.nodes.size() && all_clockwise; first += count) {
      std::array<const double*, 3> x{};
      for (std::size_t v = 0; v < 3; ++v)
        x[v] = &blocks.points[3 * static_cast<std::size_t>(index.find(block.nodes[first + v]).value())];
      all_clockwise = doubled_area(x) < 0.0;
    }
    if (all_clockwise) reverse_triangles(block);
  }
}

MeshData assemble(ElementBlocks blocks, Repeated repeated, const std::string& file, bool in_space) {
  MeshData mesh;
  mesh.dim = top_dimension(blocks);
  if (mesh.dim == 0)
    throw InputError(
        fmt::format("{}: the file has no lines, triangles or tetrahedra (nothing to compute). Check that it "
                    "holds a mesh of its own format.",
                    file));
  if (in_space) mesh.dim = 3;
  mesh.groups = std::move(blocks.groups);
  Filler filler(blocks, repeated, file);
  filler.fill<CellId>(items_of(blocks, true, mesh.dim), mesh.cells, mesh.groups,
                      [](Group& g) -> std::vector<CellId>& { return g.cells; });
  check_labels(mesh.cells, file);
  check_lines(mesh.cells, file);
  filler.fill<FacetId>(items_of(blocks, false, mesh.dim), mesh.facets, mesh.groups,
                       [](Group& g) -> std::vector<FacetId>& { return g.facets; });
  mesh.point_labels = blocks.point_labels;
  reduce_points(blocks.points, file, mesh);
  return mesh;
}

}  // namespace tempi
