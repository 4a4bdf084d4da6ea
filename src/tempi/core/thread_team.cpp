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
      // An item is taken: this loop cannot end, and call and target are its own, until it is done.
      call_.load(std::memory_order_relaxed)(target_.load(std::memory_order_relaxed), static_cast<std::uint32_t>(next));
      ++done;
      next = share.next.load(std::memory_order_acquire);
    }
  }
  if (done > 0) done_.fetch_add(done, std::memory_order_release);
}

void ThreadTeam::start(Index count, Call call, const void* target) {
  const std::uint32_t loop = loop_.load(std::memory_order_relaxed) + 1;
  call_.store(call, std::memory_order_relaxed);
  target_.store(target, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  const auto n = static_cast<Index>(shares_.size());
  for (Index k = 0; k < n; ++k) {
    Share& share = shares_[static_cast<std::size_t>(k)];
    // Closed first: who still holds the last loop's `next` must not take it for an item below the new end.
    share.next.store((std::uint64_t{loop} << 32) | 0xffffffffU, std::memory_order_relaxed);
    share.end.store(static_cast<std::uint32_t>(count * (k + 1) / n), std::memory_order_release);
    share.next.store((std::uint64_t{loop} << 32) | static_cast<std::uint64_t>(count * k / n),
                     std::memory_order_release);
  }
  loop_.store(loop, std::memory_order_release);
  loop_.notify_all();
  work(loop, 0);
  for (int i = 0; done_.load(std::memory_order_acquire) != count; ++i)
    i < spins_before_sleep ? relax() : std::this_thread::yield();
}

}  // namespace tempi
