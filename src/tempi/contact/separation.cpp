// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/separation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tempi {
namespace {

using Point = std::array<double, 3>;

constexpr double rounding = std::numeric_limits<double>::epsilon();

double size_of(const Point& x) { return std::max({std::abs(x[0]), std::abs(x[1]), std::abs(x[2])}); }

auto first_at_or_after(Path path, double t) { return std::ranges::lower_bound(path, t, {}, &Bend::time); }

// A frame that goes with a vertex from one end of a span of time to the other, straight: what simplices do together
// does not part or join them.
struct Frame {
  double from, rate;  // 1 / duration
  Point begin, way;

  Point operator()(double t, const Point& x) const {
    const double s = (t - from) * rate;
    return {x[0] - (begin[0] + s * way[0]), x[1] - (begin[1] + s * way[1]), x[2] - (begin[2] + s * way[2])};
  }
};

struct Question {
  SimplexPair pair;
  std::span<const Path> paths;
  double distance;

  std::size_t size() const { return static_cast<std::size_t>(pair.size()); }

  Frame frame(double from, double to) const {
    const Point begin = place_at(paths[0], from), end = place_at(paths[0], to);
    return {from,
            to > from ? 1.0 / (to - from) : 0.0,
            begin,
            {end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]}};
  }

  // visit(time, place) where a vertex bends from `from` to `to`, both included.
  template <class Visit>
  void each_place(std::size_t vertex, double from, double to, Visit&& visit) const {
    const Path path = paths[vertex];
    visit(from, place_at(path, from));
    for (auto bend = first_at_or_after(path, from); bend != path.end() && bend->time <= to; ++bend)
      visit(bend->time, bend->place);
    visit(to, place_at(path, to));
  }

  // Whether this direction keeps them apart all the time.
  bool separates(const Point& n, double from, double to) const {
    const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    const Frame frame_of = frame(from, to);
    double low = std::numeric_limits<double>::infinity(), high = -low, reach = 0.0;
    bool finite = true;
    for (std::size_t i = 0; i < size(); ++i) {
      const bool of_first = i < static_cast<std::size_t>(pair.first);
      each_place(i, from, to, [&](double t, const Point& x) {
        const Point y = frame_of(t, x);
        const double along = n[0] * y[0] + n[1] * y[1] + n[2] * y[2];
        reach = std::max(reach, size_of(x));
        finite = finite && std::isfinite(along);
        low = of_first ? std::min(low, along) : low;
        high = of_first ? high : std::max(high, along);
      });
    }
    // Interpolated places and the frame are off by less than 8 roundings of their size each, differences and products
    // by less than 8 more, in each of three components.
    const double error = 128.0 * rounding * reach;
    return finite && low - high > length * (distance * (1.0 + 8.0 * rounding) + error);
  }

  // How far any goes within the span.
  double motion(double from, double to) const {
    const Frame frame_of = frame(from, to);
    double most = 0.0;
    for (std::size_t i = 0; i < size(); ++i) {
      const Point first = frame_of(from, place_at(paths[i], from));
      each_place(i, from, to, [&](double t, const Point& x) {
        const Point y = frame_of(t, x);
        for (std::size_t c = 0; c < 3; ++c) most = std::max(most, std::abs(y[c] - first[c]));
      });
    }
    return most;
  }

  bool closer(double from, double to) const {
    constexpr double small = 1e-6;
    const double middle = 0.5 * (from + to);
    std::array<Point, 4> x{};
    for (std::size_t i = 0; i < size(); ++i) x[i] = place_at(paths[i], middle);
    const ClosestPoints points = closest_points(pair, std::span(x).first(size()));
    if (!(points.distance > distance * (1.0 + small))) return true;
    if (separates(points.apart, from, to)) return false;
    if (!(from < middle && middle < to)) return true;
    if (!(motion(from, to) > 1e-3 * small * points.distance)) return true;
    return closer(from, middle) || closer(middle, to);
  }
};

}  // namespace

Point place_at(Path path, double t) {
  const auto next = first_at_or_after(path, t);
  if (next == path.end()) return path.back().place;
  if (next == path.begin() || next->time == t) return next->place;
  const auto last = next - 1;
  const double s = (t - last->time) / (next->time - last->time);
  Point x;
  for (std::size_t c = 0; c < 3; ++c) x[c] = last->place[c] + s * (next->place[c] - last->place[c]);
  return x;
}

Chord chord_of(Path path, double from, double to) {
  Chord chord{place_at(path, from), place_at(path, to), 0.0};
  const double rate = to > from ? 1.0 / (to - from) : 0.0;
  double squared = 0.0;
  for (auto bend = first_at_or_after(path, from); bend != path.end() && bend->time <= to; ++bend) {
    const double s = (bend->time - from) * rate;
    double off = 0.0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double d = bend->place[c] - (chord.begin[c] + s * (chord.end[c] - chord.begin[c]));
      off += d * d;
    }
    squared = std::max(squared, off);
  }
  chord.stray = std::sqrt(squared);
  return chord;
}

namespace {

bool chords_stay_within(SimplexPair pair, std::span<const Chord> chords, double distance) {
  const auto size = static_cast<std::size_t>(pair.size());
  double stray = 0.0, reach = 0.0;
  std::array<std::array<Point, 4>, 2> ends{};
  for (std::size_t i = 0; i < size; ++i) {
    ends[0][i] = chords[i].begin, ends[1][i] = chords[i].end;
    stray += chords[i].stray;  // of the second's vertices one would do
    reach = std::max({reach, size_of(chords[i].begin), size_of(chords[i].end)});
  }
  for (const auto& end : ends) {
    const double far = closest_points(pair, std::span(end).first(size)).distance + stray;
    if (!(far * (1.0 + 8.0 * rounding) + 256.0 * rounding * (reach + stray) < distance)) return false;
  }
  return true;
}

}  // namespace

// Of one direction: what the one is beyond the other is the least at the beginning or at the end, as it is concave
// between.
bool chords_stay_apart(SimplexPair pair, std::span<const Chord> chords, double distance) {
  const auto size = static_cast<std::size_t>(pair.size()), first = static_cast<std::size_t>(pair.first);
  if (pair.within) return chords_stay_within(pair, chords, distance);
  std::array<Point, 4> middle{};
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t c = 0; c < 3; ++c) middle[i][c] = 0.5 * (chords[i].begin[c] + chords[i].end[c]);
  const ClosestPoints points = closest_points(pair, std::span(middle).first(size));
  if (!(points.distance > distance)) return false;
  const Point& n = points.apart;
  std::array<double, 2> low, high, stray{};
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  double reach = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::array<const Point*, 2> at = {&chords[i].begin, &chords[i].end};
    for (std::size_t k = 0; k < 2; ++k) {
      const Point& x = *at[k];
      const double along = n[0] * x[0] + n[1] * x[1] + n[2] * x[2];
      reach = std::max(reach, size_of(x));
      if (i < first)
        low[k] = std::min(low[k], along);
      else
        high[k] = std::max(high[k], along);
    }
    double& of_side = stray[i < first ? 0 : 1];
    of_side = std::max(of_side, chords[i].stray);
  }
  // Places, products and strays are off by less than the roundings that separates() counts.
  const double error = 256.0 * rounding * (reach + stray[0] + stray[1]);
  const double needed = points.distance * ((distance + stray[0] + stray[1]) * (1.0 + 8.0 * rounding) + error);
  return low[0] - high[0] > needed && low[1] - high[1] > needed;
}

namespace {

bool ever_farther(SimplexPair pair, std::span<const Path> paths, double from, double to, double distance) {
  // With the bend of one of them: where it jumps it has two places at one time.
  const auto goes_beyond = [&](double t, std::size_t bent, const Point& place) {
    std::array<Point, 4> x{};
    double reach = 0.0;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      x[i] = i == bent ? place : place_at(paths[i], t);
      reach = std::max(reach, size_of(x[i]));
    }
    const double far = closest_points(pair, std::span(x).first(paths.size())).distance;
    return !(far * (1.0 + 8.0 * rounding) + 256.0 * rounding * reach < distance);
  };
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (const double t : {from, to})
      if (goes_beyond(t, i, place_at(paths[i], t))) return true;
    for (auto bend = first_at_or_after(paths[i], from); bend != paths[i].end() && bend->time <= to; ++bend)
      if (goes_beyond(bend->time, i, bend->place)) return true;
  }
  return false;
}

}  // namespace

bool ever_closer(SimplexPair pair, std::span<const Path> paths, double from, double to, double distance) {
  if (pair.within) return ever_farther(pair, paths, from, to, distance);
  return Question{pair, paths, distance}.closer(from, to);
}

}  // namespace tempi
