// SPDX-License-Identifier: Apache-2.0
#include "tempi/space/box_tree.hpp"

#include <bit>
#include <numeric>

#include "tempi/core/error.hpp"
#include "tempi/core/space_filling_curve.hpp"

namespace tempi {

void BoxTree::make(std::span<const Bounds> boxes) {
  std::vector<double> centres;
  for (const Bounds& b : boxes)
    for (std::size_t c = 0; c < 3; ++c) centres.push_back(0.5 * (b.low[c] + b.high[c]));
  order_.resize(boxes.size());
  std::iota(order_.begin(), order_.end(), 0);
  const std::vector<std::uint64_t> keys = boxes.empty() ? std::vector<std::uint64_t>() : hilbert_keys(centres, 3);
  std::ranges::stable_sort(order_, {}, [&](std::int32_t i) { return keys[static_cast<std::size_t>(i)]; });
  leaves_ = std::bit_ceil(std::max<std::size_t>(1, (boxes.size() + leaf_size - 1) / leaf_size));
  branches_.resize(2 * leaves_ - 1);
  refit(boxes);
}

void BoxTree::refit(std::span<const Bounds> boxes) {
  TEMPI_ASSERT(boxes.size() == order_.size());
  boxes_.assign(boxes.begin(), boxes.end());
  for (std::size_t b = branches_.size(); b-- > 0;) {
    branches_[b] = {};
    if (is_leaf(b)) {
      for (const std::int32_t i : things(b)) branches_[b].take(box(i));
    } else {
      branches_[b].take(branches_[2 * b + 1]);
      branches_[b].take(branches_[2 * b + 2]);
    }
  }
}

}  // namespace tempi
