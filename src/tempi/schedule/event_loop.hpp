// SPDX-License-Identifier: Apache-2.0
// The loop of everything that happens at times of its own: sources predict when their events happen, act when it is
// their turn, and tell whose predictions no longer hold. No mechanics inside.
//
// Events happen in the order of (time, source, item). What an event is does not depend on when it was found out, so
// neither does the order. An event may be predicted for the time it is at now, and happens then, after those that were
// due.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tempi/core/ids.hpp"
#include "tempi/core/thread_team.hpp"
#include "tempi/schedule/coming_back.hpp"
#include "tempi/schedule/event_queue.hpp"

namespace tempi {

class EventLoop {
 public:
  using Slot = EventQueue::Slot;
  using Item = std::array<std::int32_t, 4>;  // EventKey::item
  static constexpr double never = EventQueue::never;

  struct Event {
    Slot slot;
    Item item;
  };

  class Source {
   public:
    virtual ~Source() = default;

    // When it happens next, from all that is known now [s]; never: not at all.
    virtual double predict(const Item& item) = 0;

    // Makes happen what is due at time t, in the order given: one event, or all of the source at this instant where
    // acts_together(). They are predicted anew afterwards, also where this throws: events that have not happened then
    // must be predicted for the same time again. May add and remove events, others than those due.
    virtual void act(double t, std::span<const Event> due) = 0;
    virtual bool acts_together() const { return false; }

    // The line along which a node moves bent at time t: EventLoop::predict_again whatever leans on it.
    virtual void line_bent(NodeId /*node*/, double /*t*/) {}
  };

  // `source` must outlive the loop. Of sources with events at one time the first added acts first. Returns its number.
  std::int32_t add(Source& source);

  // A new event of a source, which is asked for its time.
  Slot add(std::int32_t source, const Item& item);
  static Item item_of(TermId term) { return {static_cast<std::int32_t>(index(term)), 0, 0, 0}; }
  static TermId term_of(const Item& item) { return make_id<TermId>(item[0]); }
  void remove(Slot slot) { queue_.remove(slot); }

  void predict_again(Slot slot);
  // Several of one source, whose predictions of them do not touch the same data, on all threads.
  void predict_again(std::span<const Slot> slots, ThreadTeam& team);
  void predict_all();  // as after a checkpoint

  // Tells every source.
  void bend(NodeId node, double t);

  // Everything that happens at times < t_end, or before it came back.
  void run_until(double t_end);
  ComingBack& coming_back() { return coming_back_; }
  const ComingBack& coming_back() const { return coming_back_; }

 private:
  Source& source_of(Slot slot) const { return *sources_[static_cast<std::size_t>(queue_.key(slot).source)]; }
  void happen();

  std::vector<Source*> sources_;
  EventQueue queue_;
  ComingBack coming_back_;
  std::vector<Event> due_;
  std::vector<double> times_;
};

}  // namespace tempi
