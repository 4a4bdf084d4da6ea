// SPDX-License-Identifier: Apache-2.0
// The exact event queue: who acts next, ordered by (time, id). A tournament tree over a fixed range of ids, any of
// which may be absent; a term that enters or leaves during a run is a change of its time.
#pragma once

#include <limits>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

class EventQueue {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  explicit EventQueue(const std::vector<double>& times);  // of ids 0, 1, ...; `never` for the absent

  bool empty() const { return time_[static_cast<std::size_t>(tree_[1])] == never; }
  Index next_id() const { return tree_[1]; }  // meaningless when empty
  double next_time() const { return time_[static_cast<std::size_t>(tree_[1])]; }

  void reschedule(Index id, double time);  // cost O(log n)

 private:
  // Of two ids the earlier, at equal times the smaller.
  Index winner(Index left, Index right) const {
    const double l = time_[static_cast<std::size_t>(left)], r = time_[static_cast<std::size_t>(right)];
    return r < l ? right : left;
  }

  std::size_t leaves_ = 1;          // power of two
  std::vector<double> time_;        // per id, padded with `never`
  std::vector<std::int32_t> tree_;  // tree_[1] is the overall winner; the parents of leaves i are at (leaves + i) / 2
};

}  // namespace tempi
