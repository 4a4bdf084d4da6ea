// SPDX-License-Identifier: Apache-2.0
#include "tempi/schedule/event_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/meshes.hpp"

namespace tempi {
namespace {

// The slow obvious reference: all times in a set, ordered by (time, id).
class Reference {
 public:
  explicit Reference(const std::vector<double>& times) : times_(times) {
    for (std::size_t i = 0; i < times.size(); ++i) order_.insert({times[i], static_cast<Index>(i)});
  }
  void reschedule(Index id, double time) {
    auto& old = times_[static_cast<std::size_t>(id)];
    order_.erase({old, id});
    old = time;
    order_.insert({time, id});
  }
  double next_time() const { return order_.begin()->first; }
  Index next_id() const { return order_.begin()->second; }

 private:
  std::vector<double> times_;
  std::set<std::pair<double, Index>> order_;
};

void expect_same(const EventQueue& queue, const Reference& reference) {
  ASSERT_EQ(queue.empty(), reference.next_time() == EventQueue::never);
  ASSERT_EQ(queue.next_time(), reference.next_time());
  if (!queue.empty()) {
    ASSERT_EQ(queue.next_id(), reference.next_id());
  }
}

class EventQueueOfSize : public testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Schedule, EventQueueOfSize, testing::Values(1, 2, 3, 5, 64, 1000));

// Times are drawn from a few values, so that ties abound; one draw in eight is `never`.
TEST_P(EventQueueOfSize, agrees_with_the_reference_under_random_reschedules) {
  const Index n = GetParam();
  test::Random random(1234);
  const auto draw = [&] { return random.below(8) == 0 ? EventQueue::never : static_cast<double>(random.below(n + 3)); };
  std::vector<double> times(static_cast<std::size_t>(n));
  for (double& t : times) t = draw();
  EventQueue queue(times);
  Reference reference(times);
  expect_same(queue, reference);
  for (int i = 0; i < 100000; ++i) {
    const Index id = random.below(n);
    const double time = draw();
    queue.reschedule(id, time);
    reference.reschedule(id, time);
    expect_same(queue, reference);
    if (HasFatalFailure()) FAIL() << "after " << i << " reschedules";
  }
}

// As an integrator uses it: the next one acts and comes back a step later.
TEST_P(EventQueueOfSize, plays_steps_of_any_ratio_in_order_of_time_then_id) {
  const Index n = GetParam();
  test::Random random(99);
  std::vector<double> step(static_cast<std::size_t>(n));
  for (double& s : step) s = static_cast<double>(1 + random.below(4)) * 0.25;
  EventQueue queue(step);
  std::vector<double> done(step.size(), 0.0);
  std::pair<double, Index> last{0.0, -1};
  for (int i = 0; i < 20000; ++i) {
    const std::pair<double, Index> now{queue.next_time(), queue.next_id()};
    ASSERT_LT(last, now);
    last = now;
    const auto k = static_cast<std::size_t>(now.second);
    ASSERT_EQ(now.first, ++done[k] * step[k]);
    queue.reschedule(now.second, (done[k] + 1.0) * step[k]);
  }
}

TEST(EventQueue, breaks_ties_by_the_smaller_id) {
  EventQueue queue({2.0, 1.0, 1.0, 1.0});
  for (const Index expected : {1, 2, 3, 0}) {
    EXPECT_EQ(queue.next_id(), expected);
    queue.reschedule(expected, EventQueue::never);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, of_absent_terms_only_is_empty_until_one_enters) {
  EventQueue queue({EventQueue::never, EventQueue::never, EventQueue::never});
  EXPECT_TRUE(queue.empty());
  queue.reschedule(2, 5.0);
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.next_id(), 2);
  EXPECT_EQ(queue.next_time(), 5.0);
}

TEST(EventQueue, of_nothing_is_empty) { EXPECT_TRUE(EventQueue(std::vector<double>{}).empty()); }

}  // namespace
}  // namespace tempi
