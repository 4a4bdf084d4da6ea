// SPDX-License-Identifier: Apache-2.0
#include "tempi/space/neighbour_pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

// Cells are wider than the distance by more than positions in cells are rounded, of which an axis has at most 1e9.
constexpr double margin = 1.0 + 1e-6, most_cells = 1e9;

// The cells along one axis: those of a box wrap around, others go on.
class Axis {
 public:
  static Axis open(double low, double high, double distance) {
    return Axis(low, std::max(distance * margin, (high - low) / most_cells), 0);
  }
  static Axis periodic(double length, double distance) {
    const double count = std::clamp(std::floor(length / (distance * margin)), 1.0, most_cells);
    return Axis(0.0, length, static_cast<std::int64_t>(count));
  }

  std::int64_t cell(double x) const {
    const double s = (x - low_) / width_;
    if (count_ == 0) return static_cast<std::int64_t>(s);
    const double within = (s - std::floor(s)) * static_cast<double>(count_);
    return std::min(static_cast<std::int64_t>(within), count_ - 1);
  }

  // visit(c) for a cell and those beside it, each once.
  template <class Visit>
  void each_near(std::int64_t cell, Visit&& visit) const {
    if (count_ == 0)
      for (std::int64_t c = cell - 1; c <= cell + 1; ++c) visit(c);
    else
      for (std::int64_t i = 0; i < std::min<std::int64_t>(count_, 3); ++i) visit((cell + count_ - 1 + i) % count_);
  }

 private:
  Axis(double low, double width, std::int64_t count) : low_(low), width_(width), count_(count) {}

  double low_, width_;  // [m]; the width of a cell, of the box where that is periodic
  std::int64_t count_;  // 0: open
};

using Cell = std::array<std::int64_t, 3>;

// The nodes of every cell, in a hash table: several cells may share one of its lists.
class CellTable {
 public:
  explicit CellTable(std::vector<Cell> cells)
      : cells_(std::move(cells)), shift_(64 - static_cast<int>(std::bit_width(cells_.size()))), next_(cells_.size()) {
    first_.assign(std::size_t{1} << (64 - shift_), -1);
    for (std::size_t a = 0; a < cells_.size(); ++a) {
      next_[a] = first_[list(cells_[a])];
      first_[list(cells_[a])] = static_cast<std::int32_t>(a);
    }
  }

  const Cell& cell(std::int32_t node) const { return cells_[static_cast<std::size_t>(node)]; }

  // visit(b) for the nodes b > `after` of a cell, descending.
  template <class Visit>
  void each_node(const Cell& cell, std::int32_t after, Visit&& visit) const {
    for (std::int32_t b = first_[list(cell)]; b > after; b = next_[static_cast<std::size_t>(b)])
      if (this->cell(b) == cell) visit(b);
  }

 private:
  std::size_t list(const Cell& cell) const {
    std::uint64_t hash = 0;
    for (const std::int64_t c : cell) hash = (hash + static_cast<std::uint64_t>(c)) * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(hash >> shift_);
  }

  std::vector<Cell> cells_;  // of each node
  int shift_;
  std::vector<std::int32_t> first_, next_;  // of each list its last node, of each node the one before; -1: none
};

std::vector<Axis> make_axes(std::span<const double> positions, std::size_t d, double distance, const Box& box) {
  std::vector<Axis> axes;
  for (std::size_t c = 0; c < d; ++c) {
    if (box.length(c)) {
      axes.push_back(Axis::periodic(*box.length(c), distance));
      continue;
    }
    double low = positions[c], high = low;
    for (std::size_t i = c; i < positions.size(); i += d) {
      low = std::min(low, positions[i]);
      high = std::max(high, positions[i]);
    }
    axes.push_back(Axis::open(low, high, distance));
  }
  return axes;
}

// visit(cell) for the cell of a node and those around it, each once.
template <class Visit>
void each_cell_near(const Cell& cell, std::span<const Axis> axes, Visit&& visit, Cell at = {}, std::size_t c = 0) {
  if (c == axes.size()) return visit(at);
  axes[c].each_near(cell[c], [&](std::int64_t i) {
    at[c] = i;
    each_cell_near(cell, axes, visit, at, c + 1);
  });
}

}  // namespace

std::vector<NodePair> pairs_within(std::span<const double> positions, int dim, double distance, const Box& box) {
  if (!(distance > 0.0) || !std::isfinite(distance))
    throw InputError(fmt::format("distance = {} m (must be > 0).", distance));
  box.require_room_for("distance", distance);
  const auto d = static_cast<std::size_t>(dim);
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (!std::isfinite(positions[i]))
      throw InputError(fmt::format("node {} is at ({:.6g}) (must be finite).", i / d,
                                   fmt::join(positions.subspan(i - i % d, d), ", ")));
  if (positions.empty()) return {};

  const std::vector<Axis> axes = make_axes(positions, d, distance, box);
  std::vector<Cell> cells(positions.size() / d);
  for (std::size_t i = 0; i < positions.size(); ++i) cells[i / d][i % d] = axes[i % d].cell(positions[i]);
  const auto nodes = static_cast<std::int32_t>(cells.size());
  const CellTable table(std::move(cells));

  const auto is_near = [&](std::int32_t a, std::int32_t b) {
    double r2 = 0.0;
    for (std::size_t c = 0; c < d; ++c) {
      const double w =
          box.nearest(positions[static_cast<std::size_t>(b) * d + c] - positions[static_cast<std::size_t>(a) * d + c],
                      c);
      r2 += w * w;
    }
    return r2 <= distance * distance;
  };
  std::vector<NodePair> pairs;
  for (std::int32_t a = 0; a < nodes; ++a) {
    const auto first = static_cast<std::ptrdiff_t>(pairs.size());
    each_cell_near(table.cell(a), axes, [&](const Cell& cell) {
      table.each_node(cell, a, [&](std::int32_t b) {
        if (is_near(a, b)) pairs.push_back({NodeId{a}, NodeId{b}});
      });
    });
    std::sort(pairs.begin() + first, pairs.end());
  }
  return pairs;
}

std::vector<NodePair> all_pairs(Index count) {
  std::vector<NodePair> pairs;
  for (Index a = 0; a < count; ++a)
    for (Index b = a + 1; b < count; ++b) pairs.push_back({make_id<NodeId>(a), make_id<NodeId>(b)});
  return pairs;
}

}  // namespace tempi
