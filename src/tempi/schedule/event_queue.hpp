// SPDX-License-Identifier: Apache-2.0
// The exact event queue: what happens next, ordered by (time, key). A tournament tree over slots; events come and go
// between others, and the order of events at one time never depends on when they came.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

// What an event is, whenever it was found out.
struct EventKey {
  std::int32_t source = 0;  // who acts
  std::array<std::int32_t, 4>
      item{};  // on what: the number of a static term; the sorted nodes of one that comes and goes
  auto operator<=>(const EventKey&) const = default;
};

class EventQueue {
 public:
  using Slot = std::int32_t;  // of an event while it is in the queue
  static constexpr double never = std::numeric_limits<double>::infinity();

  bool empty() const { return next_time() == never; }  // of events that will happen
  Slot next() const { return tree_[1]; }               // meaningless when empty
  double next_time() const { return time_[static_cast<std::size_t>(tree_[1])]; }
  const EventKey& key(Slot slot) const { return key_[static_cast<std::size_t>(slot)]; }
  double time(Slot slot) const { return time_[static_cast<std::size_t>(slot)]; }

  std::vector<Slot> slots() const;  // of all events, ascending; cost O(n)

  Slot add(const EventKey& key, double time);  // whose key nobody else has; cost O(log n), now and then O(n)
  void remove(Slot slot);                      // O(log n)
  void reschedule(Slot slot, double time);     // O(log n); `never`: it stays, and does not happen

 private:
  // Of two slots that of the earlier event, at equal times of the smaller key.
  Slot winner(Slot left, Slot right) const {
    const double l = time(left), r = time(right);
    return r < l || (r == l && key(right) < key(left)) ? right : left;
  }
  void build();

  std::size_t leaves_ = 2;                     // power of two
  std::vector<double> time_ = {never, never};  // by slot, padded with `never`
  std::vector<EventKey> key_ = {{}, {}};
  std::vector<Slot> tree_ = {0, 0};  // tree_[1] is the overall winner; the parents of leaves i are at (leaves + i) / 2
  std::vector<Slot> free_ = {1, 0};  // slots nobody has, the last one is taken next
};

}  // namespace tempi
