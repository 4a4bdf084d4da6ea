// SPDX-License-Identifier: Apache-2.0
#include "tempi/schedule/event_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "support/meshes.hpp"

namespace tempi {
namespace {

using Slot = EventQueue::Slot;

// Items 0, 1, ... of one source, in slots of the same numbers.
EventQueue queue_of(const std::vector<double>& times) {
  EventQueue queue;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto item = static_cast<std::int32_t>(i);
    EXPECT_EQ(queue.add({0, {item, 0, 0, 0}}, times[i]), item);
  }
  return queue;
}

// The slow obvious reference: all events in a set, ordered by (time, key).
class Reference {
 public:
  void set(const EventKey& key, double time) {
    remove(key);
    time_[key] = time;
    order_.insert({time, key});
  }
  void remove(const EventKey& key) {
    if (const auto old = time_.find(key); old != time_.end()) {
      order_.erase({old->second, key});
      time_.erase(old);
    }
  }
  bool empty() const { return order_.empty() || order_.begin()->first == EventQueue::never; }
  double next_time() const { return order_.begin()->first; }
  const EventKey& next_key() const { return order_.begin()->second; }

 private:
  std::map<EventKey, double> time_;
  std::set<std::pair<double, EventKey>> order_;
};

void expect_same(const EventQueue& queue, const Reference& reference) {
  ASSERT_EQ(queue.empty(), reference.empty());
  if (queue.empty()) return;
  ASSERT_EQ(queue.next_time(), reference.next_time());
  ASSERT_EQ(queue.key(queue.next()), reference.next_key());
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
  EventQueue queue = queue_of(times);
  Reference reference;
  for (Index i = 0; i < n; ++i) reference.set(queue.key(static_cast<Slot>(i)), times[static_cast<std::size_t>(i)]);
  expect_same(queue, reference);
  for (int i = 0; i < 100000; ++i) {
    const auto slot = static_cast<Slot>(random.below(n));
    const double time = draw();
    queue.reschedule(slot, time);
    reference.set(queue.key(slot), time);
    expect_same(queue, reference);
    if (HasFatalFailure()) FAIL() << "after " << i << " reschedules";
  }
}

// Events come, move and go; the queue grows and its slots change hands. Keys of two kinds, drawn at random: who came
// first must not matter.
TEST_P(EventQueueOfSize, agrees_with_the_reference_while_events_come_and_go) {
  const Index n = GetParam();
  test::Random random(77);
  EventQueue queue;
  Reference reference;
  std::map<EventKey, Slot> slots;
  for (int i = 0; i < 50000; ++i) {
    EventKey key;
    key.source = static_cast<std::int32_t>(random.below(2));
    for (auto& part : key.item) part = static_cast<std::int32_t>(random.below(n));
    if (i % 3 == 0 && !slots.empty()) key = std::next(slots.begin(), random.below(std::ssize(slots)))->first;
    const double time = random.below(8) == 0 ? EventQueue::never : static_cast<double>(random.below(n + 3));
    const auto found = slots.find(key);
    if (found == slots.end() && std::ssize(slots) < n) {
      slots.emplace(key, queue.add(key, time));
      reference.set(key, time);
    } else if (found != slots.end() && random.below(3) == 0) {
      queue.remove(found->second);
      reference.remove(key);
      slots.erase(found);
    } else if (found != slots.end()) {
      queue.reschedule(found->second, time);
      reference.set(key, time);
    }
    expect_same(queue, reference);
    if (HasFatalFailure()) FAIL() << "after " << i << " changes";
  }
  std::vector<Slot> expected;
  for (const auto& [key, slot] : slots) expected.push_back(slot);
  std::ranges::sort(expected);
  EXPECT_EQ(queue.slots(), expected);
}

// As an integrator uses it: the next one acts and comes back a step later.
TEST_P(EventQueueOfSize, plays_steps_of_any_ratio_in_order_of_time_then_key) {
  const Index n = GetParam();
  test::Random random(99);
  std::vector<double> step(static_cast<std::size_t>(n));
  for (double& s : step) s = static_cast<double>(1 + random.below(4)) * 0.25;
  EventQueue queue = queue_of(step);
  std::vector<double> done(step.size(), 0.0);
  std::pair<double, Slot> last{0.0, -1};
  for (int i = 0; i < 20000; ++i) {
    const std::pair<double, Slot> now{queue.next_time(), queue.next()};
    ASSERT_LT(last, now);
    last = now;
    const auto k = static_cast<std::size_t>(now.second);
    ASSERT_EQ(now.first, ++done[k] * step[k]);
    queue.reschedule(now.second, (done[k] + 1.0) * step[k]);
  }
}

TEST(EventQueue, breaks_ties_by_the_smaller_key_not_by_the_slot) {
  EventQueue queue;
  const Slot late = queue.add({1, {7, 0, 0, 0}}, 1.0);
  const Slot early = queue.add({0, {9, 0, 0, 0}}, 1.0);
  const Slot pair = queue.add({0, {9, 0, 0, 1}}, 1.0);
  for (const Slot expected : {early, pair, late}) {
    EXPECT_EQ(queue.next(), expected);
    queue.remove(expected);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, of_absent_terms_only_is_empty_until_one_enters) {
  EventQueue queue = queue_of({EventQueue::never, EventQueue::never, EventQueue::never});
  EXPECT_TRUE(queue.empty());
  queue.reschedule(2, 5.0);
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.next(), 2);
  EXPECT_EQ(queue.next_time(), 5.0);
}

TEST(EventQueue, of_nothing_is_empty) { EXPECT_TRUE(EventQueue().empty()); }

}  // namespace
}  // namespace tempi
