// SPDX-License-Identifier: Apache-2.0
// A team of threads for many short parallel loops: a loop over a microsecond's work costs a fraction of one to start.
// Waiting threads spin for a while, then sleep.
//
// Which thread runs which item is not defined: items of one loop must not touch the same data. A loop ends when its
// items are done, whether or not every thread has woken up: on a busy machine the caller does the work alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "tempi/core/ids.hpp"
#include "tempi/core/ordered_loop.hpp"

namespace tempi {

class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);  // >= 1, the caller's included
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(shares_.size()); }

  // item(i) for i = 0 ... count - 1, on all threads; returns when all are done. Each thread begins with the same part
  // of the loop every time, so that its data stay in its cache. One caller at a time. What items throw, on
  // any thread, is thrown here once all items are done, whatever the number of threads: that of the first of them.
  template <class Item>
  void for_each(Index count, Item&& item) {
    each(count, nullptr, item);
  }
  // item(i) of all items of an ordered loop.
  template <class Item>
  void for_each(OrderedLoop& loop, Item&& item) {
    each(loop.size(), &loop, item);
  }
  // The same of short items, so many at once on one thread, one after the other: nodes_at_once where an item is a few
  // nanoseconds' work on a node.
  static constexpr Index nodes_at_once = 512;
  template <class Item>
  void for_each(Index count, Index at_once, Item&& item) {
    for_each((count + at_once - 1) / at_once, [&](Index b) {
      for (Index i = b * at_once; i < std::min(count, (b + 1) * at_once); ++i) item(i);
    });
  }

 private:
  template <class Item>
  struct Guarded {
    explicit Guarded(Item& item_of_loop) : item(item_of_loop) {}
    void operator()(Index i) noexcept {
      try {
        item(i);
      } catch (...) {
        const std::lock_guard lock(noting);
        if (thrown && first < i) return;
        thrown = std::current_exception();
        first = i;
      }
    }
    Item& item;
    std::mutex noting{};
    std::exception_ptr thrown{};
    Index first = 0;  // item that threw
  };

  template <class Item>
  void each(Index count, OrderedLoop* ordered, Item& item) {
    Guarded<Item> guarded(item);
    if (size() == 1 || count <= 1 || count > most_items)
      for (Index i = 0; i < count; ++i) guarded(i);
    else
      start(
          count, ordered,
          [](const void* target, Index i) { (*static_cast<Guarded<Item>*>(const_cast<void*>(target)))(i); }, &guarded);
    if (guarded.thrown) std::rethrow_exception(guarded.thrown);
  }

  using Call = void (*)(const void*, Index);
  static constexpr Index most_items = (Index{1} << 32) - 1;

  // The part of the loop one thread begins with; others help when they are done. `next`: number of the loop in the
  // upper half, item in the lower, so that a thread that comes late to a loop cannot take an item of another.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> next{0};
    std::atomic<std::uint32_t> end{0};
  };

  void start(Index count, OrderedLoop* ordered, Call call, const void* target);
  void work(std::uint32_t loop, std::size_t own);
  Index do_taken(std::uint32_t place);
  Index help(const OrderedLoop& ordered, std::uint32_t item);
  void wait_for_loops(std::size_t own);

  std::vector<Share> shares_;
  std::vector<std::thread> threads_;
  std::atomic<Call> call_{nullptr};
  std::atomic<const void*> target_{nullptr};
  std::atomic<OrderedLoop*> ordered_{nullptr};
  alignas(64) std::atomic<std::uint32_t> loop_{0};  // number of the loop in hand
  alignas(64) std::atomic<Index> done_{0};          // its items
  std::atomic<bool> over_{false};
};

}  // namespace tempi
