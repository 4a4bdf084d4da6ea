// SPDX-License-Identifier: Apache-2.0
#include "tempi/schedule/event_queue.hpp"

#include <algorithm>
#include <bit>

namespace tempi {

EventQueue::EventQueue(const std::vector<double>& times)
    : leaves_(std::bit_ceil(std::max<std::size_t>(times.size(), 2))), time_(leaves_, never), tree_(leaves_, 0) {
  std::ranges::copy(times, time_.begin());
  for (std::size_t node = leaves_ - 1; node >= 1; --node) {
    const std::size_t left = 2 * node;
    const bool at_leaves = left >= leaves_;
    const Index l = at_leaves ? static_cast<Index>(left - leaves_) : tree_[left];
    const Index r = at_leaves ? static_cast<Index>(left + 1 - leaves_) : tree_[left + 1];
    tree_[node] = static_cast<std::int32_t>(winner(l, r));
  }
}

void EventQueue::reschedule(Index id, double time) {
  const auto leaf = static_cast<std::size_t>(id);
  time_[leaf] = time;
  std::size_t node = (leaves_ + leaf) / 2;
  const Index pair = static_cast<Index>(leaf & ~std::size_t{1});
  tree_[node] = static_cast<std::int32_t>(winner(pair, pair + 1));
  for (node /= 2; node >= 1; node /= 2)
    tree_[node] = static_cast<std::int32_t>(winner(tree_[2 * node], tree_[2 * node + 1]));
}

}  // namespace tempi
