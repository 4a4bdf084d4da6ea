// SPDX-License-Identifier: Apache-2.0
#include "tempi/schedule/event_queue.hpp"

namespace tempi {

void EventQueue::build() {
  tree_.assign(leaves_, 0);
  for (std::size_t node = leaves_ - 1; node >= 1; --node) {
    const std::size_t left = 2 * node;
    const bool at_leaves = left >= leaves_;
    const Slot l = at_leaves ? static_cast<Slot>(left - leaves_) : tree_[left];
    const Slot r = at_leaves ? static_cast<Slot>(left + 1 - leaves_) : tree_[left + 1];
    tree_[node] = winner(l, r);
  }
}

std::vector<EventQueue::Slot> EventQueue::slots() const {
  std::vector<char> taken(leaves_, 1);
  for (const Slot slot : free_) taken[static_cast<std::size_t>(slot)] = 0;
  std::vector<Slot> result;
  for (std::size_t i = 0; i < leaves_; ++i)
    if (taken[i] != 0) result.push_back(static_cast<Slot>(i));
  return result;
}

EventQueue::Slot EventQueue::add(const EventKey& key, double time) {
  if (free_.empty()) {
    for (std::size_t i = 2 * leaves_; i > leaves_; --i) free_.push_back(static_cast<Slot>(i - 1));
    leaves_ *= 2;
    time_.resize(leaves_, never);
    key_.resize(leaves_);
    build();
  }
  const Slot slot = free_.back();
  free_.pop_back();
  key_[static_cast<std::size_t>(slot)] = key;
  reschedule(slot, time);
  return slot;
}

void EventQueue::remove(Slot slot) {
  reschedule(slot, never);
  free_.push_back(slot);
}

void EventQueue::reschedule(Slot slot, double time) {
  const auto leaf = static_cast<std::size_t>(slot);
  time_[leaf] = time;
  std::size_t node = (leaves_ + leaf) / 2;
  const Slot pair = slot & ~Slot{1};
  tree_[node] = winner(pair, pair + 1);
  for (node /= 2; node >= 1; node /= 2) tree_[node] = winner(tree_[2 * node], tree_[2 * node + 1]);
}

}  // namespace tempi
