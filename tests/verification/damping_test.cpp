// SPDX-License-Identifier: Apache-2.0
// Damped motions: exact solutions, orders, what is booked, what is kept, by every method.
#include <gtest/gtest.h>

#include <complex>

#include "support/damping.hpp"

namespace tempi::test {
namespace {

// ---- one oscillator, every law ----

// m x'' + c x' + k x = 0 of a coordinate that starts at x0 with v0, and how the model shows it.
struct Oscillator {
  std::string name;
  double m, c, k, x0 = 0.3, v0 = -0.2;
  std::unique_ptr<Model> model{};
  std::unique_ptr<Mesh> mesh{};
  std::vector<double> shape{};  // displacement per coordinate

  std::array<double, 2> exact(double t) const {
    const double b = 0.5 * c / m, w = std::sqrt(k / m - b * b), B = (v0 + b * x0) / w;
    const double e = std::exp(-b * t), cosine = std::cos(w * t), sine = std::sin(w * t);
    return {e * (x0 * cosine + B * sine), e * ((w * B - b * x0) * cosine - (w * x0 + b * B) * sine)};
  }
  State start() const {
    State state = reference_state(*model);
    for (std::size_t i = 0; i < shape.size(); ++i)
      state.displacement[i] = x0 * shape[i], state.velocity[i] = v0 * shape[i];
    return state;
  }
  double error(const State& state, double t) const {
    const auto [x, v] = exact(t);
    double worst = 0.0;
    for (std::size_t i = 0; i < shape.size(); ++i)
      worst =
          std::max({worst, std::abs(state.displacement[i] - x * shape[i]), std::abs(state.velocity[i] - v * shape[i])});
    return worst / std::max(std::abs(x0), std::abs(v0));
  }
};

Oscillator on_a_well(std::string name, double c,
                     const std::function<std::unique_ptr<Force>(const Potential&)>& damper) {
  Oscillator o{std::move(name), 0.8, c, 1.7};
  Model::Parts parts = particles(1, {0.5}, {o.m});
  parts.add(make_wells(parts.reference, 1, {NodeId{0}}, Well{{o.k}, std::array{0.5, 0.0, 0.0}}));
  host(parts, damper(*parts.potentials[0]));
  o.model = std::make_unique<Model>(std::move(parts));
  o.shape = {1.0};
  return o;
}

// Two masses on a spring, in space: the coordinate is the stretch.
Oscillator of_two_masses(double c) {
  const double m1 = 2.0, m2 = 0.6;
  Oscillator o{"dashpot", m1 * m2 / (m1 + m2), c, 1.7};
  Model::Parts parts = particles(3, {0.1, 0.2, 0.3, 0.7, 1.0, 0.3}, {m1, m2});
  add_pairs(parts, chain(2), Spring{o.k, 1.0});
  host(parts, make_dashpots(parts.reference, 3, chain(2), c));
  o.model = std::make_unique<Model>(std::move(parts));
  const std::array<double, 3> n = {0.6, 0.8, 0.0};
  for (std::size_t i = 0; i < 6; ++i) o.shape.push_back((i < 3 ? -m2 : m1) / (m1 + m2) * n[i % 3]);
  return o;
}

// One linear bar held at one end, in motions so small that its viscosity is linear, too.
Oscillator of_a_bar(std::string name, bool rayleigh) {
  const Lame lame{1.3, 0.7};
  const double density = 1.2, alpha = 0.1, beta = 0.12, bulk = 0.3, shear = 0.15, M = lame.lambda + 2.0 * lame.mu;
  Oscillator o{std::move(name), 0.5 * density, 0.0, M, 3e-9, -2e-9};
  o.c = rayleigh ? alpha * o.m + beta * M : bulk + 4.0 / 3.0 * shear;
  o.mesh = std::make_unique<Mesh>(bar_mesh(1));
  Model::Parts parts = elastic_parts(*o.mesh, LinearElastic{lame}, density);
  parts.supports = held_at_rest(*o.mesh, "left");
  if (rayleigh)
    host(parts, make_rayleigh(cells_of(parts), {alpha, beta}));
  else
    host(parts, make_kelvin_voigt(cells_of(parts), {bulk, shear}));
  o.model = std::make_unique<Model>(std::move(parts));
  const bool first_held = o.mesh->points()[0] == 0.0;
  o.shape = {first_held ? 0.0 : 1.0, first_held ? 1.0 : 0.0};
  return o;
}

std::vector<Oscillator> oscillators() {
  std::vector<Oscillator> all;
  all.push_back(on_a_well("drag", 0.3, [](const Potential&) { return make_drag(1, {{NodeId{0}, 0.3}}); }));
  all.push_back(on_a_well("stiffness", 0.2 * 1.7,
                          [](const Potential& well) { return make_stiffness_damping(*well.as_local(), 0.2); }));
  all.push_back(of_two_masses(0.25));
  all.push_back(of_a_bar("rayleigh", true));
  all.push_back(of_a_bar("kelvin-voigt", false));
  return all;
}

class EveryMethod : public testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod, testing::ValuesIn(all_methods()),
                         [](const auto& each) { return plain(each.param.name); });

TEST_P(EveryMethod, FollowsTheDampedOscillatorOfEveryLawWithItsOrder) {
  for (const Oscillator& o : oscillators()) {
    SCOPED_TRACE(o.name);
    const double t = 5.0;
    std::vector<double> steps, errors;
    double order = 0.0;
    for (const int n : {20, 40, 80, 160}) {
      order = GetParam().make(*o.model, {t})->claims().order;
      const double h = t / (order == 1 ? 16 * n : n);  // order 1 shows late
      const auto integrator = GetParam().make(*o.model, {h});
      State state = o.start();
      integrator->advance_to(state, t);
      steps.push_back(h), errors.push_back(o.error(at(*integrator, state, t), t));
    }
    if (order == 6) steps.resize(2), errors.resize(2);  // before rounding
    EXPECT_NEAR(slope(steps, errors), order, order <= 2 ? 0.1 : 0.3) << errors.front() << " ... " << errors.back();
    EXPECT_LT(errors.back(), 2e-3);
  }
}

// ---- dampers that do not commute ----

// Masses in a line on unlike springs, with dashpots of which every second is strong and drag on one end.
std::unique_ptr<Model> damped_line(double scale = 1.0) {
  Model::Parts parts = particles(1, {0.0, 1.0, 2.1, 3.0, 4.2}, {1.0, 0.7, 1.3, 0.9, 0.6});
  add_pairs(parts, chain(5), Spring{2.0, 1.0});
  host(parts, make_dashpots(parts.reference, 1, {chain(5)[0], chain(5)[1]}, 1.5 * scale));
  host(parts, make_dashpots(parts.reference, 1, {chain(5)[2]}, 0.2 * scale), 2);
  host(parts, make_drag(1, {{NodeId{4}, 0.9 * scale}}), 3);
  return std::make_unique<Model>(std::move(parts));
}

double order_on_the_line(const std::function<State(const Model&, double step, double t)>& run, double t, double base) {
  const auto model = damped_line();
  SyncVariational fine(*model, gauss_action(6), base / 4);
  State reference = moving_masses(*model);
  fine.advance_to(reference, t);
  reference = at(fine, reference, t);
  std::vector<double> steps, errors;
  for (double h = base; h > base / 9; h *= 0.5) {
    const State state = run(*model, h, t);
    steps.push_back(h);
    errors.push_back(std::max(largest_difference(state.displacement, reference.displacement),
                              largest_difference(state.velocity, reference.velocity)));
  }
  return slope(steps, errors);
}

// Steps of the four springs in parts of h.
const std::vector<std::vector<double>> ratios = {
    {1, 1, 1, 1}, {1, 2, 1, 2}, {2, 1, 2, 2}, {2, 3, 2, 3}, {1, 0.618034, 1, 1}};
std::vector<double> scaled(std::vector<double> steps, double h) {
  for (double& step : steps) step *= h;
  return steps;
}

TEST(Damping, ActsAsynchronouslyWithOrderTwo) {
  for (const auto& ratio : ratios) {
    const double order = order_on_the_line(
        [&](const Model& model, double h, double t) {
          AviExplicit avi(model, scaled(ratio, h));
          State state = moving_masses(model);
          avi.advance_to(state, t);
          return at(avi, state, t);
        },
        4.8, 0.1);
    EXPECT_NEAR(order, 2.0, 0.1) << ratio[0] << " " << ratio[1];
  }
}

// The control: one term after the other within an instant, always in the same order.
TEST(Damping, TermByTermInAnInstantIsOfOrderOneOnly) {
  const double order = order_on_the_line(
      [&](const Model& model, double h, double t) {
        AviExplicit avi(model, uniform_steps(model, h));
        State state = moving_masses(model);
        avi.start(state);
        while (avi.next_time(TermId{3}) < t - 0.5 * h)
          for (Index k = 0; k < model.term_count(); ++k) avi.update(state, make_id<TermId>(k));
        return at(avi, state, t);
      },
      4.8, 0.1);
  EXPECT_LT(order, 1.3);
}

// Dampers that share no node: alone or together is the same.
TEST(Damping, WithEqualStepsIsTheSameFromEveryExplicitEngine) {
  Model::Parts parts = particles(1, {0.0, 1.0, 2.1, 3.0, 4.2}, {1.0, 0.7, 1.3, 0.9, 0.6});
  add_pairs(parts, {chain(5)[0]}, Spring{2.0, 1.0});
  host(parts, make_stiffness_damping(*parts.potentials.front()->as_local(), 0.4));
  add_pairs(parts, {chain(5)[1], chain(5)[2], chain(5)[3]}, Spring{2.0, 1.0});
  host(parts, make_drag(1, {{NodeId{4}, 0.9}}), 3);
  host(parts, make_dashpots(parts.reference, 1, {chain(5)[2]}, 0.7), 2);
  const Model model(std::move(parts));
  const double h = 0.1, t = 20.0;
  std::vector<State> states;
  for (const Method& method : methods()) {
    const auto integrator = method.make(model, uniform_steps(model, h));
    State state = moving_masses(model);
    integrator->advance_to(state, t);
    states.push_back(state);
    EXPECT_LT(largest_difference(state.displacement, states[0].displacement), 1e-14) << method.name;
    EXPECT_LT(largest_difference(state.velocity, states[0].velocity), 1e-14) << method.name;
    EXPECT_NEAR(state.damping.work.value(), states[0].damping.work.value(), 1e-13) << method.name;
  }
  EXPECT_LT(states[0].damping.work.value(), -0.1);
}

// Dashpots, which a lattice takes one by one: what that makes of them is of the order of the method.
TEST(Damping, OneByOneDiffersFromTheCommonSolutionByTheSecondOrder) {
  const auto model = damped_line();
  const auto difference = [&](double h) {
    const std::vector<double> steps = uniform_steps(*model, h);
    const auto end = [&](Integrator& integrator) {
      State state = moving_masses(*model);
      integrator.advance_to(state, 20.0);
      return at(integrator, state, 20.0);
    };
    const State common = end(*make_newmark(*model, steps)), alone = end(*make_newmark_on_a_lattice(*model, steps));
    return std::max(largest_difference(common.displacement, alone.displacement),
                    largest_difference(common.velocity, alone.velocity));
  };
  const std::vector<double> steps = {0.2, 0.1, 0.05, 0.025};
  std::vector<double> differences;
  for (const double h : steps) differences.push_back(difference(h));
  EXPECT_LT(differences.front(), 1e-4);
  EXPECT_GT(differences.back(), 1e-9);  // it is not the same
  EXPECT_GT(slope(steps, differences), 1.9) << differences.front() << " ... " << differences.back();
}

// ---- limits ----

TEST_P(EveryMethod, WithoutCoefficientsMovesAsWithoutDampers) {
  const auto without = [] {
    Model::Parts parts = particles(1, {0.0, 1.0, 2.1, 3.0, 4.2}, {1.0, 0.7, 1.3, 0.9, 0.6});
    add_pairs(parts, chain(5), Spring{2.0, 1.0});
    return std::make_unique<Model>(std::move(parts));
  }();
  const auto with = damped_line(0.0);
  std::vector<State> states;
  for (const Model* model : {without.get(), with.get()}) {
    const auto integrator = GetParam().make(*model, uniform_steps(*model, 0.1));
    State state = moving_masses(*model);
    integrator->advance_to(state, 10.0);
    states.push_back(at(*integrator, state, 10.0));
  }
  const bool bits = GetParam().name == "avi" || GetParam().name == "newmark";
  EXPECT_LT(largest_difference(states[0].displacement, states[1].displacement), bits ? 1e-300 : 1e-12);
  EXPECT_LT(largest_difference(states[0].velocity, states[1].velocity), bits ? 1e-300 : 1e-12);
}

// A falling mass, c h / m = 100, the load in another term than the drag: it ends at the velocity m g / c.
class Push final : public Force {
 public:
  Push(double size, double frequency) : size_(size), frequency_(frequency) {}
  Index size() const override { return 1; }
  std::span<const NodeId> stencil(Index) const override { return {&node_, 1}; }
  void add_impulse(Index, std::span<const double>, std::span<const double>, double t, double dt,
                   std::span<double> p) const override {
    p[0] += dt * size_ * std::cos(frequency_ * t);
  }

 private:
  NodeId node_{0};
  double size_, frequency_;
};

TEST_P(EveryMethod, StaysBoundedUnderStiffDampersOrIsExplicitInThem) {
  const double c = 100.0, m = 0.5, h = 0.5, f = 3.0;
  Model::Parts parts = particles(1, {0.0}, {m});
  parts.add(make_wells(parts.reference, 1, {NodeId{0}}, Well{{1e-9}, {}}));
  parts.add(make_wells(parts.reference, 1, {NodeId{0}}, Well{{1e-9}, {}}));
  host(parts, make_drag(1, {{NodeId{0}, c}}), 0);
  host(parts, std::make_unique<Push>(f, 0.0), 1);
  const Model model(std::move(parts));
  const auto integrator = GetParam().make(model, uniform_steps(model, h));
  State state = reference_state(model);
  state.velocity = {1.0};
  double fastest = 0.0;
  for (int n = 1; n <= (is_explicit_in_v(GetParam()) ? 60 : 600); ++n) {
    integrator->advance_to(state, n * h);
    const double v = at(*integrator, state, n * h).velocity[0];
    fastest = std::isfinite(v) ? std::max(fastest, std::abs(v)) : INFINITY;
  }
  if (is_explicit_in_v(GetParam())) {
    EXPECT_GT(fastest, 1e100);
    return;
  }
  EXPECT_LT(fastest, 3.1);
  EXPECT_NEAR(at(*integrator, state, 600 * h).velocity[0], f / c, 1e-4);
}

// The step of explicit kicks is limited by omega h < 2 alone.
TEST(Damping, LeavesTheStableStepOfExplicitKicksAsItIs) {
  for (const double ratio : {0.01, 0.3, 1.0, 10.0}) {
    Model::Parts parts = particles(1, {0.0}, {1.0});
    parts.add(make_wells(parts.reference, 1, {NodeId{0}}, Well{{1.0}, {}}));
    host(parts, make_drag(1, {{NodeId{0}, 2.0 * ratio}}));
    const Model model(std::move(parts));
    const auto reach = [&](double h) {
      double far = 0.0;
      AviLattice lattice(model, {h, {1}}, {.rechecked = 0.0});
      State state = reference_state(model);
      state.displacement = {1.0};
      for (int n = 1; n <= 3000; ++n) {
        lattice.advance_to(state, (n + 0.5) * h);
        far = std::max(far, std::abs(state.displacement[0]));
      }
      return far;
    };
    EXPECT_LT(reach(1.99), 12.0) << ratio;
    EXPECT_GT(reach(2.1), 1e3) << ratio;
  }
}

// ---- what is booked ----

struct Sums final : Observer {
  double kinetic = 0.0, damping = 0.0, instant = 0.0, at = -1.0, worst = -1.0;
  void on_strike(const Strike& strike) override {
    if (at >= 0.0 && strike.time != at) close();
    at = strike.time;
    instant += strike.damping_work;
    kinetic += strike.kinetic_change;
    damping += strike.damping_work;
  }
  void close() {
    worst = std::max(worst, instant);
    instant = 0.0;
  }
};

// A free body of two cell types of damping, spinning and shaking, with gravity.
Body damped_body(double alpha, double viscosity, bool gravity, double drag = 0.0) {
  return make_body_with(
      centred(triangle_mesh(CellType::triangle3, 2, 0.15, 12)), NeoHookean{{1.3, 0.7}}, 1.2,
      [&](const Mesh& mesh, Model::Parts& parts) {
        if (alpha > 0.0) host(parts, make_rayleigh(cells_of(parts), {alpha, 0.0}));
        if (viscosity > 0.0) host(parts, make_kelvin_voigt(cells_of(parts), {viscosity, 0.7 * viscosity}));
        if (drag > 0.0) host_drag(parts, drag);
        if (!gravity) return;
        std::vector<Index> all(static_cast<std::size_t>(cells_of(parts).size()));
        std::iota(all.begin(), all.end(), 0);
        host(parts, make_gravity(mesh, cells_of(parts), all, formulas({"0.02", "-0.03*cos(t)"}, 2)).force);
      });
}
State shaken(const Body& body) { return without_net_momentum(body, moving_state(body, 0.3, 0.05, 5)); }

class ExplicitMethod : public testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Methods, ExplicitMethod, testing::ValuesIn(methods()),
                         [](const auto& each) { return plain(each.param.name); });

// T(end) - T(start) is the sum over kicks of (-dt dV/dx + loads + dampers) . (v- + v+)/2, and no instant of dampers
// gives energy.
TEST_P(ExplicitMethod, BooksWhatDampersTakeToRounding) {
  const Body body = damped_body(0.05, 0.1, true, 0.02);
  const Model& model = *body.model;
  const auto integrator = GetParam().make(model, own_steps(model, 0.4));
  State state = shaken(body);
  integrator->advance_to(state, 1e-9);  // the starting half kicks, which no observer sees
  const double before = kinetic_energy(model, state), booked = state.damping.work.value();
  EXPECT_LT(booked, 0.0);
  Sums sums;
  integrator->advance_to(state, 20.0, sums);
  sums.close();
  const double change = kinetic_energy(model, state) - before;
  EXPECT_NEAR(sums.kinetic, change, 1e-13 * before * 20);
  EXPECT_NEAR(sums.damping, state.damping.work.value() - booked, 1e-14 * before * 20);
  EXPECT_LT(sums.damping, -0.1 * before);
  EXPECT_LT(sums.worst, 0.0);
}

TEST_P(EveryMethod, BooksTheMomentaThatDampersChange) {
  const Body body = damped_body(0.05, 0.1, true, 0.02);
  const auto integrator = GetParam().make(*body.model, own_steps(*body.model, 0.4));
  State state = shaken(body);
  const Balance balance = run_and_balance(*body.model, *integrator, state, 10.0, 20);
  const Claims claims = integrator->claims();
  EXPECT_LT(balance.linear_momentum().error, 1e-12);
  EXPECT_LT(balance.angular_momentum().error, claims.angular_momentum == Conservation::exact ? 2e-12 : 0.02);
  const auto moved = [](const Balance::Momentum& m, std::size_t c) { return std::abs(m.final[c] - m.initial[c]); };
  EXPECT_GT(moved(balance.linear_momentum(), 0), 0.1);
  EXPECT_GT(moved(balance.angular_momentum(), 2), 0.1 * std::abs(balance.angular_momentum().initial[2]));
}

TEST_P(EveryMethod, ClosesTheBalanceOfEnergyWithWhatIsBooked) {
  std::vector<double> bands, steps;
  double order = 0.0;
  for (const double part : {1.0, 0.5}) {
    const Body body = damped_body(0.05, 0.1, true, 0.02);
    const bool first_order = GetParam().make(*body.model, uniform_steps(*body.model, 0.1))->claims().order == 1;
    const double h = part * (first_order ? 0.025 : 0.1);
    const auto integrator = GetParam().make(*body.model, uniform_steps(*body.model, h));
    order = std::min(2.0, integrator->claims().order);
    State state = shaken(body);
    const Balance balance = run_and_balance(*body.model, *integrator, state, 10.0, 50);
    bands.push_back(balance.energy().band), steps.push_back(h);
    EXPECT_GT((balance.energy().initial - balance.energy().final) / balance.energy().reference, 0.1);
  }
  EXPECT_LT(bands[1], order == 1 ? 0.05 : 5e-3);
  EXPECT_TRUE(bands[1] < 1e-6 || slope(steps, bands) > order - 0.4) << bands[0] << " " << bands[1];
}

// ---- what is kept ----

// Viscosity leaves the spin of a free body alone, drag does not: L falls as exp(-alpha t).
TEST_P(EveryMethod, KeepsTheSpinUnderViscosityAndNotUnderDrag) {
  const double t = 10.0, alpha = 0.1;
  for (const bool viscous : {true, false}) {
    const Body body = viscous ? damped_body(0.0, 0.2, false) : damped_body(alpha, 0.0, false);
    const auto integrator = GetParam().make(*body.model, own_steps(*body.model, 0.3));
    State state = shaken(body);
    const Momenta start = momenta(*body.model, state);
    integrator->advance_to(state, t);
    const double ratio = momenta(*body.model, at(*integrator, state, t)).angular[2] / start.angular[2];
    const Claims claims = integrator->claims();
    if (!viscous) {
      EXPECT_NEAR(ratio, std::exp(-alpha * t), claims.order == 1 ? 0.03 : 2e-3);
    } else if (claims.angular_momentum == Conservation::exact) {
      EXPECT_NEAR(ratio, 1.0, 2e-12);
    } else {
      EXPECT_NEAR(ratio, 1.0, 0.02);
    }
  }
}

// Of a damped free body energy rises between two samples by no more than the band of the undamped one.
TEST_P(ExplicitMethod, LosesEnergyButForTheBand) {
  const auto run = [&](double viscosity, double& rise) {
    const Body body = damped_body(0.0, viscosity, false);
    const auto integrator = GetParam().make(*body.model, own_steps(*body.model, 0.4));
    State state = shaken(body);
    double lowest = std::numeric_limits<double>::infinity();
    rise = 0.0;
    for (int i = 0; i <= 200; ++i) {
      integrator->advance_to(state, 0.2 * i);
      const Energies e = energies(*body.model, integrator->synchronized(state, 0.2 * i));
      lowest = std::min(lowest, e.kinetic + e.potential);
      rise = std::max(rise, e.kinetic + e.potential - lowest);
    }
    return lowest;
  };
  double undamped = 0.0, damped = 0.0;
  const double before = run(0.0, undamped), after = run(0.1, damped);
  EXPECT_LT(damped, undamped);
  EXPECT_LT(after, 0.95 * before);  // most of the rest is its spin
}

// ---- loads and supports beside dampers ----

// m x'' + c x' + k x = f cos(W t), from the steady motion on.
TEST_P(EveryMethod, FollowsAForcedOscillatorWithItsOrder) {
  const double m = 0.8, c = 0.3, k = 1.7, f = 0.4, W = 1.1;
  const std::complex<double> amplitude = f / std::complex<double>(k - m * W * W, c * W);
  Model::Parts parts = particles(1, {0.0}, {m});
  parts.add(make_wells(parts.reference, 1, {NodeId{0}}, Well{{k}, {}}));
  host(parts, make_drag(1, {{NodeId{0}, c}}));
  host(parts, std::make_unique<Push>(f, W));
  const Model model(std::move(parts));
  const double t = 6.0;
  std::vector<double> steps, errors;
  double order = 0.0;
  for (const int n : {24, 48, 96}) {
    order = GetParam().make(model, {t})->claims().order;
    const double h = t / (order == 1 ? 16 * n : n);
    const auto integrator = GetParam().make(model, {h});
    State state = reference_state(model);
    state.displacement = {amplitude.real()}, state.velocity = {-W * amplitude.imag()};
    integrator->advance_to(state, t);
    const State end = at(*integrator, state, t);
    const std::complex<double> now = amplitude * std::exp(std::complex<double>(0.0, W * t));
    steps.push_back(h);
    errors.push_back(std::max(std::abs(end.displacement[0] - now.real()), std::abs(end.velocity[0] + W * now.imag())));
  }
  if (order == 6) steps.resize(2), errors.resize(2);
  EXPECT_NEAR(slope(steps, errors), order, order <= 2 ? 0.15 : 0.4) << errors.back();
}

// A mass on a spring and a dashpot whose other end moves as prescribed: the steady motion of base excitation.
TEST_P(EveryMethod, FollowsAMovingSupportThroughADashpot) {
  const double m = 0.8, c = 0.3, k = 1.7, W = 1.1, base = 0.05;
  const std::complex<double> amplitude =
      base * std::complex<double>(k, c * W) / std::complex<double>(k - m * W * W, c * W);
  Model::Parts parts = particles(1, {0.0, 1.0}, {1.0, m});
  add_pairs(parts, chain(2), Spring{k, 1.0});
  host(parts, make_dashpots(parts.reference, 1, chain(2), c));
  std::vector<Support> all;
  all.push_back(moving("base", {NodeId{0}}, {"0.05*cos(1.1*t)"}, 1));
  parts.supports = Supports(std::move(all), parts.reference, 1);
  const Model model(std::move(parts));
  const double t = 6.0;
  std::vector<double> errors, bands;
  double order = 0.0;
  for (const int n : {60, 120}) {
    const auto integrator = GetParam().make(model, {t / n});
    order = integrator->claims().order;
    State state = reference_state(model);
    state.displacement = {base, amplitude.real()}, state.velocity = {0.0, -W * amplitude.imag()};
    const Balance balance = run_and_balance(model, *integrator, state, t, 30);
    const State end = at(*integrator, state, t);
    const std::complex<double> now = amplitude * std::exp(std::complex<double>(0.0, W * t));
    errors.push_back(std::abs(end.displacement[1] - now.real()) + std::abs(end.velocity[1] + W * now.imag()));
    bands.push_back(balance.energy().band);
    EXPECT_NEAR(end.velocity[0], -base * W * std::sin(W * t), 1e-9);  // held components have their velocity
    EXPECT_LT(balance.linear_momentum().error, 1e-8);                 // prescribed velocities are differences
  }
  EXPECT_GT(std::log2(errors[0] / errors[1]), order >= 2 ? 1.7 : 0.8) << errors[0] << " " << errors[1];
  EXPECT_LT(bands[1], order >= 2 ? 2e-3 : 0.1);
}

// ---- the 2004 paper's Figure 3 ----

// A weakly damped chain at a large step: explicit variational methods find the rate at which energy decays,
// Runge-Kutta's own damping is larger than the chain's. (The midpoint rule underrates it by the factor 1 + (omega h /
// 2)^2.)
TEST(Damping, OfAWeaklyDampedChainIsFoundAtLargeSteps) {
  std::vector<double> reference(8);
  std::iota(reference.begin(), reference.end(), 0.0);
  Model::Parts parts = particles(1, reference, std::vector<double>(8, 1.0));
  add_pairs(parts, chain(8), Spring{1.0, 1.0});
  const double c = 0.01;
  host_drag(parts, c);
  const Model model(std::move(parts));
  // Without net momentum; the fastest mode has omega = 1.96.
  State start = reference_state(model);
  for (std::size_t a = 0; a < 8; ++a)
    start.displacement[a] = (a % 2 == 0 ? 0.1 : -0.1) + 0.02 * std::sin(2.0 * static_cast<double>(a));
  const auto rate_error = [&](Integrator& integrator) {
    State state = start;
    std::vector<double> t, e;
    for (int i = 0; i <= 400; ++i) {
      integrator.advance_to(state, 0.25 * i);
      const Energies now = energies(model, integrator.synchronized(state, 0.25 * i));
      t.push_back(std::exp(0.25 * i)), e.push_back(now.kinetic + now.potential);  // slope() takes logarithms
    }
    return std::abs(-slope(t, e) / c - 1.0);
  };
  const double h = 0.5;  // omega h = 0.98
  SyncRk4 rk4(model, h);
  const double error_of_rk4 = rate_error(rk4);
  EXPECT_GT(error_of_rk4, 0.1);
  SyncNewmark newmark(model, h);
  SyncVariational trapezoidal(model, trapezoidal_action(0.5), h);
  AviExplicit avi(model, {h, 0.5 * h, h, h, 0.5 * h, h, 0.75 * h});
  for (Integrator* method : std::initializer_list<Integrator*>{&newmark, &trapezoidal, &avi}) {
    const double error = rate_error(*method);
    EXPECT_LT(error, 0.05) << method->name();
    EXPECT_LT(error, 0.5 * error_of_rk4) << method->name();
  }
}

}  // namespace
}  // namespace tempi::test
