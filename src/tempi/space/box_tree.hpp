// SPDX-License-Identifier: Apache-2.0
// A tree of axis-parallel boxes: which of many things may touch. A box may be that of a thing at rest, grown by a
// skin, or swept over a span of time; the tree does not ask.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tempi {

struct Bounds {  // empty as made
  std::array<double, 3> low = {infinity, infinity, infinity}, high = {-infinity, -infinity, -infinity};

  void take(std::span<const double> point) {
    for (std::size_t c = 0; c < point.size(); ++c) {
      low[c] = std::min(low[c], point[c]);
      high[c] = std::max(high[c], point[c]);
    }
  }
  void take(const Bounds& other) {
    for (std::size_t c = 0; c < 3; ++c) {
      low[c] = std::min(low[c], other.low[c]);
      high[c] = std::max(high[c], other.high[c]);
    }
  }
  void grow(double margin) {
    for (std::size_t c = 0; c < 3; ++c) {
      low[c] -= margin;
      high[c] += margin;
    }
  }
  bool holds(const Bounds& other) const {
    for (std::size_t c = 0; c < 3; ++c)
      if (!(low[c] <= other.low[c] && other.high[c] <= high[c])) return false;
    return true;
  }
  bool touches(const Bounds& other) const {  // components no point has given are infinitely far: set all three
    for (std::size_t c = 0; c < 3; ++c)
      if (low[c] > other.high[c] || other.low[c] > high[c]) return false;
    return true;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
};

// Things keep the places in the tree that make() gave them: refit() follows them as they move, and is worth its
// cost, O(n), until they have moved past one another; make() costs O(n log n).
class BoxTree {
 public:
  void make(std::span<const Bounds> boxes);
  void refit(std::span<const Bounds> boxes);  // as many as make() had

  std::size_t size() const { return order_.size(); }

  // visit(i, j), i < j, for all pairs of things whose boxes touch, in no special order.
  template <class Visit>
  void each_pair(Visit&& visit) const {
    if (!order_.empty()) within(0, visit);
  }

  // visit(i) for all things whose boxes touch `box`, in no special order.
  template <class Visit>
  void each_touching(const Bounds& box, Visit&& visit) const {
    if (!order_.empty()) touching(0, box, visit);
  }

 private:
  // A complete binary tree: the children of branch b are 2b + 1 and 2b + 2, the last leaves_ branches are leaves, and
  // leaf l holds the things leaf_size l to leaf_size (l + 1) - 1 of the order.
  static constexpr std::size_t leaf_size = 4;
  bool is_leaf(std::size_t b) const { return b + 1 >= leaves_; }
  std::span<const std::int32_t> things(std::size_t leaf) const {
    const std::size_t first = std::min(order_.size(), (leaf + 1 - leaves_) * leaf_size);
    return std::span(order_).subspan(first, std::min(leaf_size, order_.size() - first));
  }
  const Bounds& box(std::int32_t thing) const { return boxes_[static_cast<std::size_t>(thing)]; }

  template <class Visit>
  void within(std::size_t b, Visit& visit) const {
    if (!is_leaf(b)) {
      within(2 * b + 1, visit);
      within(2 * b + 2, visit);
      return between(2 * b + 1, 2 * b + 2, visit);
    }
    const auto all = things(b);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = i + 1; j < all.size(); ++j) offer(all[i], all[j], visit);
  }

  template <class Visit>
  void between(std::size_t a, std::size_t b, Visit& visit) const {
    if (!branches_[a].touches(branches_[b])) return;
    if (is_leaf(a)) {
      for (const std::int32_t i : things(a))
        for (const std::int32_t j : things(b)) offer(i, j, visit);
      return;
    }
    for (const std::size_t i : {2 * a + 1, 2 * a + 2})  // as deep as each other, always
      for (const std::size_t j : {2 * b + 1, 2 * b + 2}) between(i, j, visit);
  }

  template <class Visit>
  void offer(std::int32_t i, std::int32_t j, Visit& visit) const {
    if (box(i).touches(box(j))) visit(std::min(i, j), std::max(i, j));
  }

  template <class Visit>
  void touching(std::size_t b, const Bounds& with, Visit& visit) const {
    if (!branches_[b].touches(with)) return;
    if (!is_leaf(b)) return touching(2 * b + 1, with, visit), touching(2 * b + 2, with, visit);
    for (const std::int32_t i : things(b))
      if (box(i).touches(with)) visit(i);
  }

  std::size_t leaves_ = 0;
  std::vector<std::int32_t> order_;
  std::vector<Bounds> boxes_;     // of the things
  std::vector<Bounds> branches_;  // of all they hold
};

}  // namespace tempi
