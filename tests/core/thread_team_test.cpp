// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/thread_team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tempi {
namespace {

TEST(ThreadTeam, does_every_item_exactly_once_whatever_the_counts_of_items_and_threads) {
  for (const int threads : {1, 2, 3, 4, 8}) {
    ThreadTeam team(threads);
    EXPECT_EQ(team.size(), threads);
    for (const Index count : {0, 1, 2, 3, 7, 8, 9, 64, 1000, 4096, 10007}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count) + 1);
      team.for_each(count, [&](Index i) { done[static_cast<std::size_t>(i)].fetch_add(1, std::memory_order_relaxed); });
      for (Index i = 0; i < count; ++i)
        ASSERT_EQ(done[static_cast<std::size_t>(i)], 1) << threads << " threads, item " << i << " of " << count;
      EXPECT_EQ(done.back(), 0);
    }
  }
}

// Plain memory: what one loop has written, the caller and the next loop read, whichever threads they are.
TEST(ThreadTeam, shows_each_loop_what_the_loops_before_have_written) {
  ThreadTeam team(2);
  constexpr Index n = 257;
  std::vector<Index> a(n, 0), b(n, 0);
  for (Index round = 1; round <= 100; ++round) {
    team.for_each(n, [&](Index i) { b[static_cast<std::size_t>(i)] = a[static_cast<std::size_t>((i + 1) % n)] + 1; });
    team.for_each(n, [&](Index i) { a[static_cast<std::size_t>(i)] = b[static_cast<std::size_t>(n - 1 - i)]; });
    Index sum = 0;
    for (const Index value : a) sum += value;
    ASSERT_EQ(sum, round * n);
  }
}

// On a machine with something else to do, one loop may take a scheduler's time slice: then fewer in half a second.
TEST(ThreadTeam, does_up_to_a_hundred_thousand_short_loops) {
  ThreadTeam team(2);
  std::vector<Index> sums(4, 0), expected(4, 0);
  const auto late = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  Index loops = 0;
  for (; loops < 100000 && std::chrono::steady_clock::now() < late; ++loops) {
    team.for_each(4, [&](Index i) { sums[static_cast<std::size_t>(i)] += loops ^ i; });
    for (Index i = 0; i < 4; ++i) expected[static_cast<std::size_t>(i)] += loops ^ i;
  }
  RecordProperty("loops", std::to_string(loops));
  EXPECT_EQ(sums, expected);
}

// Late threads of one loop must find nothing in the next.
TEST(ThreadTeam, does_every_item_once_in_many_loops_of_changing_length) {
  ThreadTeam team(3);
  constexpr Index longest = 41;
  std::vector<Index> done(longest, 0), expected(longest, 0);
  const auto late = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  for (Index loop = 0; loop < 50000 && std::chrono::steady_clock::now() < late; ++loop) {
    const Index count = 1 + loop * 17 % longest;
    team.for_each(count, [&](Index i) { ++done[static_cast<std::size_t>(i)]; });
    for (Index i = 0; i < count; ++i) ++expected[static_cast<std::size_t>(i)];
  }
  EXPECT_EQ(done, expected);
}

// Spinning threads must give way to those with work.
TEST(ThreadTeam, finishes_with_more_threads_than_processors) {
  ThreadTeam team(8);
  std::vector<Index> done(64, 0);
  for (int k = 0; k < 50; ++k) team.for_each(64, [&](Index i) { ++done[static_cast<std::size_t>(i)]; });
  for (const Index count : done) EXPECT_EQ(count, 50);
}

TEST(ThreadTeam, wakes_threads_that_have_gone_to_sleep) {
  ThreadTeam team(3);
  std::vector<Index> done(300, 0);
  for (int k = 0; k < 5; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    team.for_each(300, [&](Index i) { ++done[static_cast<std::size_t>(i)]; });
  }
  for (const Index count : done) EXPECT_EQ(count, 5);
}

// A caller that sleeps while the others work is woken when they are done.
TEST(ThreadTeam, waits_for_the_slowest_item) {
  ThreadTeam team(2);
  for (const Index slow : {0, 1}) {
    std::vector<Index> done(2, 0);
    team.for_each(2, [&](Index i) {
      if (i == slow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done[static_cast<std::size_t>(i)] = 1;
    });
    EXPECT_EQ(done, (std::vector<Index>{1, 1}));
  }
}

// One item keeps a thread; the other thread does all the rest, its own part and the busy one's.
TEST(ThreadTeam, helps_a_thread_that_is_held_up) {
  ThreadTeam team(2);
  constexpr Index n = 100;
  std::atomic<Index> others{0};
  std::atomic<bool> in_time{false};
  team.for_each(n, [&](Index i) {
    if (i != 0) {
      ++others;
      return;
    }
    for (int k = 0; k < 500 && others < n - 1; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    in_time = others == n - 1;
  });
  EXPECT_TRUE(in_time);
}

// On any number of threads the first item's, and everything else is done.
TEST(ThreadTeam, passes_on_what_items_throw) {
  for (const int threads : {1, 2, 5}) {
    ThreadTeam team(threads);
    for (int round = 0; round < 20; ++round) {
      std::atomic<Index> done{0};
      std::string what;
      try {
        team.for_each(300, [&](Index i) {
          if (i % 70 == 33) throw std::runtime_error("item " + std::to_string(i));
          ++done;
        });
      } catch (const std::runtime_error& e) {
        what = e.what();
      }
      EXPECT_EQ(what, "item 33");
      EXPECT_EQ(done, 296);
    }
    std::atomic<Index> after{0};
    team.for_each(100, [&](Index) { ++after; });
    EXPECT_EQ(after, 100);
  }
}

TEST(ThreadTeam, comes_and_goes_without_work) {
  for (int k = 0; k < 50; ++k) {
    ThreadTeam team(4);
    if (k % 2 == 0) team.for_each(0, [](Index) { ADD_FAILURE(); });
  }
}

}  // namespace
}  // namespace tempi
