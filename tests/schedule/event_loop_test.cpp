// SPDX-License-Identifier: Apache-2.0
// The loop with mock sources: nothing here has masses.
#include "tempi/schedule/event_loop.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tempi {
namespace {

using Item = EventLoop::Item;
using Log = std::vector<std::tuple<double, std::string, std::int32_t>>;  // time, source, item

// Every item at multiples of a step of its own.
class Clockwork final : public EventLoop::Source {
 public:
  Clockwork(std::string name, std::map<std::int32_t, double> steps, Log& log)
      : name_(std::move(name)), steps_(std::move(steps)), log_(log) {}
  double predict(const Item& item) override { return (done[item[0]] + 1) * steps_.at(item[0]); }
  void act(double t, std::span<const EventLoop::Event> due) override {
    calls.push_back(due.size());
    for (const auto& event : due) {
      if (fail_at == t) throw std::runtime_error("refused");
      log_.emplace_back(t, name_, event.item[0]);
      ++done[event.item[0]];
    }
  }
  bool acts_together() const override { return together; }

  std::map<std::int32_t, int> done;
  std::vector<std::size_t> calls;
  bool together = false;
  double fail_at = -1.0;

 private:
  std::string name_;
  std::map<std::int32_t, double> steps_;
  Log& log_;
};

void add_all(EventLoop& loop, std::int32_t source, std::initializer_list<std::int32_t> items) {
  for (const std::int32_t item : items) loop.add(source, {item, 0, 0, 0});
}

TEST(EventLoop, plays_events_in_order_of_time_source_and_item) {
  Log log;
  Clockwork first("a", {{0, 1.0}, {1, 0.5}}, log), second("b", {{0, 0.5}}, log);
  EventLoop loop;
  const auto a = loop.add(first), b = loop.add(second);
  add_all(loop, b, {0});
  add_all(loop, a, {1, 0});  // the order of adding must not matter
  loop.run_until(1.5);
  const Log expected = {{0.5, "a", 1}, {0.5, "b", 0}, {1.0, "a", 0}, {1.0, "a", 1}, {1.0, "b", 0}};
  EXPECT_EQ(log, expected);
}

TEST(EventLoop, leaves_no_trace_of_stopping) {
  Log once, twice;
  for (Log* log : {&once, &twice}) {
    Clockwork clockwork("a", {{0, 0.3}, {1, 0.7}, {2, 0.11}}, *log);
    EventLoop loop;
    add_all(loop, loop.add(clockwork), {0, 1, 2});
    if (log == &twice)
      for (int k = 1; k < 100; ++k) loop.run_until(0.03 * k);
    loop.run_until(5.0);
  }
  EXPECT_EQ(once, twice);
}

TEST(EventLoop, comes_back_between_instants_where_told_to) {
  Log once, often;
  Index times = 0;
  for (Log* log : {&once, &often}) {
    Clockwork clockwork("a", {{0, 0.01}, {1, 0.01}, {2, 0.011}}, *log);  // two of them always at one time
    EventLoop loop;
    add_all(loop, loop.add(clockwork), {0, 1, 2});
    Index asked = 0;
    if (log == &often) loop.coming_back().when([&] { return ++asked % 2 == 0; });
    for (;;) {
      loop.run_until(5.0);
      const double at = loop.coming_back().at();
      if (at == EventLoop::never) break;
      ++times;
      ASSERT_FALSE(log->empty());
      EXPECT_LT(std::get<0>(log->back()), at);
    }
  }
  EXPECT_EQ(once, often);
  EXPECT_GT(times, 5);
}

TEST(EventLoop, gives_a_source_that_acts_together_all_of_an_instant) {
  Log log;
  Clockwork clockwork("a", {{0, 1.0}, {1, 0.5}, {2, 0.25}}, log);
  clockwork.together = true;
  EventLoop loop;
  add_all(loop, loop.add(clockwork), {0, 1, 2});
  loop.run_until(1.25);
  EXPECT_EQ(clockwork.calls, (std::vector<std::size_t>{1, 2, 1, 3}));
}

TEST(EventLoop, asks_again_for_what_has_not_happened_when_a_source_throws) {
  for (const bool together : {false, true}) {
    Log log;
    Clockwork clockwork("a", {{0, 1.0}, {1, 1.0}}, log);
    clockwork.together = together;
    EventLoop loop;
    add_all(loop, loop.add(clockwork), {0, 1});
    clockwork.fail_at = 2.0;
    EXPECT_THROW(loop.run_until(3.5), std::runtime_error);
    clockwork.fail_at = -1.0;
    loop.run_until(3.5);
    const Log expected = {{1.0, "a", 0}, {1.0, "a", 1}, {2.0, "a", 0}, {2.0, "a", 1}, {3.0, "a", 0}, {3.0, "a", 1}};
    EXPECT_EQ(log, expected) << together;
  }
}

// Points run along straight lines towards walls and bounce; another source pushes one of them now and then, which bends
// its line. Whoever sees the same line in the end must have heard of it.
class Walls final : public EventLoop::Source {
 public:
  explicit Walls(EventLoop& loop) : loop_(loop) {}
  struct Point {
    double x = 0.5, v, t = 0.0;  // where it was last
  };
  std::vector<Point> points;
  std::vector<EventLoop::Slot> slots;
  std::vector<std::pair<double, std::int32_t>> bounces;

  double predict(const Item& item) override {
    const Point& p = points[static_cast<std::size_t>(item[0])];
    if (p.v == 0.0) return EventLoop::never;
    return p.t + ((p.v > 0.0 ? 1.0 : 0.0) - p.x) / p.v;
  }
  void act(double t, std::span<const EventLoop::Event> due) override {
    Point& p = points[static_cast<std::size_t>(due.front().item[0])];
    p = {p.v > 0.0 ? 1.0 : 0.0, -p.v, t};
    bounces.emplace_back(t, due.front().item[0]);
  }
  void line_bent(NodeId node, double) override { loop_.predict_again(slots[static_cast<std::size_t>(index(node))]); }

 private:
  EventLoop& loop_;
};

class Pusher final : public EventLoop::Source {
 public:
  Pusher(EventLoop& loop, Walls& walls) : loop_(loop), walls_(walls) {}
  double predict(const Item&) override { return done_ == 0 ? 0.25 : EventLoop::never; }
  void act(double t, std::span<const EventLoop::Event>) override {
    ++done_;
    auto& p = walls_.points[1];
    p = {p.x + p.v * (t - p.t), 0.5, t};
    loop_.bend(NodeId{1}, t);
  }

 private:
  EventLoop& loop_;
  Walls& walls_;
  int done_ = 0;
};

TEST(EventLoop, tells_sources_when_a_line_bends) {
  EventLoop loop;
  Walls walls(loop);
  Pusher pusher(loop, walls);
  const auto w = loop.add(walls), p = loop.add(pusher);
  walls.points = {{.v = 1.0}, {.v = 0.0}};
  for (std::int32_t k : {0, 1}) walls.slots.push_back(loop.add(w, {k, 0, 0, 0}));
  loop.add(p, {});
  loop.run_until(3.6);
  // The first bounces at 0.5, 1.5, 2.5, 3.5; the second is pushed at 0.25 and arrives at 1.25, then at 3.25.
  const std::vector<std::pair<double, std::int32_t>> expected = {{0.5, 0}, {1.25, 1}, {1.5, 0},
                                                                 {2.5, 0}, {3.25, 1}, {3.5, 0}};
  EXPECT_EQ(walls.bounces, expected);
}

// Each event leaves one behind and takes another away, for the instant in hand or later.
class Chain final : public EventLoop::Source {
 public:
  explicit Chain(EventLoop& loop) : loop_(loop) {}
  double predict(const Item& item) override { return done_.contains(item[0]) ? EventLoop::never : 0.1 * (item[0] / 2); }
  void act(double t, std::span<const EventLoop::Event> due) override {
    const std::int32_t k = due.front().item[0];
    order.emplace_back(t, k);
    done_.emplace(k, true);
    if (k < 999) slots_.emplace(k + 1, loop_.add(0, {k + 1, 0, 0, 0}));
    if (k > 1) loop_.remove(slots_.at(k - 1));
  }
  void begin() { slots_.emplace(0, loop_.add(0, {0, 0, 0, 0})); }
  std::vector<std::pair<double, std::int32_t>> order;

 private:
  EventLoop& loop_;
  std::map<std::int32_t, bool> done_;
  std::map<std::int32_t, EventLoop::Slot> slots_;
};

TEST(EventLoop, lets_events_come_and_go_while_it_runs) {
  EventLoop loop;
  Chain chain(loop);
  loop.add(chain);
  chain.begin();
  loop.run_until(1000.0);
  ASSERT_EQ(chain.order.size(), 1000u);
  for (int k = 0; k < 1000; ++k)
    EXPECT_EQ(chain.order[static_cast<std::size_t>(k)], (std::pair(0.1 * (k / 2), static_cast<std::int32_t>(k))));
}

}  // namespace
}  // namespace tempi
