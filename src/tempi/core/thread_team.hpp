// SPDX-License-Identifier: Apache-2.0
// A team of threads for many short parallel loops: a loop over a microsecond's work costs a fraction of one to start.
// Waiting threads spin for a while, then sleep.
//
// Which thread runs which item is not defined: items of one loop must not touch the same data. A loop ends when its
// items are done, whether or not every thread has woken up: on a busy machine the caller does the work alone.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);  // >= 1, the caller's included
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(shares_.size()); }

  // item(i) for i = 0 ... count - 1, on all threads; returns when all are done. Each thread begins with the same part
  // of the loop every time, so that its data stay in its cache. `item` must not throw. One caller at a time.
  template <class Item>
  void for_each(Index count, Item&& item) {
    if (size() == 1 || count <= 1 || count > most_items) {
      for (Index i = 0; i < count; ++i) item(i);
      return;
    }
    using Target = std::remove_reference_t<Item>;
    start(
        count, [](const void* target, Index i) { (*static_cast<Target*>(const_cast<void*>(target)))(i); }, &item);
  }

 private:
  using Call = void (*)(const void*, Index);
  static constexpr Index most_items = (Index{1} << 32) - 1;

  // The part of the loop one thread begins with; others help when they are done. `next`: number of the loop in the
  // upper half, item in the lower, so that a thread that comes late to a loop cannot take an item of another.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> next{0};
    std::atomic<std::uint32_t> end{0};
  };

  void start(Index count, Call call, const void* target);
  void work(std::uint32_t loop, std::size_t own);
  void wait_for_loops(std::size_t own);

  std::vector<Share> shares_;
  std::vector<std::thread> threads_;
  std::atomic<Call> call_{nullptr};
  std::atomic<const void*> target_{nullptr};
  alignas(64) std::atomic<std::uint32_t> loop_{0};  // number of the loop in hand
  alignas(64) std::atomic<Index> done_{0};          // its items
  std::atomic<bool> over_{false};
};

}  // namespace tempi
