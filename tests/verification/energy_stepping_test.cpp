// SPDX-License-Identifier: Apache-2.0
// Energy-stepping, with one subdomain and with several: what it keeps, against closed forms, against the smooth
// potentials whose limit it is, against the definition evaluated by brute force. Gonzalez (2011), chapters 2 and 4.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <filesystem>
#include <numbers>
#include <tuple>

#include "support/pair_cases.hpp"
#include "support/stepping_methods.hpp"
#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"
#include "tempi/integrator/one_step/sync_rk4.hpp"
#include "tempi/integrator/one_step/sync_variational.hpp"
#include "tempi/integrator/stepping/stepping_energy.hpp"
#include "tempi/potential/uniform_field.hpp"
#include "tempi/potential/wells.hpp"

namespace tempi::test {
namespace {

constexpr double pi = std::numbers::pi;

std::vector<double> unknown(const Model& model) { return uniform_steps(model, 1.0); }

std::unique_ptr<SteppingEnergy> make_one(const Model& model, double h) {
  return std::make_unique<SteppingEnergy>(model, one_subdomain(model, h), unknown(model));
}
// Terms i, i + count, i + 2 count ... together.
std::unique_ptr<SteppingEnergy> make_several(const Model& model, double h, std::int32_t count) {
  Subdomains all = one_subdomain(model, h);
  for (std::size_t k = 0; k < all.of_term.size(); ++k) all.of_term[k] = static_cast<std::int32_t>(k) % count;
  all.energy_step.assign(static_cast<std::size_t>(count), h);
  for (std::size_t i = 0; i < all.energy_step.size(); ++i) all.energy_step[i] *= 1.0 + 0.1 * static_cast<double>(i);
  return std::make_unique<SteppingEnergy>(model, std::move(all), unknown(model));
}

// ---- what moves ----

State start_of_atoms(const Body& body) {
  State state = reference_state(*body.model);
  Random random(3);
  for (double& v : state.velocity) v = random.uniform(-0.4, 0.4);
  const auto mean = mass_average(*body.model, state.velocity);
  for (std::size_t i = 0; i < state.velocity.size(); ++i) state.velocity[i] -= mean[i % 2];
  return state;
}

Body elastic(int dim) {
  Mesh mesh =
      dim == 2 ? triangle_mesh(CellType::triangle3, 3, 0.15, 12) : tetrahedron_mesh(CellType::tetrahedron4, 2, 0.1, 4);
  return make_body(centred(mesh), NeoHookean{{1.3, 0.7}}, 1.2);
}
State start_of_body(const Body& body) { return without_net_momentum(body, moving_state(body, 0.3, 0.03, 5)); }

// x'' = -x from x = 0 with unit speed: V = x^2 / 2.
Body oscillator(int dim = 1) {
  Model::Parts parts = particles(dim, std::vector<double>(static_cast<std::size_t>(dim), 0.0), {1.0});
  parts.add(make_wells(parts.reference, dim, {NodeId{0}}, Well{{1.0, 1.0, 1.0}, {}, false}));
  Body body;
  body.model = std::make_unique<Model>(std::move(parts));
  return body;
}

// ---- closed forms ----

// The quarter period is a sum of straight flights between levels, where a reflection lies in the last:
// sum_j (sqrt(2 (j+1) h) - sqrt(2 j h)) / sqrt(1 - 2 j h), half the way back from the reflection not counted.
TEST(EnergyStepping, turns_an_oscillator_in_the_time_of_the_closed_form) {
  for (const double h : {0.03, 0.003, 3e-4, 0.0123}) {
    SCOPED_TRACE(h);
    const Body body = oscillator();
    const auto method = make_one(*body.model, h);
    State state = reference_state(*body.model);
    state.velocity[0] = 1.0;
    double quarter = 0.0, turned = 0.0;
    for (double j = 0.0; 1.0 - 2.0 * j * h > 0.0; j += 1.0)
      quarter += (std::sqrt(2.0 * (j + 1.0) * h) - std::sqrt(2.0 * j * h)) / std::sqrt(1.0 - 2.0 * j * h);
    method->set_witness([&](Index, double t, double jump) {
      if (jump == 0.0 && turned == 0.0) turned = t;
    });
    method->advance_to(state, 2.0 * quarter);
    EXPECT_NEAR(quarter, turned, 1e-10);
    // And through the centre, where the level is the lowest and no event is.
    const Snapshot back = method->synchronized(state, 2.0 * quarter);
    EXPECT_NEAR(0.0, back.state.displacement[0], 1e-10);
  }
}

// When it is first reflected.
double turning_time(double h) {
  const Body body = oscillator();
  const auto method = make_one(*body.model, h);
  State state = reference_state(*body.model);
  state.velocity[0] = 1.0;
  double turned = 0.0;
  method->set_witness([&](Index, double t, double jump) {
    if (jump == 0.0 && turned == 0.0) turned = t;
  });
  method->advance_to(state, 4.0);
  return turned;
}

// The error of the period falls as sqrt(h): over the mean of energy steps that divide the energy at random.
TEST(EnergyStepping, has_periods_of_order_one_half_in_the_energy_step) {
  Random random(8);
  std::vector<double> h, errors;
  for (double base = 1e-2; base > 5e-6; base *= 0.1) {
    double sum = 0.0;
    for (int i = 0; i < 40; ++i) {
      sum += std::abs(turning_time(base * random.uniform(0.8, 1.25)) - 0.5 * pi) / 40;
    }
    h.push_back(base), errors.push_back(sum);
  }
  EXPECT_NEAR(0.5, slope(h, errors), 0.1);
}

// Example 2.4.2 (the thesis prints (0, t), G1-5): along a level there is nothing to feel.
TEST(EnergyStepping, flies_straight_on_along_a_level) {
  Model::Parts parts = particles(2, {1.0, 0.0}, {1.0});
  parts.add(make_wells(parts.reference, 2, {NodeId{0}}, Well{{1.0, 0.0, 0.0}, {}, false}));
  const Model model(std::move(parts));
  const auto method = make_one(model, 0.013);
  State state = reference_state(model);
  state.velocity = {0.0, 1.0};
  method->advance_to(state, 50.0);
  state = method->synchronized(state, 50.0).state;
  EXPECT_EQ(0.0, state.displacement[0]);
  EXPECT_NEAR(50.0, state.displacement[1], 1e-10);
  EXPECT_EQ(0, method->events(0).all());
}

// Example 2.4.3: from (1, 0) with speed g < 1 the true motion is an ellipse; steps that divide the energy make it
// bounce along the unit circle for ever, however small they are.
TEST(EnergyStepping, does_not_converge_where_the_thesis_says_so) {
  for (const double levels : {10.5, 100.5, 1000.5}) {  // below where it starts
    const double h = 0.5 / levels;
    SCOPED_TRACE(h);
    Model::Parts parts = particles(2, {1.0, 0.0}, {1.0});
    parts.add(make_wells(parts.reference, 2, {NodeId{0}}, Well{{1.0, 1.0, 0.0}, {}, false}));
    const Model model(std::move(parts));
    const auto method = make_one(model, h);
    State state = reference_state(model);
    state.velocity = {0.0, std::sqrt(h)};  // too slow to climb: v^2/2 < h
    double farthest = 0.0;
    method->set_witness([&](Index, double, double jump) {
      EXPECT_EQ(0.0, jump);
      farthest = std::max(farthest, std::abs(std::hypot(1.0 + state.displacement[0], state.displacement[1]) - 1.0));
    });
    method->advance_to(state, 20.0);
    EXPECT_GT(method->events(0).reflected, 5);
    EXPECT_LE(farthest, 2.0 * h);
  }
}

// Example 2.4.1 and eq. (2.82): where next to nothing is left on the highest level, E - k h = c h^2, the last way up,
// h / V', takes 1 / sqrt(2 c) however small h is, and the motion turns too late for ever. Where half a step is left it
// does not.
TEST(EnergyStepping, turns_too_late_where_steps_nearly_divide_the_energy) {
  constexpr double c = 2.0;
  const auto late = [](double h) { return turning_time(h) - 0.5 * pi; };
  double before = 1.0;
  for (const double k : {100.0, 1000.0, 10'000.0}) {
    const double h = 1.0 / (std::sqrt(k * k + 2.0 * c) + k);  // k h + c h^2 = 1/2
    const double off = std::abs(late(h) - 1.0 / std::sqrt(2.0 * c));
    EXPECT_LT(off, 0.5 * before);
    before = off;
  }
  EXPECT_LT(before, 0.02);
  EXPECT_LT(std::abs(late(0.5 / 10'000.5)), 0.02);
}

// Definition 2.4.1: min_k |n . v(t_k^-)| / sqrt(h) without limit and max_k |q(t_(k+1)) - q(t_k)| / sqrt(h) to zero,
// on the way up of an oscillator; from where V' = 0 the second one fails, through a turning point the first one.
TEST(EnergyStepping, is_transversal_where_the_motion_climbs) {
  struct Diagnostics {
    double slowest, longest;
  };
  const auto over = [](double x0, double end, double h) {
    const Body body = oscillator();
    const auto method = make_one(*body.model, h);
    State state = reference_state(*body.model);
    state.displacement[0] = x0;
    state.velocity[0] = 1.0;
    Diagnostics found{1e9, 0.0};
    double last = 0.0, v = 1.0;
    method->set_witness([&](Index, double t, double) {
      found.slowest = std::min(found.slowest, std::abs(v) / std::sqrt(h));
      found.longest = std::max(found.longest, std::abs(v) * (t - last) / std::sqrt(h));
      last = t, v = state.velocity[0];
    });
    method->advance_to(state, end);
    return found;
  };
  std::vector<double> h, slowest, longest;
  for (const double step : {1e-2, 1e-3, 1e-4, 1e-5}) {
    const Diagnostics climbing = over(0.3, 0.8, step);
    h.push_back(step), slowest.push_back(climbing.slowest), longest.push_back(climbing.longest);
    EXPECT_GT(over(0.0, 0.8, step).longest, 1.4);  // sqrt(2 h) to the first level
    EXPECT_LT(over(0.3, 2.0, step).slowest, 1.5);  // sqrt(2 (E - k h)) on the last
  }
  EXPECT_NEAR(-0.5, slope(h, slowest), 0.05);
  EXPECT_NEAR(0.5, slope(h, longest), 0.05);
}

// ---- what it keeps ----

TEST(EnergyStepping, keeps_energy_and_momenta_of_atoms_over_a_hundred_thousand_events) {
  const Body body = atoms();
  State state = start_of_atoms(body);
  const auto method = make_one(*body.model, 0.02);
  expect_kept(kept_over(body, *method, state, 1200.0), 100'000);
}

TEST(EnergyStepping, keeps_energy_and_momenta_of_elastic_bodies) {
  for (const int dim : {2, 3}) {
    SCOPED_TRACE(dim);
    const Body body = elastic(dim);
    const auto method = make_one(*body.model, 5e-6);
    expect_kept(kept_over(body, *method, start_of_body(body), 40.0), 2000);
  }
}

TEST(AsyncEnergyStepping, keeps_energy_and_momenta_with_any_subdomains) {
  for (const std::int32_t count : {2, 5, 21}) {
    SCOPED_TRACE(count);
    const Body body = atoms();
    const auto method = make_several(*body.model, 0.01, count);
    expect_kept(kept_over(body, *method, start_of_atoms(body), 60.0), 10'000);
  }
  for (const int dim : {2, 3}) {
    SCOPED_TRACE(dim);
    const Body body = elastic(dim);
    const auto method = make_several(*body.model, 4e-6, 6);
    expect_kept(kept_over(body, *method, start_of_body(body), 10.0), 1000);
  }
}

// 1296 tetrahedra, in several blocks whose sums are added in their order; and in subdomains, of which several begin
// anew at one event.
TEST(EnergyStepping, gives_the_same_bits_on_any_number_of_threads) {
  const Body body = make_body(tetrahedron_mesh(CellType::tetrahedron4, 6, 0.1, 2), NeoHookean{{1.3, 0.7}}, 1.2);
  const State start = moving_state(body, 0.0, 0.05, 4);
  for (const std::int32_t subdomains : {1, 5}) {
    const auto end_with = [&](int threads) {
      const auto method = subdomains == 1 ? make_one(*body.model, 1e-5) : make_several(*body.model, 1e-5, subdomains);
      method->use_threads(threads);
      State state = start;
      method->advance_to(state, 0.3);
      EXPECT_GT(method->events(0).all(), 10);
      return std::pair(state, method->measures());
    };
    const auto [alone, measures] = end_with(1);
    for (const int threads : {2, 3, 5}) {
      const auto [state, again] = end_with(threads);
      EXPECT_TRUE(same_bits(state, alone)) << threads;
      EXPECT_EQ(again, measures);
    }
  }
}

// The control: a method that takes its momenta from elsewhere. Verlet at the mean step keeps no level.
TEST(EnergyStepping, has_a_control_that_keeps_no_level) {
  const Body body = atoms();
  State state = start_of_atoms(body);
  const double before = kinetic(*body.model, state) + body.model->potential_energy(state.displacement, 0.0);
  SyncNewmark verlet(*body.model, 0.012);
  verlet.advance_to(state, 5.0);
  const Snapshot at = verlet.synchronized(state, 5.0);
  EXPECT_GT(std::abs(kinetic(*body.model, at.state) + at.potential_energy - before), 1e-7);
}

// Turned round it goes back on its way.
TEST(EnergyStepping, is_reversible) {
  const Body body = atoms();
  for (const std::int32_t count : {1, 5}) {
    SCOPED_TRACE(count);
    const auto make = [&] { return count == 1 ? make_one(*body.model, 0.02) : make_several(*body.model, 0.02, count); };
    const State start = start_of_atoms(body);
    State state = start;
    Index events = 0;
    for (int way = 0; way < 2; ++way) {
      const auto method = make();
      method->advance_to(state, 0.6);
      state = method->synchronized(state, 0.6).state;
      for (Index j = 0; j < method->subdomain_count(); ++j) events += method->events(j).all();
      for (double& v : state.velocity) v = -v;
      std::ranges::fill(state.clock, 0.0);
    }
    EXPECT_GE(events, 30);
    EXPECT_LT(largest_difference(state.displacement, start.displacement), 1e-10);  // grown by the motion's own chaos
    EXPECT_LT(largest_difference(state.velocity, start.velocity), 1e-10);
  }
}

// A^T J A = J across events whose order no perturbation changes; the control is the same flow with the level's
// reflection replaced by a loss.
TEST(EnergyStepping, is_symplectic_across_events) {
  const Body body = atoms();
  const Model& model = *body.model;
  for (const std::int32_t count : {1, 5}) {
    SCOPED_TRACE(count);
    const double end_time = count == 1 ? 0.7 : 0.21;
    using Event = std::tuple<Index, bool>;
    const auto flow = [&](State state, std::vector<Event>& events, double loss) {
      const auto method = count == 1 ? make_one(model, 0.05) : make_several(model, 0.05, count);
      method->set_witness([&](Index i, double, double jump) { events.emplace_back(i, jump != 0.0); });
      method->advance_to(state, end_time);
      State end = method->synchronized(state, end_time).state;
      for (double& v : end.velocity) v *= 1.0 - loss;
      return end;
    };
    const double spacing = 1e-6;
    const auto n = static_cast<Eigen::Index>(2 * model.node_count());
    for (const double loss : {0.0, 0.02}) {
      Eigen::MatrixXd A(2 * n, 2 * n), J = Eigen::MatrixXd::Zero(2 * n, 2 * n);
      std::vector<Event> first;
      flow(start_of_atoms(body), first, loss);
      ASSERT_GE(first.size(), 10U);
      for (Eigen::Index j = 0; j < 2 * n; ++j) {
        State up = start_of_atoms(body), down = up;
        const auto i = static_cast<std::size_t>(j % n);
        (j < n ? up.displacement : up.velocity)[i] += spacing;
        (j < n ? down.displacement : down.velocity)[i] -= spacing;
        std::vector<Event> events_up, events_down;
        up = flow(up, events_up, loss), down = flow(down, events_down, loss);
        ASSERT_EQ(first, events_up) << "near grazing: choose another time";
        ASSERT_EQ(first, events_down);
        for (Eigen::Index k = 0; k < n; ++k) {  // unit masses
          const auto row = static_cast<std::size_t>(k);
          A(k, j) = (up.displacement[row] - down.displacement[row]) / (2.0 * spacing);
          A(k + n, j) = (up.velocity[row] - down.velocity[row]) / (2.0 * spacing);
        }
      }
      J.topRightCorner(n, n).setIdentity();
      J.bottomLeftCorner(n, n) = -Eigen::MatrixXd::Identity(n, n);
      const double defect = (A.transpose() * J * A - J).cwiseAbs().maxCoeff() / std::pow(A.cwiseAbs().maxCoeff(), 2);
      EXPECT_EQ(defect < 1e-7, loss == 0.0) << defect;
    }
  }
}

// The derivative of the map across one event, with every symbol as in the header (the thesis' appendix to chapter 2,
// for any masses): from (x, v), tau before it, to T after that. Symplectic to rounding, and that of the program.
Eigen::MatrixXd across_event(const Model& model, const State& before, double tau, double T, double jump) {
  const auto d = static_cast<std::size_t>(model.dim());
  const auto n = static_cast<Eigen::Index>(before.velocity.size());
  std::vector<double> q = before.displacement;
  Eigen::VectorXd v(n), N = Eigen::VectorXd::Zero(n), W(n);
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    v(i) = before.velocity[k];
    W(i) = 1.0 / model.mass()[k / d];
    q[k] += tau * v(i);
  }
  for (Index t = 0; t < model.term_count(); ++t) {
    const auto [potential, k] = model.term(make_id<TermId>(t));
    const auto nodes = potential->stencil(k);
    const auto at = [&](std::size_t i) { return static_cast<Eigen::Index>(ordinal(nodes[i / d]) * d + i % d); };
    std::vector<double> g(nodes.size() * d, 0.0), h(g.size() * g.size(), 0.0);
    potential->add_gradient(k, q, 0.0, g);
    potential->as_local()->add_hessian(k, q, 0.0, h);
    for (std::size_t i = 0; i < g.size(); ++i) N(at(i)) += g[i];
    for (std::size_t i = 0; i < g.size(); ++i)
      for (std::size_t j = 0; j < g.size(); ++j) H(at(i), at(j)) += h[i * g.size() + j];
  }
  const Eigen::VectorXd m = W.asDiagonal() * N;
  const double a = v.dot(N), b = N.dot(m), root = std::copysign(std::sqrt(std::max(0.0, a * a - 2.0 * jump * b)), a);
  const bool reflects = jump == 0.0;
  const double lambda = reflects ? -2.0 * a / b : (root - a) / b;
  const double by_a = reflects ? -2.0 / b : (a / root - 1.0) / b;
  const double by_b = reflects ? 2.0 * a / (b * b) : -(lambda + jump / root) / b;
  Eigen::MatrixXd dx(n, 2 * n), dv(n, 2 * n);
  dx << Eigen::MatrixXd::Identity(n, n), tau * Eigen::MatrixXd::Identity(n, n);
  dv << Eigen::MatrixXd::Zero(n, n), Eigen::MatrixXd::Identity(n, n);
  const Eigen::RowVectorXd when = -N.transpose() * dx / a;  // d tau
  const Eigen::MatrixXd dq = dx + v * when, dN = H * dq;
  const Eigen::RowVectorXd da = N.transpose() * dv + v.transpose() * dN, db = 2.0 * m.transpose() * dN;
  const Eigen::MatrixXd after = dv + m * (by_a * da + by_b * db) + lambda * (W.asDiagonal() * dN);
  Eigen::MatrixXd J(2 * n, 2 * n);
  J << dq + (T - tau) * after - (v + lambda * m) * when, after;
  return J;
}

TEST(EnergyStepping, has_the_derivative_of_the_closed_form) {
  const Body body = atoms();
  const Model& model = *body.model;
  struct Event {
    double t, jump;
  };
  std::vector<Event> events;
  State state = start_of_atoms(body);
  const auto whole = make_one(model, 0.05);
  whole->set_witness([&](Index, double t, double jump) { events.push_back({t, jump}); });
  whole->advance_to(state, 1.1);
  ASSERT_GE(events.size(), 20U);
  const auto n = static_cast<Eigen::Index>(state.velocity.size());
  Eigen::MatrixXd A = Eigen::MatrixXd::Identity(2 * n, 2 * n), J = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  J.topRightCorner(n, n).setIdentity();
  J.bottomLeftCorner(n, n) = -Eigen::MatrixXd::Identity(n, n);
  const auto method = make_one(model, 0.05);
  state = start_of_atoms(body);
  double from = 0.0;
  std::array<int, 3> kinds{};
  for (std::size_t e = 0; e + 1 < events.size(); ++e) {
    method->advance_to(state, from);
    const State before = method->synchronized(state, from).state;
    const double to = 0.5 * (events[e].t + events[e + 1].t);
    const Eigen::MatrixXd one = across_event(model, before, events[e].t - from, to - from, events[e].jump);
    EXPECT_LT((one.transpose() * J * one - J).cwiseAbs().maxCoeff(), 1e-12 * std::pow(one.cwiseAbs().maxCoeff(), 2));
    A = one * A;
    ++kinds[events[e].jump > 0.0 ? 0 : events[e].jump < 0.0 ? 1 : 2];
    from = to;
  }
  EXPECT_GT(std::min(kinds[0], kinds[1]), 0);
  const auto flow = [&](State s) {
    const auto again = make_one(model, 0.05);
    again->advance_to(s, from);
    return again->synchronized(s, from).state;
  };
  const double worst = (derivative_by_differences(start_of_atoms(body), 1e-8, flow) - A).cwiseAbs().maxCoeff();
  EXPECT_LT(worst, 1e-6 * A.cwiseAbs().maxCoeff());
}

// ---- against other definitions ----

// Theorem 2.2.1: trajectories of the potential whose steps are smeared over a small band of energies tend to ours.
TEST(EnergyStepping, is_the_limit_of_smooth_steps) {
  class Smeared final : public LocalPotential {  // V(x) = chi((x^2 + 2 y^2) / 2)
   public:
    Smeared(double h, double width) : h_(h), width_(width) {}
    Index size() const override { return 1; }
    int dim() const override { return 2; }
    std::span<const NodeId> stencil(Index) const override { return node_; }
    double energy(Index, std::span<const double> u, double) const override { return chi(value(u)).first; }
    double add_gradient(Index, std::span<const double> u, double, std::span<double> g) const override {
      const double slope = chi(value(u)).second;
      g[0] += slope * u[0], g[1] += slope * 2.0 * u[1];
      return 1.0;
    }
    void add_hessian(Index, std::span<const double>, double, std::span<double>) const override {}
    double mass(Index, std::size_t) const override { return 0.0; }
    std::string describe(Index) const override { return "smeared steps"; }

   private:
    static double value(std::span<const double> u) { return 0.5 * (u[0] * u[0] + 2.0 * u[1] * u[1]); }
    // h floor(V / h), its jumps smeared over [k h - width, k h + width] with a continuous slope.
    std::pair<double, double> chi(double V) const {
      const double k = std::round(V / h_), x = (V - k * h_) / width_;
      if (k < 0.5 || x >= 1.0) return {h_ * std::floor(V / h_), 0.0};
      if (x <= -1.0) return {h_ * (k - 1.0), 0.0};
      return {h_ * (k - 1.0 + 0.25 * (2.0 + 3.0 * x - x * x * x)), 0.75 * h_ / width_ * (1.0 - x * x)};
    }
    double h_, width_;
    std::array<NodeId, 1> node_ = {NodeId{0}};
  };
  const double h = 0.11, end = 5.0;
  Model::Parts parts = particles(2, {0.0, 0.0}, {1.0});
  parts.add(make_wells(parts.reference, 2, {NodeId{0}}, Well{{1.0, 2.0, 0.0}, {}, false}));
  const Model model(std::move(parts));
  const auto start = [&](const Model& of) {
    State state = reference_state(of);
    state.displacement = {0.3, 0.1};
    state.velocity = {0.7, 0.45};
    return state;
  };
  const auto method = make_one(model, h);
  State ours = start(model);
  method->advance_to(ours, end);
  ours = method->synchronized(ours, end).state;
  EXPECT_GE(method->events(0).all(), 8);
  EXPECT_GE(method->events(0).reflected, 1);
  std::vector<double> widths, errors;
  for (const double width : {0.01, 0.005, 0.0025, 0.00125, 0.000625}) {
    Model::Parts smooth_parts = particles(2, {0.0, 0.0}, {1.0});
    smooth_parts.add(std::make_unique<Smeared>(h, width));
    const Model smooth(std::move(smooth_parts));
    State state = start(smooth);
    SyncRk4 fine(smooth, 3e-3 * width);
    fine.advance_to(state, end);
    widths.push_back(width);
    errors.push_back(largest_difference(fine.synchronized(state, end).state.displacement, ours.displacement));
  }
  RecordProperty("errors", fmt::format("{}", fmt::join(errors, " ")));
  EXPECT_LT(errors.back(), 0.02);
  EXPECT_GT(slope(widths, errors), 0.6);
  EXPECT_LT(slope(widths, errors), 1.5);
}

// Definition 4.3.1, by brute force: after each event every subdomain searches from there, and the earliest acts.
TEST(AsyncEnergyStepping, has_the_events_of_the_sequential_definition) {
  const Body body = atoms();
  const Model& model = *body.model;
  for (const std::int32_t count : {1, 3, 21}) {
    SCOPED_TRACE(count);
    struct Event {
      Index subdomain;
      double t, jump;
    };
    std::vector<Event> ours, theirs;
    const auto method = count == 1 ? make_one(model, 0.0507) : make_several(model, 0.0507, count);
    method->set_witness([&](Index i, double t, double jump) { ours.push_back({i, t, jump}); });
    State state = start_of_atoms(body);
    method->advance_to(state, 2.0);

    // The definition: V_i by its own terms, a fine scan and bisection for its next root.
    std::vector<double> h(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < h.size(); ++i) h[i] = 0.0507 * (1.0 + 0.1 * static_cast<double>(i));
    const State start = start_of_atoms(body);
    std::vector<double> u = start.displacement, v = start.velocity;
    const auto energy = [&](std::int32_t i, double s) {
      std::vector<double> x = u;
      for (std::size_t c = 0; c < x.size(); ++c) x[c] += s * v[c];
      double sum = 0.0;
      for (Index k = i; k < model.term_count(); k += count) sum += model.potential(0).energy(k, x, 0.0);
      return sum;
    };
    std::vector<double> level;
    for (std::int32_t i = 0; i < count; ++i)
      level.push_back(std::floor(energy(i, 0.0) / h[static_cast<std::size_t>(i)]));
    double t = 0.0;
    std::int32_t last = -1;
    while (theirs.size() < std::min<std::size_t>(ours.size(), 100)) {
      double first = 0.5;
      std::int32_t who = -1;
      bool high = false;
      for (std::int32_t i = 0; i < count; ++i) {
        const double low = level[static_cast<std::size_t>(i)] * h[static_cast<std::size_t>(i)],
                     top = low + h[static_cast<std::size_t>(i)];
        const auto inside = [&](double s) { return energy(i, s) > low && energy(i, s) < top; };
        double s = 0.0;
        const double step = 5e-4;
        if (i == last)
          while (!inside(s)) s += 1e-9;  // off the edge it stands on
        double in = s;
        while (s < first && inside(s)) in = s, s = std::min(s + step, first);
        if (inside(s)) continue;
        double out = s;
        for (int it = 0; it < 60; ++it) (inside(0.5 * (in + out)) ? in : out) = 0.5 * (in + out);
        if (out < first) first = out, who = i, high = energy(i, out) >= top;
      }
      for (std::size_t c = 0; c < u.size(); ++c) u[c] += first * v[c];
      t += first;
      std::vector<double> n(u.size(), 0.0);
      for (Index k = who; k < model.term_count(); k += count) {
        std::array<double, 4> g{};
        model.potential(0).add_gradient(k, u, 0.0, g);
        const auto nodes = model.potential(0).stencil(k);
        for (std::size_t c = 0; c < 4; ++c) n[ordinal(nodes[c / 2]) * 2 + c % 2] += g[c];
      }
      double vn = 0.0, nn = 0.0;
      for (std::size_t c = 0; c < u.size(); ++c) vn += v[c] * n[c], nn += n[c] * n[c];
      const double dE = (high ? 1.0 : -1.0) * h[static_cast<std::size_t>(who)], left = vn * vn - 2.0 * dE * nn;
      const double lambda = left <= 0.0 ? -2.0 * vn / nn : (-vn + std::copysign(std::sqrt(left), dE)) / nn;
      for (std::size_t c = 0; c < u.size(); ++c) v[c] += lambda * n[c];
      if (left > 0.0) level[static_cast<std::size_t>(who)] += high ? 1.0 : -1.0;
      theirs.push_back({who, t, left > 0.0 ? dE : 0.0});
      last = who;
    }
    ASSERT_GT(theirs.size(), 30U);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      ASSERT_EQ(theirs[i].subdomain, ours[i].subdomain) << i;
      ASSERT_NEAR(theirs[i].t, ours[i].t, 1e-8) << i;
      ASSERT_DOUBLE_EQ(theirs[i].jump, ours[i].jump) << i;
    }
  }
}

// The bottom of a well lies on a level, as every undeformed spring does: to touch it is not to cross it.
TEST(EnergyStepping, touches_the_lowest_level_without_an_event) {
  Model::Parts parts = particles(1, {0.0, 1.0}, {1.0, 2.0});
  add_pairs(parts, all_pairs(2), Spring{1.7, 1.0});
  const Model model(std::move(parts));
  const auto method = make_one(model, 0.0123);
  State state = reference_state(model);
  state.velocity = {0.9, -0.3};
  std::int64_t lowest = 0;
  method->set_witness([&](Index, double, double) { lowest = std::min(lowest, method->level(0)); });
  method->advance_to(state, 1000.0);
  EXPECT_GT(method->events(0).all(), 10'000);
  EXPECT_EQ(lowest, 0);
}

// ---- supports, stops, refusals ----

TEST(EnergyStepping, books_what_supports_give) {
  const Body body =
      make_body_held_at(triangle_mesh(CellType::triangle3, 3, 0.1, 2), NeoHookean{{1.3, 0.7}}, 1.2, "left");
  for (const std::int32_t count : {1, 4}) {
    State state = moving_state(body, 0.0, 0.05, 4);
    for (const NodeId a : body.model->supports().held_nodes())
      for (std::size_t c = 0; c < 2; ++c) state.velocity[2 * ordinal(a) + c] = 0.0;
    const auto method = count == 1 ? make_one(*body.model, 1e-5) : make_several(*body.model, 1e-5, count);
    const Balance balance = run_and_balance(*body.model, *method, state, 10.0, 50);
    EXPECT_GT(method->events(0).all(), 100);
    EXPECT_LT(balance.linear_momentum().error, 1e-12);
    EXPECT_LT(balance.angular_momentum().error, 1e-12);
    EXPECT_LT(std::abs(method->level_error()), 1e-15);
    for (const NodeId a : body.model->supports().held_nodes()) EXPECT_EQ(0.0, state.displacement[2 * ordinal(a)]);
  }
}

// Stopping leaves no trace, whether by a call that ends or through a checkpoint.
TEST(AsyncEnergyStepping, goes_on_to_the_same_bits) {
  const Body body = elastic(2);
  for (const std::int32_t count : {1, 4})
    expect_same_bits_through_checkpoints(*body.model, start_of_body(body), 3.0, 20, [&] {
      return count == 1 ? make_one(*body.model, 1e-5) : make_several(*body.model, 1e-5, count);
    });
  const auto file = std::filesystem::temp_directory_path() / "tempi_async_energy_stepping.bin";
  for (const std::int32_t count : {1, 4}) {  // not by one of another energy step
    const auto written = count == 1 ? make_one(*body.model, 1e-5) : make_several(*body.model, 1e-5, count);
    State state = start_of_body(body);
    written->advance_to(state, 1.0);
    write_checkpoint(file, state, *written);
    EXPECT_THROW(read_checkpoint(file, state, *make_one(*body.model, 2e-5)), InputError);
  }
  std::filesystem::remove(file);
}

TEST(EnergyStepping, throws_a_ball_up_and_catches_it) {
  Model::Parts parts = particles(2, {0.0, 0.0}, {2.0});
  parts.add(make_uniform_field(parts.reference, 2, parts.mass, {NodeId{0}}, {0.0, -9.81}));
  const Model model(std::move(parts));
  const auto method = make_one(model, 2.0 * 0.5 * 100.0 / 1000.5);
  State state = reference_state(model);
  state.velocity = {1.0, 10.0};
  method->advance_to(state, 2.0 * 10.0 / 9.81);
  const State end = method->synchronized(state, 2.0 * 10.0 / 9.81).state;
  EXPECT_NEAR(0.0, end.displacement[1], 0.2);
  EXPECT_DOUBLE_EQ(1.0, end.velocity[0]);
  EXPECT_EQ(1, method->events(0).reflected);
}

// Its energy is that of rest, and what rounding makes of its gradient must not be followed for ever.
TEST(EnergyStepping, lets_a_body_fly_that_nothing_deforms) {
  const Body body = elastic(3);
  State state = reference_state(*body.model);
  for (std::size_t i = 0; i < state.velocity.size(); ++i) state.velocity[i] = std::array{0.44, -3.0, 1e-3}[i % 3];
  const auto method = make_one(*body.model, 1e-9);
  method->advance_to(state, 1e6);
  EXPECT_EQ(method->events(0).all(), 0);
  EXPECT_EQ(method->synchronized(state, 1e6).state.displacement[0], 0.44e6);
}

TEST(EnergyStepping, refuses_what_has_no_potential) {
  const Body loaded = loaded_body();
  EXPECT_THROW(make_one(*loaded.model, 1e-3), InputError);
  const Body body = elastic(2);
  for (const double h : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(make_one(*body.model, h), InputError);
}

// -1/r, straight into the centre: energies without a bottom. A message, and no endless loop.
TEST(EnergyStepping, ends_where_the_energy_has_no_bottom) {
  Model::Parts parts = particles(1, {0.0, 1.0}, {1.0, 1.0});
  add_pairs(parts, all_pairs(2), Gravitation{1.0});
  const Model model(std::move(parts));
  const auto method = make_one(model, 100.0);
  State state = reference_state(model);
  state.velocity = {0.1, -0.1};
  EXPECT_THROW(method->advance_to(state, 5.0), SolveError);
}

}  // namespace
}  // namespace tempi::test
