// SPDX-License-Identifier: Apache-2.0
#include "tempi/space/pair_list.hpp"

#include <algorithm>
#include <cmath>

#include "tempi/space/neighbour_pairs.hpp"

namespace tempi {
namespace {

constexpr double margin = 1.0 + 1e-6;      // of cells beyond the distance: more than positions are rounded
constexpr double most_cells_a_point = 16;  // with more, emptying them costs more than a table of those in use
constexpr std::size_t spare = 8;           // of the widest packs

}  // namespace

std::int32_t PairList::Axis::cell(double x) const {
  double s = (x - low) * inverse_width;
  if (periodic) s = (s - std::floor(s)) * count;
  if (!(s > 0.0)) return 0;  // nor a number: extents so small or large that their inverse is none
  return s < count ? static_cast<std::int32_t>(s) : count - 1;
}

int PairList::Axis::near(std::int32_t cell, std::int32_t* cells) const {
  int n = 0;
  if (periodic) {
    for (; n < std::min(count, 3); ++n) cells[n] = (cell + count - 1 + n) % count;
  } else {
    for (std::int32_t c = std::max(cell - 1, 0); c <= std::min(cell + 1, count - 1); ++c) cells[n++] = c;
  }
  return n;
}

bool PairList::make_axes(std::span<const double> points, double distance, const PackedBox& box) {
  double cells = 1.0;
  for (std::size_t c = 0; c < 3; ++c) {
    double low = points[c], high = low;
    for (std::size_t i = c; i < points.size(); i += 4) {
      low = std::min(low, points[i]);
      high = std::max(high, points[i]);
    }
    const bool periodic = box.length[c] > 0.0;
    const double length = periodic ? box.length[c] : high - low;
    const double count = std::max(1.0, std::floor(length / (distance * margin)));
    cells *= count;
    if (!(cells <= most_cells_a_point * static_cast<double>(points.size() / 4) + 64.0)) return false;
    const double scale = periodic ? box.inverse[c] : length > 0.0 ? count / length : 0.0;
    axes_[c] = {periodic ? 0.0 : low, scale, static_cast<std::int32_t>(count), periodic};
  }
  return true;
}

// Points enter their cells one after the other: each meets those before it.
void PairList::find_columns(std::span<const double> points, double distance, const PackedBox& box) {
  const std::size_t count = points.size() / 4;
  const auto cell_at = [&](std::int32_t i, std::int32_t j, std::int32_t k) {
    return static_cast<std::size_t>((k * axes_[1].count + j) * axes_[0].count + i);
  };
  cell_of_.resize(count);
  begin_.assign(cell_at(0, 0, axes_[2].count) + 1, 0);
  for (std::size_t a = 0; a < count; ++a) {
    const double* x = &points[4 * a];
    const std::size_t cell = cell_at(axes_[0].cell(x[0]), axes_[1].cell(x[1]), axes_[2].cell(x[2]));
    cell_of_[a] = static_cast<std::int32_t>(cell);
    ++begin_[cell + 1];
  }
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  filled_.assign(begin_.size(), 0);
  for (AlignedVector<double>* values : {&x_, &y_, &z_}) values->resize(count + spare);
  ids_.resize(count + spare);
  column_.assign(1, 0);
  std::size_t found = 0;
  for (std::size_t a = 0; a < count; ++a) {
    const double* x = &points[4 * a];
    const auto own = static_cast<std::size_t>(cell_of_[a]);
    std::array<std::array<std::int32_t, 3>, 3> near{};
    std::array<int, 3> counts{};
    auto rest = static_cast<std::int32_t>(own);
    for (std::size_t c = 0; c < 3; ++c) {
      counts[c] = axes_[c].near(rest % axes_[c].count, near[c].data());
      rest /= axes_[c].count;
    }
    for (int k = 0; k < counts[2]; ++k)
      for (int j = 0; j < counts[1]; ++j)
        for (int i = 0; i < counts[0]; ++i) {
          const std::size_t cell = cell_at(near[0][static_cast<std::size_t>(i)], near[1][static_cast<std::size_t>(j)],
                                           near[2][static_cast<std::size_t>(k)]);
          const auto first = static_cast<std::size_t>(begin_[cell]),
                     points_in = static_cast<std::size_t>(filled_[cell]);
          if (columns_.size() < found + points_in + spare) columns_.resize(2 * (found + points_in + spare));
          const CellPoints in_cell = {&x_[first], &y_[first], &z_[first], &ids_[first]};
          found += static_cast<std::size_t>(
              near_points_(in_cell, filled_[cell], x, distance * distance * margin, box, &columns_[found]));
        }
    column_.push_back(static_cast<std::int32_t>(found));
    const auto place = static_cast<std::size_t>(begin_[own] + filled_[own]++);
    x_[place] = x[0], y_[place] = x[1], z_[place] = x[2];
    ids_[place] = static_cast<std::int32_t>(a);
  }
}

void PairList::take_columns_from_pairs(std::span<const double> points, double distance, const PackedBox& box) {
  const std::size_t count = points.size() / 4;
  std::vector<double> positions;
  for (std::size_t a = 0; a < count; ++a) positions.insert(positions.end(), &points[4 * a], &points[4 * a] + 3);
  Box::Lengths lengths;
  for (std::size_t c = 0; c < 3; ++c)
    if (box.length[c] > 0.0) lengths[c] = box.length[c];
  const auto pairs = pairs_within(positions, 3, distance, Box(lengths));
  column_.assign(count + 1, 0);
  columns_.resize(pairs.size());
  for (const auto& [a, b] : pairs) ++column_[ordinal(b) + 1];
  for (std::size_t a = 0; a < count; ++a) column_[a + 1] += column_[a];
  next_.assign(column_.begin(), column_.end() - 1);
  for (const auto& [a, b] : pairs)
    columns_[static_cast<std::size_t>(next_[ordinal(b)]++)] = static_cast<std::int32_t>(index(a));
}

// The columns are in ascending order, so every row comes out in it.
void PairList::turn_into_rows(std::size_t count) {
  const auto found = static_cast<std::size_t>(column_[count]);
  first_.assign(count + 1, 0);
  for (std::size_t k = 0; k < found; ++k) ++first_[static_cast<std::size_t>(columns_[k]) + 1];
  for (std::size_t a = 0; a < count; ++a) first_[a + 1] += first_[a];
  next_.assign(first_.begin(), first_.end() - 1);
  others_.resize(found + spare);
  for (std::size_t b = 0; b < count; ++b)
    for (auto k = static_cast<std::size_t>(column_[b]); k < static_cast<std::size_t>(column_[b + 1]); ++k)
      others_[static_cast<std::size_t>(next_[static_cast<std::size_t>(columns_[k])]++)] = static_cast<std::int32_t>(b);
}

void PairList::make_all(std::size_t count) {
  first_.assign(1, 0);
  others_.clear();
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) others_.push_back(static_cast<std::int32_t>(b));
    first_.push_back(static_cast<std::int32_t>(others_.size()));
  }
  others_.resize(others_.size() + spare);
}

void PairList::make(std::span<const double> points, double distance, const PackedBox& box) {
  if (make_axes(points, distance, box))
    find_columns(points, distance, box);
  else
    take_columns_from_pairs(points, distance, box);
  turn_into_rows(points.size() / 4);
}

}  // namespace tempi
