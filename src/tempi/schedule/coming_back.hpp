// SPDX-License-Identifier: Apache-2.0
// When a loop over events comes back to whoever runs it before the time it was to reach: between two events hardly any
// time may pass, and nobody else could be heard meanwhile.
#pragma once

#include <functional>
#include <limits>
#include <utility>

namespace tempi {

class ComingBack {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  // `enough` is asked every few events; true: come back.
  void when(std::function<bool()> enough) { enough_ = std::move(enough); }

  void set_out() {
    at_ = never;
    last_ = -never;
  }

  // Whether to come back before the event at time t, once everything of the times before it has happened: at least one.
  bool before(double t) {
    constexpr int few = 64;
    const double last = std::exchange(last_, t);
    if (!enough_ || ++events_ < few || !(t > last) || last == -never) return false;
    events_ = 0;
    if (!enough_()) return false;
    at_ = t;
    return true;
  }

  double at() const { return at_; }  // of the last time it set out [s]; never: it went all the way

 private:
  std::function<bool()> enough_;
  int events_ = 0;
  double at_ = never, last_ = -never;  // [s]
};

}  // namespace tempi
