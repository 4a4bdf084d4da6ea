// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/ordered_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "support/lattice.hpp"
#include "tempi/core/thread_team.hpp"

namespace tempi {
namespace {

using After = std::vector<std::vector<std::int32_t>>;

OrderedLoop loop_of(const After& after, const std::vector<double>& place) {
  OrderedLoop loop;
  for (std::size_t i = 0; i < after.size(); ++i) loop.add(after[i], place[i]);
  return loop;
}

// Each item after up to four before it, most of them not far away; places drawn at random too.
std::pair<After, std::vector<double>> random_order(Index count, std::uint64_t seed) {
  test::Random random(seed);
  After after(static_cast<std::size_t>(count));
  std::vector<double> place;
  for (Index i = 0; i < count; ++i) {
    place.push_back(random.uniform(0.0, 1.0));
    for (Index k = random.below(5); i > 0 && k > 0; --k)
      after[static_cast<std::size_t>(i)].push_back(
          static_cast<std::int32_t>(i - 1 - random.below(random.below(4) > 0 ? std::min<Index>(i, 8) : i)));
  }
  return {after, place};
}

TEST(OrderedLoop, does_every_item_once_and_after_those_it_comes_after) {
  for (const int threads : {1, 2, 3, 8}) {  // some of them more than there are processors
    ThreadTeam team(threads);
    for (const Index count : {0, 1, 2, 7, 64, 1000}) {
      const auto [after, place] = random_order(count, static_cast<std::uint64_t>(17 * count + threads));
      OrderedLoop loop = loop_of(after, place);
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
      for (int round = 1; round <= 20; ++round) {
        std::atomic<int> early{0};
        team.for_each(loop, [&](Index i) {
          for (const std::int32_t before : after[static_cast<std::size_t>(i)])
            if (done[static_cast<std::size_t>(before)] != round) ++early;
          ++done[static_cast<std::size_t>(i)];
        });
        ASSERT_EQ(early, 0) << threads << " threads, " << count << " items, round " << round;
        for (const auto& times : done) ASSERT_EQ(times, round);
      }
    }
  }
}

// Sums that do not commute: the same bits whatever the number of threads.
TEST(OrderedLoop, has_one_order_of_sums_for_any_number_of_threads) {
  constexpr Index count = 600, sums = 40;
  test::Random random(3);
  std::vector<std::vector<Index>> adds_to;
  std::vector<double> place;
  After after;
  std::vector<std::int32_t> last(sums, -1);
  for (Index i = 0; i < count; ++i) {
    adds_to.emplace_back();
    after.emplace_back();
    place.push_back(random.uniform(0.0, 1.0));
    for (int k = 0; k < 3; ++k) {
      const Index sum = random.below(sums);
      adds_to.back().push_back(sum);
      std::int32_t& before = last[static_cast<std::size_t>(sum)];
      if (before >= 0 && before != static_cast<std::int32_t>(i)) after.back().push_back(before);
      before = static_cast<std::int32_t>(i);
    }
  }
  const auto run = [&](int threads) {
    ThreadTeam team(threads);
    OrderedLoop loop = loop_of(after, place);
    std::vector<double> sum(sums, 1.0);  // plain memory
    for (int round = 0; round < 50; ++round)
      team.for_each(loop, [&](Index i) {
        for (const Index s : adds_to[static_cast<std::size_t>(i)])
          sum[static_cast<std::size_t>(s)] = 0.7 * sum[static_cast<std::size_t>(s)] + static_cast<double>(i);
      });
    return sum;
  };
  const std::vector<double> expected = run(1);
  for (const int threads : {2, 3, 5}) EXPECT_EQ(run(threads), expected) << threads << " threads";
}

// Item 1 is the caller's and item 0, which takes long, the other thread's. Without an order item 1 is done first.
TEST(OrderedLoop, waits_for_an_item_of_another_thread_and_only_where_it_must) {
  for (const bool ordered : {true, false}) {
    ThreadTeam team(2);
    OrderedLoop loop = loop_of({{}, ordered ? std::vector<std::int32_t>{0} : std::vector<std::int32_t>{}}, {0.9, 0.1});
    std::atomic<bool> zero_done{false};
    bool after_zero = false;
    team.for_each(loop, [&](Index i) {
      if (i == 1) {
        after_zero = zero_done;
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      zero_done = true;
    });
    EXPECT_EQ(after_zero, ordered);
  }
}

// Whoever waits does what he waits for himself, if nobody else has begun it: here each item comes after one of another
// share, and the team has more threads than there are processors.
TEST(OrderedLoop, gets_on_where_every_item_waits_for_another_share) {
  ThreadTeam team(8);
  OrderedLoop loop;
  for (std::int32_t i = 0; i < 200; ++i)
    loop.add(i > 0 ? std::vector<std::int32_t>{i - 1} : std::vector<std::int32_t>{}, (i * 5 % 8 + 0.5) / 8.0);
  std::vector<Index> done;
  for (int round = 0; round < 20; ++round) team.for_each(loop, [&](Index i) { done.push_back(i); });
  ASSERT_EQ(done.size(), 4000U);
  for (std::size_t k = 0; k < done.size(); ++k) ASSERT_EQ(done[k], static_cast<Index>(k % 200));
}

TEST(OrderedLoop, passes_on_what_items_throw_and_can_be_run_again_by_another_team) {
  OrderedLoop loop;
  for (std::int32_t i = 0; i < 100; ++i)
    loop.add(i > 10 ? std::vector<std::int32_t>{i - 10} : std::vector<std::int32_t>{}, i / 100.0);
  for (const int threads : {2, 1, 3}) {
    ThreadTeam team(threads);
    std::atomic<Index> done{0};
    EXPECT_THROW(team.for_each(loop,
                               [&](Index i) {
                                 if (i == 33) throw std::runtime_error("thirty-three");
                                 ++done;
                               }),
                 std::runtime_error);
    EXPECT_EQ(done, 99);
    team.for_each(loop, [&](Index) { ++done; });
    EXPECT_EQ(done, 199);
  }
}

}  // namespace
}  // namespace tempi
