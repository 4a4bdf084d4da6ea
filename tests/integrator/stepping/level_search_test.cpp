// SPDX-License-Identifier: Apache-2.0
// When a smooth function first leaves a band: against brute force, on functions that leave and come back.
#include "tempi/integrator/stepping/level_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>

namespace tempi {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A sum of terms, each a function with its derivative.
class Sum final : public Flight {
 public:
  using Function = std::function<std::pair<double, double>(double)>;
  Sum(std::vector<Function> terms, double horizon) : terms_(std::move(terms)), horizon_(horizon) {}
  void look(double s, Look& at) override {
    at.V = at.rate = at.magnitude = 0.0;
    at.rates.resize(terms_.size());
    for (std::size_t k = 0; k < terms_.size(); ++k) {
      const auto [V, rate] = terms_[k](s);
      at.V += V, at.rate += rate, at.magnitude += std::abs(V);
      at.rates[k] = rate;
    }
  }
  double horizon() const override { return horizon_; }

 private:
  std::vector<Function> terms_;
  double horizon_;
};

Sum::Function wave(double amplitude, double omega, double phase) {
  return [=](double s) {
    return std::pair(amplitude * std::sin(omega * s + phase), amplitude * omega * std::cos(omega * s + phase));
  };
}

// The search ends a flight at a few horizons: go on from there.
Exit first_exit(Flight& flight, double low, double high, Edge standing = Edge::none) {
  class Later final : public Flight {
   public:
    explicit Later(Flight& of) : of_(of) {}
    void look(double s, Look& at) override { of_.look(from + s, at); }
    double horizon() const override { return of_.horizon(); }
    double from = 0.0;

   private:
    Flight& of_;
  } later(flight);
  LevelSearch search;
  for (;;) {
    Exit exit = search.first_exit(later, low, high, standing, 0.0, 1e-15);
    exit.s += later.from;
    if (exit.edge != Edge::none || exit.s == infinity || exit.s > 1e3) return exit;
    later.from = exit.s;
    standing = Edge::none;
  }
}

TEST(LevelSearch, finds_where_a_value_jumps_in_few_looks) {
  for (const double at : {0.3, 1.6e-4, 7e-11}) {
    Sum jump({[=](double s) { return s < at ? std::pair(0.0, 0.0) : std::pair(100.0 + s, 1.0); }}, 1.0);
    LevelSearch search;
    const Exit exit = search.first_exit(jump, 0.0, 1.0, Edge::low, 0.0, 1e-300);
    EXPECT_EQ(exit.edge, Edge::high);
    EXPECT_NEAR(exit.s, at, 1e-14 * at);
    EXPECT_LT(search.looks(), 150);
  }
}

// What bends at once, as at a wall, is not seen from before: the search ends there, and another goes on.
TEST(LevelSearch, ends_at_a_kink_that_it_is_told_of) {
  class Bent final : public Flight {
   public:
    void look(double s, Look& at) override {
      at.rates.assign(2, 0.0);
      const double beyond = std::max(0.0, s - 2.0);
      at.rates = {-0.2, 50.0 * beyond};
      at.V = 0.45 - 0.2 * s + 25.0 * beyond * beyond;
      at.rate = at.rates[0] + at.rates[1];
      at.magnitude = std::abs(at.V);
    }
    double horizon() const override { return infinity; }
    double kink() const override { return 2.0; }
  } bent;
  LevelSearch search;
  const Exit exit = search.first_exit(bent, 0.0, 1.0, Edge::none, 0.0, 1e-15);
  EXPECT_EQ(exit.edge, Edge::none);
  EXPECT_EQ(exit.s, 2.0);
}

// Two bodies touch and part within one flight: V is zero, with its slope, where it begins and where it is told to look.
TEST(LevelSearch, sees_what_begins_with_the_flight_and_is_over_at_the_kink) {
  class Hump final : public Flight {
   public:
    explicit Hump(double kink) : kink_(kink) {}
    void look(double s, Look& at) override {
      const double inside = std::max(0.0, 2.0 - s);
      at.rates = {4.0 * s * inside * (inside - s)};
      at.V = 2.0 * s * s * inside * inside;  // at most 2
      at.rate = at.rates[0];
      at.magnitude = std::abs(at.V);
    }
    double horizon() const override { return 50.0; }
    double kink() const override { return kink_; }

   private:
    double kink_;
  } told(2.0), untold(infinity);
  LevelSearch search;
  const Exit exit = search.first_exit(told, 0.0, 1.0, Edge::low, 0.0, 1e-15);
  EXPECT_EQ(exit.edge, Edge::high);
  EXPECT_NEAR(exit.s, 1.0 - std::sqrt(1.0 - std::sqrt(0.5)), 1e-9);
  EXPECT_EQ(search.first_exit(untold, 0.0, 1.0, Edge::low, 0.0, 1e-15).edge, Edge::none);  // the control
}

TEST(LevelSearch, tells_times_apart_however_far_ahead_they_are) {
  Sum slow({wave(1.0, 1e-10, 0.0)}, 1e9);
  LevelSearch search;
  Exit exit = search.first_exit(slow, -2.0, 0.15, Edge::none, 0.0, 1e-15);
  EXPECT_EQ(exit.edge, Edge::high);
  EXPECT_NEAR(exit.s, std::asin(0.15) * 1e10, 1.0);
  EXPECT_LT(search.looks(), 100);
}

TEST(LevelSearch, finds_the_root_of_a_straight_line_at_once) {
  Sum line({[](double s) { return std::pair(0.25 + 0.5 * s, 0.5); }}, infinity);
  LevelSearch search;
  const Exit exit = search.first_exit(line, 0.0, 1.0, Edge::none, 0.0, 1e-15);
  EXPECT_EQ(Edge::high, exit.edge);
  EXPECT_DOUBLE_EQ(1.5, exit.s);
  EXPECT_EQ(2, search.looks());
}

TEST(LevelSearch, leaves_by_the_edge_it_stands_on_only_after_it_has_been_inside) {
  // From the upper edge down and back: -s + s^2/2 returns to it at s = 2.
  const auto parabola = [](double s) { return std::pair(1.0 - s + 0.5 * s * s, -1.0 + s); };
  Sum flight({parabola}, 10.0);
  Exit exit = first_exit(flight, 0.0, 1.0, Edge::high);
  EXPECT_EQ(Edge::high, exit.edge);
  EXPECT_NEAR(2.0, exit.s, 1e-12);
  exit = first_exit(flight, 0.6, 1.0, Edge::high);  // 1/2 is its least
  EXPECT_EQ(Edge::low, exit.edge);
  EXPECT_NEAR(1.0 - std::sqrt(0.2), exit.s, 1e-12);
}

TEST(LevelSearch, goes_at_once_where_it_stands_on_an_edge_and_moves_outwards) {
  Sum down({[](double s) { return std::pair(-s, -1.0); }}, 10.0);
  const Exit exit = first_exit(down, 0.0, 1.0, Edge::low);
  EXPECT_EQ(Edge::low, exit.edge);
  EXPECT_EQ(0.0, exit.s);
}

TEST(LevelSearch, starts_at_rest_on_a_level_as_an_undeformed_body_does) {
  Sum parabola({[](double s) { return std::pair(0.5 * s * s, s); }}, 0.5);
  const Exit exit = first_exit(parabola, 0.0, 1.0, Edge::low);
  EXPECT_EQ(Edge::high, exit.edge);
  EXPECT_NEAR(std::numbers::sqrt2, exit.s, 1e-12);
}

// At the bottom of V, where its slope is rounding of either sign; without it the level would sink below all there is.
TEST(LevelSearch, does_not_leave_a_bottom_for_what_rounding_takes_for_a_slope) {
  for (const double slope : {-8.6e-24, -1e-12, -1e-9, 1e-12}) {
    const auto bottom = [=](double s) { return std::pair(0.5 * 0.007 * s * s + slope * s, 0.007 * s + slope); };
    Sum flight({bottom}, 0.1);
    const Exit exit = first_exit(flight, 0.0, 2e-3, Edge::low);
    EXPECT_EQ(Edge::high, exit.edge) << slope;
    EXPECT_NEAR(std::sqrt(2.0 * 2e-3 / 0.007), exit.s, 1e-6) << slope;
  }
  // What goes deeper than a millionth of the band leaves it, at once.
  Sum deeper({[](double s) { return std::pair(0.5 * 0.007 * s * s - 1e-5 * s, 0.007 * s - 1e-5); }}, 0.1);
  const Exit exit = first_exit(deeper, 0.0, 2e-3, Edge::low);
  EXPECT_EQ(Edge::low, exit.edge);
  EXPECT_EQ(0.0, exit.s);
}

TEST(LevelSearch, tells_that_what_does_not_move_never_leaves) {
  Sum still({[](double) { return std::pair(0.5, 0.0); }}, infinity);
  const Exit exit = first_exit(still, 0.0, 1.0);
  EXPECT_EQ(Edge::none, exit.edge);
  EXPECT_EQ(infinity, exit.s);
}

TEST(LevelSearch, stops_short_of_a_wall_where_there_is_no_value) {
  Sum wall({[](double s) {
             return std::pair(s < 1.0 ? -std::log(1.0 - s) : std::nan(""), s < 1.0 ? 1.0 / (1.0 - s) : 0.0);
           }},
           5.0);
  const Exit exit = first_exit(wall, 0.0, 3.0, Edge::low);
  EXPECT_EQ(Edge::high, exit.edge);
  EXPECT_NEAR(1.0 - std::exp(-3.0), exit.s, 1e-12);
}

// Thousands of sums of waves with bands they leave and re-enter: the first root is never passed by, and lies where a
// scan with steps a hundredth of the shortest wave's, refined, finds it.
TEST(LevelSearch, skips_no_root_of_random_sums_of_waves) {
  std::mt19937 dice(20261123);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  int exits = 0, double_crossings = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    SCOPED_TRACE(trial);
    std::vector<Sum::Function> terms;
    double fastest = 0.0;
    for (int k = 0; k < 4; ++k) {
      const double omega = std::exp(3.0 * unit(dice));
      fastest = std::max(fastest, omega);
      terms.push_back(wave(unit(dice), omega, 6.3 * unit(dice)));
    }
    Sum flight(std::move(terms), 0.5 / fastest);
    Look at;
    const auto value = [&](double s) {
      flight.look(s, at);
      return at.V;
    };
    const double start = value(0.0), low = start - 0.4 * unit(dice) - 0.01;
    double high = start + 0.4 * unit(dice) + 0.01;
    if (trial % 2 == 0) {  // just below the first summit: it leaves and returns
      double s = 0.0;
      while (s < 10.0 && at.rate <= 0.0) value(s += 0.01 / fastest);
      while (s < 10.0 && at.rate > 0.0) value(s += 0.01 / fastest);
      const double below = (at.V - start) * std::pow(10.0, -1.0 - 4.0 * unit(dice));
      if (s < 10.0 && at.V - below > start + 0.01) high = at.V - below;
    }
    const Exit exit = first_exit(flight, low, high);
    double s = 0.0;
    const double step = 0.01 / fastest;
    while (s < 1e3 && value(s) >= low && value(s) <= high) s += step;
    if (s >= 1e3) {
      EXPECT_GT(exit.s, 1e3);
      continue;
    }
    double inside = s - step, outside = s;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (inside + outside);
      (value(middle) >= low && value(middle) <= high ? inside : outside) = middle;
    }
    ++exits;
    double depth = 0.0, back = outside;  // how far it goes, until it returns or 10 steps on
    for (; back < outside + 10.0 * step; back += 0.02 * step) {
      const double over = std::max(low - value(back), value(back) - high);
      if (over < 0.0) break;
      depth = std::max(depth, over);
    }
    if (back < outside + 10.0 * step) ++double_crossings;
    // What leaves by less than a millionth of the band and returns may be passed by.
    if (depth > 1e-6 * (high - low)) {
      EXPECT_NEAR(outside, exit.s, 1e-9 + 1e-11 / std::sqrt(depth));
    }
  }
  EXPECT_GT(exits, 2000);
  EXPECT_GT(double_crossings, 400) << "the trials are too tame";
}

// The control: the same with a horizon that promises what is not so.
TEST(LevelSearch, passes_by_roots_where_the_horizon_is_wrong) {
  const auto bump = [](double s) {
    const double x = 1e3 * (s - 1.0), V = std::exp(-x * x);
    return std::pair(V, -2e3 * x * V);
  };
  Sum wrong({bump}, 10.0), right({bump}, 2e-4);
  EXPECT_GT(first_exit(wrong, -0.5, 0.5).s, 9.0);
  EXPECT_NEAR(1.0 - 1e-3 * std::sqrt(std::log(2.0)), first_exit(right, -0.5, 0.5).s, 1e-12);
}

}  // namespace
}  // namespace tempi
