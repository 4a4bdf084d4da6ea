// SPDX-License-Identifier: Apache-2.0
// Steps that solve an energy equation R(h) = 0: the root nearest to the last step, or the verdict that there is none.
//
// Without a root: the step of least |R| within bounds, after Kane, Marsden, Ortiz (1999), whom Lew, Marsden, Ortiz,
// West (2004) cite for it in section 6.1.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tempi {

// How far a step that is solved for may go, in multiples of the nominal one.
struct StepBounds {
  double least = 0.25;   // > 0, <= 1
  double largest = 4.0;  // >= 1
};
void check(const StepBounds& bounds);  // throws InputError

struct FoundStep {
  double step;
  double residual;  // R(step)
  bool solved;      // R changes its sign there, or is within the resolution
};

// R: double(double h), NaN where it cannot be evaluated; |R| <= resolution counts as zero. R is sampled on both sides
// of the last step, from 1 % to 15 % apart, until it changes its sign between two samples or at the extremum between
// three; what it does twice between neighbouring samples is missed. A root is polished until |R| <= resolution or no
// number lies between its bounds.
template <class Residual>
class StepSearch {
 public:
  // 0 < least <= largest.
  StepSearch(Residual R, double least, double largest, double resolution)
      : R_(std::move(R)), least_(least), largest_(largest), resolution_(resolution) {}

  FoundStep from(double last) {
    const Sample start = at(std::clamp(last, least_, largest_));
    if (is_zero(start)) return {start.h, start.r, true};
    Side up{start, {}, largest_}, down{start, {}, least_};
    for (double spacing = 0.01; up.open || down.open; spacing = std::min(2.0 * spacing, 0.15)) {
      if (const auto root = look(up, down, 1.0 + spacing)) return {root->h, root->r, true};
      if (const auto root = look(down, up, 1.0 / (1.0 + spacing))) return {root->h, root->r, true};
    }
    return {best_.h, best_.r, false};
  }

 private:
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  struct Sample {
    double h = nan, r = nan;
  };
  struct Side {
    Sample outer, inner;  // the last two samples; inner is none until the side has moved
    double limit;
    bool open = true;
  };

  bool is_zero(const Sample& s) const { return std::abs(s.r) <= resolution_; }
  static bool opposite(const Sample& a, const Sample& b) {
    return (a.r < 0.0 && b.r > 0.0) || (a.r > 0.0 && b.r < 0.0);
  }

  Sample at(double h) {
    const Sample s{h, R_(h)};
    if (std::isnan(best_.r) || std::abs(s.r) < std::abs(best_.r)) best_ = s;
    return s;
  }

  // One sample farther out, and whether it brings a root.
  std::optional<Sample> look(Side& side, const Side& other, double factor) {
    if (side.outer.h == side.limit) side.open = false;
    if (!side.open) return std::nullopt;
    const double h = side.outer.h * factor;
    const Sample next = at(factor > 1.0 ? std::min(h, side.limit) : std::max(h, side.limit));
    // Where R cannot be evaluated there is no going on, but back to shorter steps.
    if (std::isnan(next.r)) side.open = factor < 1.0 && std::isnan(side.outer.r);
    const Sample first = std::isnan(side.inner.h) ? other.outer : side.inner, middle = side.outer;
    side.inner = middle;
    side.outer = next;
    if (is_zero(next)) return next;
    if (opposite(middle, next)) return root(middle, next);
    if (std::abs(middle.r) < std::abs(first.r) && std::abs(middle.r) < std::abs(next.r))
      return beyond_extremum(first, middle, next);
    return std::nullopt;
  }

  // Three samples of one sign, the middle one nearest to zero, the first nearest to the last step: follows the vertices
  // of parabolas to the extremum between them, until R has another sign or the vertex stays.
  std::optional<Sample> beyond_extremum(Sample a, Sample b, Sample c) {
    for (int i = 0; i < 20; ++i) {
      const double p = (b.h - a.h) * (b.r - c.r), q = (b.h - c.h) * (b.r - a.r);
      const double h = b.h - 0.5 * ((b.h - a.h) * p - (b.h - c.h) * q) / (p - q);
      if (!(std::abs(h - b.h) > 1e-9 * b.h) || !(h > std::min(a.h, c.h)) || !(h < std::max(a.h, c.h))) break;
      const Sample s = at(h);
      if (is_zero(s)) return s;
      const bool nearer = (s.h > b.h) == (a.h > b.h);  // s lies between a and b
      if (opposite(s, b)) return root(nearer ? a : b, s);
      if (std::abs(s.r) < std::abs(b.r)) {
        (nearer ? c : a) = b;
        b = s;
      } else {
        (nearer ? a : c) = s;
      }
    }
    return std::nullopt;
  }

  // Between samples of opposite sign: regula falsi in the form of Anderson and Bjorck, with a bisection wherever four
  // of its steps have not halved the interval.
  Sample root(Sample a, Sample b) {
    double weight = 1.0, width = std::abs(b.h - a.h);
    Sample best = std::abs(a.r) < std::abs(b.r) ? a : b;
    for (int i = 1; !is_zero(best) && i < 200; ++i) {
      double h = b.h - b.r * (b.h - a.h) / (b.r - weight * a.r);
      if (i % 4 == 0) {
        if (std::abs(b.h - a.h) > 0.5 * width) h = 0.5 * (a.h + b.h);
        width = std::abs(b.h - a.h);
      }
      const double low = std::min(a.h, b.h), high = std::max(a.h, b.h);
      if (!(h > low) || !(h < high)) h = 0.5 * (a.h + b.h);
      if (!(h > low) || !(h < high)) break;
      const Sample c = at(h);
      if (std::isnan(c.r)) break;
      if (std::abs(c.r) < std::abs(best.r)) best = c;
      if (opposite(c, b)) {
        a = b;
        weight = 1.0;
      } else {
        const double kept = 1.0 - c.r / b.r;
        weight *= kept > 0.0 ? kept : 0.5;
      }
      b = c;
    }
    return best;
  }

  Residual R_;
  double least_, largest_, resolution_;
  Sample best_;
};

}  // namespace tempi
