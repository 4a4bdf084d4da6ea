// SPDX-License-Identifier: Apache-2.0
// Who is within a distance of whom, made anew as often as points have moved far enough: the fast form of pairs_within,
// in the rows that pair kernels work on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/space/near_points.hpp"

namespace tempi {

class PairList {
 public:
  // Every pair of points at most `distance` [m] apart, between nearest images; pairs farther apart by rounding may be
  // among them. `points`: four numbers each, the first three positions [m], finite. In a box `distance` is at most half
  // of it. Cost O(points + pairs) by a grid of cells, where that has about as many cells as points or fewer; otherwise
  // that of pairs_within.
  void make(std::span<const double> points, double distance, const PackedBox& box);

  void make_all(std::size_t count);  // every pair of so many points

  // Leaves only the pairs of points (a, b), a < b, for which keep(a, b).
  template <class Keep>
  void keep(Keep&& keep) {
    std::int32_t kept = 0;
    for (std::size_t a = 0; a + 1 < first_.size(); ++a) {
      const std::int32_t begin = first_[a];
      first_[a] = kept;
      for (std::int32_t k = begin; k < first_[a + 1]; ++k) {
        const std::int32_t b = others_[static_cast<std::size_t>(k)];
        if (keep(a, static_cast<std::size_t>(b))) others_[static_cast<std::size_t>(kept++)] = b;
      }
    }
    if (!first_.empty()) first_.back() = kept;
  }

  // As PairRows has them.
  const std::int32_t* first() const { return first_.data(); }
  const std::int32_t* others() const { return others_.data(); }

 private:
  struct Axis {
    double low, inverse_width;  // of cells; in a box of the box, and low is 0
    std::int32_t count;
    bool periodic;
    std::int32_t cell(double x) const;
    int near(std::int32_t cell, std::int32_t* cells) const;  // it and those beside it, each once
  };
  bool make_axes(std::span<const double> points, double distance, const PackedBox& box);
  void find_columns(std::span<const double> points, double distance, const PackedBox& box);
  void take_columns_from_pairs(std::span<const double> points, double distance, const PackedBox& box);
  void turn_into_rows(std::size_t count);

  NearKernel near_points_ = near_kernel();
  std::array<Axis, 3> axes_{};
  std::vector<std::int32_t> cell_of_, begin_, filled_;  // of each point; of each cell
  AlignedVector<double> x_, y_, z_;                     // of the points in cells
  std::vector<std::int32_t> ids_;
  std::vector<std::int32_t> column_, columns_;  // of each point where the earlier ones near it begin; all of them
  std::vector<std::int32_t> first_, others_, next_;
};

}  // namespace tempi
