// SPDX-License-Identifier: Apache-2.0
// Which boxes touch, by a sweep along the axis in which they are spread widest: what the tree (box_tree.hpp) is held
// against, by another way. O(n log n) where things lie in a row, O(n^2) where they lie on a heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tempi/space/box_tree.hpp"

namespace tempi {

// visit(i, j), i < j, for all pairs of boxes that touch, in no special order.
template <class Visit>
void sweep_boxes(std::span<const Bounds> boxes, Visit&& visit) {
  Bounds all;
  for (const Bounds& box : boxes) all.take(box);
  std::size_t axis = 0;
  for (const std::size_t c : {std::size_t{1}, std::size_t{2}})
    if (all.high[c] - all.low[c] > all.high[axis] - all.low[axis]) axis = c;
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < boxes.size(); ++i) order.push_back(static_cast<std::int32_t>(i));
  const auto box = [&](std::int32_t i) -> const Bounds& { return boxes[static_cast<std::size_t>(i)]; };
  std::ranges::sort(order, {}, [&](std::int32_t i) { return box(i).low[axis]; });
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size() && box(order[j]).low[axis] <= box(order[i]).high[axis]; ++j)
      if (box(order[i]).touches(box(order[j]))) visit(std::min(order[i], order[j]), std::max(order[i], order[j]));
}

}  // namespace tempi
