// SPDX-License-Identifier: Apache-2.0
#include "tempi/schedule/event_loop.hpp"

namespace tempi {

std::int32_t EventLoop::add(Source& source) {
  sources_.push_back(&source);
  return static_cast<std::int32_t>(sources_.size()) - 1;
}

EventLoop::Slot EventLoop::add(std::int32_t source, const Item& item) {
  const double time = sources_[static_cast<std::size_t>(source)]->predict(item);
  return queue_.add({source, item}, time);
}

void EventLoop::predict_again(Slot slot) { queue_.reschedule(slot, source_of(slot).predict(queue_.key(slot).item)); }

void EventLoop::predict_again(std::span<const Slot> slots, ThreadTeam& team) {
  times_.resize(slots.size());
  team.for_each(std::ssize(slots), [&](Index i) {
    const Slot slot = slots[static_cast<std::size_t>(i)];
    times_[static_cast<std::size_t>(i)] = source_of(slot).predict(queue_.key(slot).item);
  });
  for (std::size_t i = 0; i < slots.size(); ++i) queue_.reschedule(slots[i], times_[i]);
}

void EventLoop::predict_all() {
  for (const Slot slot : queue_.slots()) predict_again(slot);
}

void EventLoop::bend(NodeId node, double t) {
  for (Source* source : sources_) source->line_bent(node, t);
}

void EventLoop::run_until(double t_end) {
  coming_back_.set_out();
  while (queue_.next_time() < t_end && !coming_back_.before(queue_.next_time())) happen();
}

void EventLoop::happen() {
  const double t = queue_.next_time();
  const std::int32_t source = queue_.key(queue_.next()).source;
  Source& acting = *sources_[static_cast<std::size_t>(source)];
  const bool together = acting.acts_together();
  due_.clear();
  do {
    const Slot slot = queue_.next();
    due_.push_back({slot, queue_.key(slot).item});
    if (together) queue_.reschedule(slot, never);
  } while (together && queue_.next_time() == t && queue_.key(queue_.next()).source == source);
  const auto again = [&] {
    for (const Event& event : due_) predict_again(event.slot);
  };
  try {
    acting.act(t, due_);
  } catch (...) {
    again();
    throw;
  }
  again();
}

}  // namespace tempi
