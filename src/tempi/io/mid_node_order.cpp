// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/mid_node_order.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

constexpr double farthest = 0.4;      // of the edge's length
constexpr double much_better = 0.06;  // ratio of misfits at which a cell is taken to be in the other order

// nodes[i] in the internal order is nodes[other_order(type)[i]] in the other order.
std::span<const int> other_order(CellType type) {
  static constexpr std::array<int, 3> line = {0, 2, 1};
  static constexpr std::array<int, 6> triangle = {0, 1, 2, 5, 3, 4};
  static constexpr std::array<int, 10> tetrahedron = {0, 1, 2, 3, 4, 5, 6, 7, 9, 8};
  switch (type) {
    case CellType::line3: return line;
    case CellType::triangle6: return triangle;
    case CellType::tetrahedron10: return tetrahedron;
    default: return {};
  }
}

using Nodes = std::array<NodeId, 10>;

Nodes reordered(std::span<const NodeId> nodes, std::span<const int> order) {
  Nodes result{};
  for (std::size_t i = 0; i < nodes.size(); ++i) result[i] = nodes[static_cast<std::size_t>(order[i])];
  return result;
}

struct Misfit {
  double sum = 0.0;    // of the squared distances from the edges' middles, in edge lengths
  double worst = 0.0;  // the largest of these distances
};

std::span<const double> point(const MeshData& mesh, NodeId a) {
  const auto dim = static_cast<std::size_t>(mesh.dim);
  return std::span(mesh.points).subspan(ordinal(a) * dim, dim);
}

Misfit misfit(const MeshData& mesh, CellType type, std::span<const NodeId> nodes) {
  Misfit result;
  auto middle = static_cast<std::size_t>(info(type).vertices);
  for (const auto& [from, to] : mid_edges(type)) {
    const auto a = point(mesh, nodes[static_cast<std::size_t>(from)]);
    const auto b = point(mesh, nodes[static_cast<std::size_t>(to)]);
    const auto m = point(mesh, nodes[middle++]);
    double distance = 0.0;
    double length = 0.0;
    for (std::size_t i = 0; i < m.size(); ++i) {
      distance += std::pow(m[i] - 0.5 * (a[i] + b[i]), 2);
      length += std::pow(b[i] - a[i], 2);
    }
    const double square = distance > 0.0 ? distance / length : 0.0;
    result.sum += square;
    result.worst = std::max(result.worst, std::sqrt(square));
  }
  return result;
}

[[noreturn]] void refuse(const MeshData& mesh, const CellArray& cells, Index cell, bool other_fits, double worst,
                         const std::string& file) {
  const CellType type = cells.types[static_cast<std::size_t>(cell)];
  std::vector<double> centre(static_cast<std::size_t>(mesh.dim), 0.0);
  for (const NodeId a : cells[cell].first(static_cast<std::size_t>(info(type).vertices)))
    for (std::size_t i = 0; i < centre.size(); ++i) centre[i] += point(mesh, a)[i] / info(type).vertices;
  const std::string where = fmt::format("{}: {} {} at ({:.6g})", file, info(type).name,
                                        cells.labels[static_cast<std::size_t>(cell)], fmt::join(centre, ", "));
  if (other_fits)
    throw InputError(
        fmt::format("{} has its mid-edge nodes in another order than the other cells of the file (its "
                    "nodes fit only when reordered). Export the mesh again from one program.",
                    where));
  throw InputError(
      fmt::format("{} has a mid-edge node {:.2g} edge lengths off the middle of its edge (at most {} is "
                  "possible; no known node order fits). Check the order of its nodes, or mesh it finer.",
                  where, worst, farthest));
}

// Whether the cells of `type` are, taken together, in the other order.
bool is_in_other_order(const MeshData& mesh, const CellArray& cells, CellType type) {
  double as_read = 0.0;
  double reordered_sum = 0.0;
  for (Index c = 0; c < cells.size(); ++c) {
    if (cells.types[static_cast<std::size_t>(c)] != type) continue;
    const Nodes other = reordered(cells[c], other_order(type));
    as_read += std::min(1.0, misfit(mesh, type, cells[c]).sum);
    reordered_sum += std::min(1.0, misfit(mesh, type, other).sum);
  }
  return reordered_sum < as_read;
}

void settle(const MeshData& mesh, CellArray& cells, CellType type, const std::string& file) {
  const bool swap = is_in_other_order(mesh, cells, type);
  const auto order = other_order(type);
  for (Index c = 0; c < cells.size(); ++c) {
    if (cells.types[static_cast<std::size_t>(c)] != type) continue;
    const auto read = cells[c];
    const Nodes other = reordered(read, order);
    Misfit taken = misfit(mesh, type, read);
    Misfit rejected = misfit(mesh, type, other);
    if (swap) std::swap(taken, rejected);
    const bool other_fits = rejected.worst <= farthest && rejected.sum < much_better * taken.sum;
    if (!(taken.worst <= farthest) || other_fits) refuse(mesh, cells, c, other_fits, taken.worst, file);
    if (swap) std::copy_n(other.begin(), read.size(), cells.nodes.begin() + cells.offsets[static_cast<std::size_t>(c)]);
  }
}

}  // namespace

void settle_mid_node_order(MeshData& mesh, const std::string& file) {
  for (CellArray* cells : {&mesh.cells, &mesh.facets})
    for (const CellType type : {CellType::line3, CellType::triangle6, CellType::tetrahedron10})
      if (std::ranges::find(cells->types, type) != cells->types.end()) settle(mesh, *cells, type, file);
}

}  // namespace tempi
