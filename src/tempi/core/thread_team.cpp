// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/thread_team.hpp"

#include <system_error>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

constexpr int spins_before_sleep = 5000;  // a fraction of a millisecond

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(int threads) : shares_(static_cast<std::size_t>(threads)) {
  TEMPI_ASSERT(threads >= 1);
  try {
    for (std::size_t i = 1; i < shares_.size(); ++i) threads_.emplace_back([this, i] { wait_for_loops(i); });
  } catch (const std::system_error&) {  // no more to be had: those there are do the shares of the others too
  }
}

ThreadTeam::~ThreadTeam() {
  over_.store(true);
  loop_.fetch_add(1);
  loop_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::wait_for_loops(std::size_t own) {
  for (std::uint32_t seen = 0;;) {
    std::uint32_t loop = loop_.load(std::memory_order_acquire);
    for (int i = 0; i < spins_before_sleep && loop == seen; ++i) {
      relax();
      loop = loop_.load(std::memory_order_acquire);
    }
    if (loop == seen) {
      loop_.wait(seen, std::memory_order_acquire);
      continue;
    }
    if (over_.load()) return;
    seen = loop;
    work(loop, own);
  }
}

void ThreadTeam::work(std::uint32_t loop, std::size_t own) {
  Index done = 0;
  for (std::size_t k = 0; k < shares_.size(); ++k) {
    Share& share = shares_[(own + k) % shares_.size()];
    std::uint64_t next = share.next.load(std::memory_order_acquire);
    while (next >> 32 == loop && static_cast<std::uint32_t>(next) < share.end.load(std::memory_order_acquire)) {
      if (!share.next.compare_exchange_weak(next, next + 1, std::memory_order_acquire)) continue;
      done += do_taken(static_cast<std::uint32_t>(next));
      next = share.next.load(std::memory_order_acquire);
    }
  }
  if (done > 0) done_.fetch_add(done, std::memory_order_release);
}

// An item is taken: this loop cannot end, and call, target and order are its own, until it is done. Returns how many
// have been done: it and those that helped to get there.
Index ThreadTeam::do_taken(std::uint32_t place) {
  const Call call = call_.load(std::memory_order_relaxed);
  const void* target = target_.load(std::memory_order_relaxed);
  OrderedLoop* ordered = ordered_.load(std::memory_order_relaxed);
  if (ordered == nullptr) {
    call(target, place);
    return 1;
  }
  const std::uint32_t item = ordered->order_[place];
  Index done = 1;
  for (int i = 0; !ordered->may_begin(item);) {
    const Index others = help(*ordered, item);
    done += others;
    if (others == 0) ++i < spins_before_sleep ? relax() : std::this_thread::yield();
  }
  call(target, item);
  ordered->end(item);
  return done;
}

// Does one of the items before this one, if one is left that nobody has taken: what it waits for may be a share of a
// thread that is not awake. Threads so hold items in descending order; the smallest that any of them holds waits for
// no item that is held, and those left are taken, so that somebody always gets on.
Index ThreadTeam::help(const OrderedLoop& ordered, std::uint32_t item) {
  for (Share& share : shares_) {
    std::uint64_t next = share.next.load(std::memory_order_acquire);
    const auto place = static_cast<std::uint32_t>(next);
    if (place < share.end.load(std::memory_order_acquire) && ordered.order_[place] < item &&
        share.next.compare_exchange_strong(next, next + 1, std::memory_order_acquire))
      return do_taken(place);
  }
  return 0;
}

void ThreadTeam::start(Index count, OrderedLoop* ordered, Call call, const void* target) {
  if (ordered != nullptr) ordered->begin(size());
  const std::uint32_t loop = loop_.load(std::memory_order_relaxed) + 1;
  call_.store(call, std::memory_order_relaxed);
  target_.store(target, std::memory_order_relaxed);
  ordered_.store(ordered, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  const auto n = static_cast<Index>(shares_.size());
  for (Index k = 0; k < n; ++k) {
    Share& share = shares_[static_cast<std::size_t>(k)];
    const auto begin = [&](Index thread) {
      return ordered != nullptr ? ordered->begins_[static_cast<std::size_t>(thread)] : count * thread / n;
    };
    // Closed first: who still holds the last loop's `next` must not take it for an item below the new end.
    share.next.store((std::uint64_t{loop} << 32) | 0xffffffffU, std::memory_order_relaxed);
    share.end.store(static_cast<std::uint32_t>(begin(k + 1)), std::memory_order_release);
    share.next.store((std::uint64_t{loop} << 32) | static_cast<std::uint64_t>(begin(k)), std::memory_order_release);
  }
  loop_.store(loop, std::memory_order_release);
  loop_.notify_all();
  work(loop, 0);
  for (int i = 0; done_.load(std::memory_order_acquire) != count; ++i)
    i < spins_before_sleep ? relax() : std::this_thread::yield();
}

}  // namespace tempi
