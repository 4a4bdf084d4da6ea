// SPDX-License-Identifier: Apache-2.0
// Asynchronous splitting methods: Lew, Marsden, Ortiz, West (2004), appendix A. The flow of x' = sum_i f_i(x) by
// y_k = Psi_{i_k}^{h_k}(y_{k-1}); component i has come to t_k^i = sum of its h_j, (A4), and the maximum asynchronicity
// h is the smallest with t_k^i - min_i t_k^i <= h and h_k <= h, (A7). The error is O(h) (Theorem A.7). That all h_k
// tend to zero is not enough.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "support/runs.hpp"

namespace tempi::test {
namespace {

using Vector = Eigen::VectorXd;

struct Step {
  std::size_t component;
  double h;
};

// x' = v, v' = sum over the springs of a chain of four unit masses between walls, stiffnesses unlike, one of them cubic
// too: the drift is the last component, the springs are the others; each Psi_i is the exact flow of its component.
constexpr std::size_t springs = 5, components = springs + 1;
Vector flow(std::size_t i, double h, Vector y) {
  if (i == springs) {
    y.head(4) += h * y.tail(4);
    return y;
  }
  const double left = i > 0 ? y(static_cast<Index>(i) - 1) : 0.0, right = i < 4 ? y(static_cast<Index>(i)) : 0.0;
  const double e = right - left, f = (1.0 + 0.7 * static_cast<double>(i)) * e + (i == 2 ? 0.5 * e * e * e : 0.0);
  if (i > 0) y(4 + static_cast<Index>(i) - 1) += h * f;
  if (i < 4) y(4 + static_cast<Index>(i)) -= h * f;
  return y;
}
Vector start() {
  Vector y(8);
  y << 0.3, -0.2, 0.4, 0.1, -0.5, 0.2, 0.3, -0.1;
  return y;
}
Vector run(const std::vector<Step>& steps) {
  Vector y = start();
  for (const Step& s : steps) y = flow(s.component, s.h, y);
  return y;
}

double asynchronicity(const std::vector<Step>& steps) {
  std::array<double, components> t{};
  double h = 0.0;
  for (const Step& s : steps) {
    t[s.component] += s.h;
    h = std::max({h, s.h, *std::ranges::max_element(t) - *std::ranges::min_element(t)});
  }
  return h;
}

// All components in turn over spans of time, each in so many equal steps.
std::vector<Step> in_turn(double end, int spans, int steps) {
  std::vector<Step> all;
  for (int s = 0; s < spans; ++s)
    for (std::size_t i = 0; i < components; ++i)
      for (int k = 0; k < steps; ++k) all.push_back({i, end / spans / steps});
  return all;
}
const Vector& exact(double end) {
  static const Vector y = [end] {  // by extrapolation: symmetric compositions have even powers of the step only
    std::array<Vector, 3> by;
    for (int l = 0; l < 3; ++l) {
      const int n = 4000 << l;
      const double h = end / n;
      Vector v = start();
      for (int s = 0; s < n; ++s) {
        for (std::size_t i = 0; i < springs; ++i) v = flow(i, 0.5 * h, v);
        v = flow(springs, h, v);
        for (std::size_t i = springs; i-- > 0;) v = flow(i, 0.5 * h, v);
      }
      by[static_cast<std::size_t>(l)] = v;
    }
    const Vector a = (4.0 * by[1] - by[0]) / 3.0, b = (4.0 * by[2] - by[1]) / 3.0;
    return Vector((16.0 * b - a) / 15.0);
  }();
  return y;
}
constexpr double end = 6.0;
double error(const std::vector<Step>& steps) { return (run(steps) - exact(end)).norm(); }

// Steps drawn at random, of one component after the other that is behind.
std::vector<Step> drawn(double h, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> part(0.1, 0.5);
  std::array<double, components> t{};
  std::vector<Step> steps;
  std::vector<std::size_t> behind;
  while (true) {
    const double least = *std::ranges::min_element(t);
    behind.clear();
    for (std::size_t i = 0; i < components; ++i)
      if (t[i] < end && t[i] - least <= 0.5 * h) behind.push_back(i);
    if (behind.empty()) break;
    const std::size_t i = behind[random() % behind.size()];
    const double step = std::min(h * part(random), end - t[i]);
    steps.push_back({i, step});
    t[i] = end - t[i] - step < 1e-15 ? end : t[i] + step;
  }
  return steps;
}

TEST(AsynchronousSplitting, ConvergesWithItsAsynchronicity) {
  std::array<double, 4> worst{};
  for (std::size_t l = 0; l < worst.size(); ++l) {
    const double h = 0.2 / std::pow(2.0, l);
    for (unsigned seed = 1; seed <= 12; ++seed) {
      const std::vector<Step> steps = drawn(h, seed);
      ASSERT_LE(asynchronicity(steps), h * (1.0 + 1e-12));
      worst[l] = std::max(worst[l], error(steps));
    }
  }
  // Of first order at least; drawn orders cancel some of it.
  const double order = std::log2(worst[0] / worst[3]) / 3.0;
  EXPECT_GT(order, 0.8);
  EXPECT_LT(worst[3], 0.2);
  // Orders that do not cancel: one component after the other, always the same way.
  EXPECT_NEAR(std::log2(error(in_turn(end, 600, 1)) / error(in_turn(end, 1200, 1))), 1.0, 0.05);
}

// The control: every step tends to zero, the asynchronicity does not. What is found is the composition of flows over
// the whole span.
TEST(AsynchronousSplitting, DoesNotConvergeByStepsAlone) {
  const std::vector<Step> coarse = in_turn(end, 20, 1), fine = in_turn(end, 20, 64);
  EXPECT_NEAR(asynchronicity(fine), end / 20, 1e-12);
  EXPECT_NEAR(asynchronicity(coarse), end / 20, 1e-12);
  EXPECT_NEAR((run(fine) - run(coarse)).norm(), 0.0, 1e-12);  // each Psi_i is exact: steps of one component add up
  EXPECT_GT(error(fine), 0.1);
  EXPECT_LT(error(in_turn(end, 20 * 64, 1)), 0.03 * error(fine));  // the same steps, in turn
}

// AVIs alternate global drifts and local kicks, (A12), (A13); with the starting half kick of section 4.6 the first of
// each term is half as long. Their asynchronicity is their longest step, (A14).
TEST(AsynchronousSplitting, IsWhatAnAviDoes) {
  const Body body = make_body(bar_mesh(5, 0.3, 11), NeoHookean{{1.3, 0.7}}, 1.2);
  const Model& model = *body.model;
  const std::vector<double> own = own_steps(model, 0.4);
  AviExplicit avi(model, own);
  State state = moving_state(body, 0.0, 0.1, 3);
  std::vector<double> x(state.displacement), v(state.velocity);
  constexpr double T = 3.0;
  std::vector<std::pair<double, Index>> events;
  for (Index k = 0; k < model.term_count(); ++k)
    for (Index j = 0; own[static_cast<std::size_t>(k)] * static_cast<double>(j) < T; ++j)
      events.emplace_back(own[static_cast<std::size_t>(k)] * static_cast<double>(j), k);
  std::ranges::sort(events);
  double now = 0.0;
  const auto drift = [&](double to) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += (to - now) * v[i];
    now = to;
  };
  for (const auto& [t, k] : events) {
    drift(t);
    const auto term = make_id<TermId>(k);
    const auto nodes = model.term(term).stencil();
    std::vector<double> gradient(nodes.size(), 0.0);
    model.term(term).potential->as_local()->add_gradient(model.term(term).k, x, t, gradient);
    const double h = own[static_cast<std::size_t>(k)] * (t == 0.0 ? 0.5 : 1.0);
    for (std::size_t i = 0; i < nodes.size(); ++i) v[ordinal(nodes[i])] -= h * gradient[i] / model.mass(nodes[i]);
  }
  drift(T);
  avi.advance_to(state, T);
  EXPECT_LT(largest_difference(avi.synchronized(state, T).state.displacement, x), 1e-13);
}

}  // namespace
}  // namespace tempi::test
