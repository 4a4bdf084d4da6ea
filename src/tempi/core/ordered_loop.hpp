// SPDX-License-Identifier: Apache-2.0
// A parallel loop whose items come in an order: an item begins once those it comes after are done, whatever the
// number of threads. Where neighbours must act one after the other and others need not, threads then wait for
// neighbours only, not for all the others at a barrier.
//
// Made once, run often (ThreadTeam::for_each), by one team at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

class OrderedLoop {
 public:
  // Item number size(): comes after these, all smaller than size(). `place` in [0, 1): a thread begins with the items
  // of its part of that, in ascending order.
  void add(std::span<const std::int32_t> after, double place);
  Index size() const { return std::ssize(place_); }

 private:
  friend class ThreadTeam;

  void begin(int threads);  // a new round
  bool may_begin(std::uint32_t item) const {
    for (std::size_t i = first_after_[item]; i < first_after_[item + 1]; ++i)
      if (done_[static_cast<std::size_t>(after_[i])].load(std::memory_order_acquire) != round_) return false;
    return true;
  }
  void end(std::uint32_t item) { done_[item].store(round_, std::memory_order_release); }

  std::vector<double> place_;
  std::vector<std::size_t> first_after_{0};
  std::vector<std::int32_t> after_;
  std::vector<Index> begins_;         // where each thread's items begin in `order_`, and the end
  std::vector<std::uint32_t> order_;  // items, thread by thread
  std::uint32_t round_ = 0;
  std::vector<std::atomic<std::uint32_t>> done_;  // the last round of each
};

}  // namespace tempi
