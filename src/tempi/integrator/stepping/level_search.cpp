// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/stepping/level_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/integrator/stepping/quadratic.hpp"

namespace tempi {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), eps = std::numeric_limits<double>::epsilon();
constexpr double wider = 1.5;     // the largest curvature over the mean
constexpr double grazing = 1e-6;  // of the band's width
constexpr double root = 1e-12;    // of the band's width: V at an exit
constexpr double finest = 1e-6;   // of the horizon: V bends no more within, what seems to be is rounding
constexpr Index most_looks = 200'000;
constexpr double longest = 2.0;  // of the horizon where a flight begins: what is farther is another search's

// The first s > 0 at which V + rate s + curvature s^2 / 2 is `level`; not the one at 0 where it is there already.
double time_to(double level, const Look& from, double curvature, bool there) {
  if (!there) return first_positive_root(from.V - level, from.rate, 0.5 * curvature);
  const double s = -2.0 * from.rate / curvature;
  return s > 0.0 ? s : infinity;
}

// Where the cubic through both ends, with their slopes, passes `level`, as a part of the interval: inside before it,
// outside at 1.
double crossing_of_cubic(const Look& a, const Look& b, double level) {
  const double length = b.s - a.s, sign = b.V > level ? 1.0 : -1.0;
  const double f0 = sign * (a.V - level), f1 = sign * (b.V - level);
  const double d0 = sign * a.rate * length, d1 = sign * b.rate * length;
  const double c2 = 3.0 * (f1 - f0) - 2.0 * d0 - d1, c3 = 2.0 * (f0 - f1) + d0 + d1;
  double low = 0.0, high = 1.0, x = f1 > 0.0 && d1 > 0.0 ? 1.0 - f1 / d1 : 0.5;
  for (int i = 0; i < 40; ++i) {
    if (!(x > low && x < high)) x = 0.5 * (low + high);
    const double f = f0 + x * (d0 + x * (c2 + x * c3)), slope = d0 + x * (2.0 * c2 + x * 3.0 * c3);
    (f > 0.0 ? high : low) = x;
    const double next = slope > 0.0 ? x - f / slope : 0.5 * (low + high);
    if (std::abs(next - x) < 1e-12) break;  // the cubic is not V
    x = next;
  }
  return std::clamp(x, 1e-9, 1.0 - 1e-12);
}

// of(0) + ... + of(count - 1), every eighth by itself: compilers add several at once.
template <class Of>
double sum_of_all(std::size_t count, Of&& of) {
  std::array<double, 8> sums{};
  std::size_t k = 0;
  for (; k + sums.size() <= count; k += sums.size())
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += of(k + i);
  for (; k < count; ++k) sums[0] += of(k);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Whether V cannot leave [low, high] between two places, by more than `slack`.
bool stays_within(const Look& a, const Look& b, double low, double high, double slack) {
  const double length = b.s - a.s;
  const double change = sum_of_all(a.rates.size(), [&](std::size_t k) { return std::abs(b.rates[k] - a.rates[k]); });
  // Where V changes by other than its slopes' mean, its curvature is that much somewhere.
  const double hump = 6.0 * std::abs(b.V - a.V - 0.5 * length * (a.rate + b.rate)) / length;
  const double C = wider * std::max(change, hump) / length;
  for (const double sign : {1.0, -1.0}) {
    // sign V <= min(f, g), f = a.V + a.rate x + C x^2/2, g = b.V - b.rate (L - x) + C (L - x)^2/2: largest where they
    // meet
    const double most = sign > 0.0 ? high : -low, fa = sign * a.V, fb = sign * b.V, da = sign * a.rate,
                 db = sign * b.rate;
    const double slope = da - db + C * length;  // of f - g
    const double meet = (fb - fa - db * length + 0.5 * C * length * length) / slope;
    if (!(slope > 0.0) || !(meet > 0.0 && meet < length)) continue;  // an end is the largest
    if (fa + meet * (da + 0.5 * C * meet) > most + slack) return false;
  }
  return true;
}

}  // namespace

LevelSearch::Place LevelSearch::take(Flight& flight, double s) {
  if (spare_.empty()) spare_.push_back(std::make_unique<Look>());
  Place place = std::move(spare_.back());
  spare_.pop_back();
  place->s = s;
  flight.look(s, *place);
  ++looks_;
  if (++looks_here_ > most_looks)
    throw SolveError(
        fmt::format("within {:.6g} s ahead no crossing of the energy's levels is found or ruled out in {} looks: its "
                    "values are too coarse to tell. Choose a larger energy_step.",
                    s, most_looks));
  return place;
}

Exit LevelSearch::ended(Exit exit) {
  give_back(std::move(from_));
  for (Place& place : ahead_) give_back(std::move(place));
  ahead_.clear();
  return exit;
}

Exit LevelSearch::first_exit(Flight& flight, double low, double high, Edge standing, double curvature,
                             double resolution) {
  looks_here_ = 0;
  double outside_at = std::numeric_limits<double>::infinity();  // how far ahead it last was
  const double width = high - low, horizon = flight.horizon(), kink = flight.kink();
  from_ = take(flight, 0.0);
  const double tolerance = std::max(root * width, 8.0 * eps * from_->magnitude);
  const auto edge_at = [&](const Look& at) {  // at which it leaves
    const Edge edge = at.V >= high - tolerance && at.rate > 0.0  ? Edge::high
                      : at.V <= low + tolerance && at.rate < 0.0 ? Edge::low
                                                                 : Edge::none;
    if (edge == Edge::none) return edge;
    const double noise =
        sum_of_all(at.rates.size(), [&](std::size_t k) { return std::abs(at.rates[k]); });  // of the rate
    return std::abs(at.rate) > 8.0 * eps * noise ? edge : Edge::none;
  };
  const auto is_outside = [&](const Look& at) { return at.V > high + tolerance || at.V < low - tolerance; };
  // Whether it turns back before it is beyond the edge by more than counts, as a spring's energy does at its bottom.
  const auto grazes = [&](const Look& at, Edge edge, double c) {
    const double outwards = edge == Edge::high ? 1.0 : -1.0,
                 beyond = outwards * (at.V - (edge == Edge::high ? high : low));
    return outwards * c < 0.0 && beyond + 0.5 * at.rate * at.rate / std::abs(c) < grazing * width;
  };
  if (standing == Edge::none && is_outside(*from_)) standing = from_->V > high ? Edge::high : Edge::low;
  if (standing != Edge::none) from_->V = standing == Edge::high ? high : low;
  // Of a parabola it is beyond by so much that it counts, where a straight line would be by twice as much, or never.
  const auto leaves = [&](const Look& at, Edge edge) {
    const double counts = std::max(grazing * width, tolerance), s = 2.0 * counts / std::abs(at.rate);
    if (s > horizon) return false;
    Place there = take(flight, s);
    const bool back = edge == Edge::high ? there->V < high + counts : there->V > low - counts;
    if (back) curvature = (there->rate - at.rate) / s;
    give_back(std::move(there));
    return !back;
  };
  if (const Edge at_once = edge_at(*from_);
      at_once != Edge::none && !grazes(*from_, at_once, curvature) && leaves(*from_, at_once))
    return ended({0.0, at_once, curvature});

  for (;;) {
    if (ahead_.empty()) {
      if (from_->s >= longest * horizon || from_->s >= kink) return ended({from_->s, Edge::none, curvature});
      double step = std::min(time_to(low, *from_, curvature, standing == Edge::low),
                             time_to(high, *from_, curvature, standing == Edge::high));
      step = std::max(std::min(step, horizon), resolution);
      if (!std::isfinite(std::min(step, kink))) return ended({infinity, Edge::none, curvature});
      // What begins where the flight does may end at the kink: one look between, at least.
      ahead_.push_back(take(flight, std::min(from_->s + step, from_->s < 0.5 * kink ? 0.5 * kink : kink)));
    }
    Look& to = *ahead_.back();
    const double length = to.s - from_->s;
    const bool shortest = length <= std::max(resolution, 4.0 * eps * to.s);  // long flights have coarser times
    if (!std::isfinite(to.V) || !std::isfinite(to.rate)) {
      if (shortest) return ended({to.s, Edge::high, curvature});  // the strike there will say what it is
      ahead_.push_back(take(flight, from_->s + 0.5 * length));
      continue;
    }
    const double mean_curvature = (to.rate - from_->rate) / length;
    Edge edge = is_outside(to) ? (to.V > high ? Edge::high : Edge::low) : edge_at(to);
    if (edge != Edge::none && grazes(to, edge, mean_curvature)) edge = Edge::none;
    const bool outside = edge != Edge::none && is_outside(to);
    if (outside && !shortest) {
      const double level = to.V > high ? high : low;
      const bool slow = length > 0.5 * outside_at;  // where V jumps no cubic tells where
      outside_at = length;
      ahead_.push_back(take(flight, from_->s + length * (slow ? 0.5 : crossing_of_cubic(*from_, to, level))));
      continue;
    }
    if (edge != Edge::none) to.V = edge == Edge::high ? high : low;
    if (!shortest && length > finest * horizon && !stays_within(*from_, to, low, high, grazing * width)) {
      ahead_.push_back(take(flight, from_->s + 0.5 * length));
      continue;
    }
    if (std::isfinite(mean_curvature)) curvature = mean_curvature;
    if (edge != Edge::none) return ended({to.s, edge, curvature});
    give_back(std::exchange(from_, std::move(ahead_.back())));
    ahead_.pop_back();
    standing = Edge::none;
  }
}

}  // namespace tempi
