// SPDX-License-Identifier: Apache-2.0
// Every integrator is held to what it claims; integrators made wrong on purpose fail every check.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <fstream>
#include <map>

#include "support/adaptive_methods.hpp"
#include "support/every_method.hpp"
#include "support/pair_cases.hpp"
#include "support/stepping_methods.hpp"
#include "tempi/core/error.hpp"

namespace tempi::test {
namespace {

// What a method may be wrong in: it moves with the old velocity (forward Euler), or it kicks node 0 the wrong way.
enum class Drift { after_kick, before_kick_of_old_velocity };
enum class Sign { right, wrong_at_node_0 };

// Not an integrator for use: forward Euler and leapfrog with a wrong sign. Claims what Newmark claims.
class WrongMethod final : public Integrator {
 public:
  WrongMethod(const Model& model, double step, Drift drift, Sign sign)
      : model_(model), step_(step), drift_(drift), sign_(sign) {}

  std::string_view name() const override { return "wrong"; }
  Claims claims() const override {
    return {2, Conservation::exact, Conservation::exact, Conservation::bounded, true, true};
  }
  Snapshot synchronized(const State& state, double t) const override {
    Snapshot snapshot{t, state, {}, 0.0};
    State& s = snapshot.state;
    const double left = t - static_cast<double>(done_) * step_;
    for (std::size_t i = 0; i < s.displacement.size(); ++i) s.displacement[i] += left * s.velocity[i];
    if (drift_ == Drift::after_kick && started_) kick(s, left - 0.5 * step_);
    for (double& clock : s.clock) clock = t;
    snapshot.potential_energy = model_.potential_energy(s.displacement, t);
    return snapshot;
  }
  double step(TermId) const override { return step_; }
  Index updates(TermId) const override { return done_; }
  void save(ArchiveWriter&) const override {}
  void load(ArchiveReader&) override {}

 private:
  void advance(State& state, double t_end, Observer*) override {
    if (!started_ && drift_ == Drift::after_kick) kick(state, 0.5 * step_);
    started_ = true;
    for (; static_cast<double>(done_ + 1) * step_ < t_end; ++done_) {
      const std::vector<double> v = state.velocity;
      if (drift_ == Drift::before_kick_of_old_velocity) kick(state, step_);
      for (std::size_t i = 0; i < v.size(); ++i) state.displacement[i] += step_ * v[i];
      if (drift_ == Drift::after_kick) kick(state, step_);
    }
  }
  void kick(State& state, double dt) const {
    const auto d = static_cast<std::size_t>(model_.dim());
    std::vector<double> force(state.velocity.size(), 0.0);
    for (Index i = 0; i < model_.term_count(); ++i) {
      const auto term = model_.term(make_id<TermId>(i));
      std::vector<double> g(term.stencil().size() * d, 0.0);
      term.potential->add_gradient(term.k, state.displacement, 0.0, g);
      for (std::size_t k = 0; k < g.size(); ++k)
        force[static_cast<std::size_t>(index(term.stencil()[k / d])) * d + k % d] -= g[k];
    }
    for (std::size_t i = 0; i < force.size(); ++i) {
      const double sign = sign_ == Sign::wrong_at_node_0 && i < d ? -1.0 : 1.0;
      state.velocity[i] += sign * dt * force[i] / model_.mass()[i / d];
    }
  }

  const Model& model_;
  double step_;
  Drift drift_;
  Sign sign_;
  Index done_ = 0;
  bool started_ = false;
};

Method euler() {
  return {"forward_euler", [](const Model& model, const std::vector<double>& steps) -> std::unique_ptr<Integrator> {
            return std::make_unique<WrongMethod>(model, smallest(steps), Drift::before_kick_of_old_velocity,
                                                 Sign::right);
          }};
}
Method wrong_sign() {
  return {"wrong_sign", [](const Model& model, const std::vector<double>& steps) -> std::unique_ptr<Integrator> {
            return std::make_unique<WrongMethod>(model, smallest(steps), Drift::after_kick, Sign::wrong_at_node_0);
          }};
}

// ---- what moves: both free, in the plane, spinning, with noise, without net momentum ----

struct Subject {
  std::string name;
  std::function<Body()> body;
  std::function<State(const Body&)> start;
  int steps;  // smallest ones, of runs that show balances
};

Subject elastic_body() {
  return {"body",
          [] {
            return make_body(centred(triangle_mesh(CellType::triangle3, 2, 0.15, 12)), NeoHookean{{1.3, 0.7}}, 1.2);
          },
          [](const Body& body) { return without_net_momentum(body, moving_state(body, 0.3, 0.03, 5)); }, 20000};
}

// Particles, each pair at rest where it begins.
Subject cluster(Index count = 5) {
  const auto make = [count] {
    std::vector<double> X = {0.0, 0.0, 1.0, 0.1, 0.2, 0.9, -0.9, 0.4, -0.3, -1.1}, m = {1.0, 0.7, 1.3, 0.9, 0.6};
    X.resize(2 * static_cast<std::size_t>(count)), m.resize(static_cast<std::size_t>(count));
    Model::Parts parts = particles(2, X, m);
    for (const auto& pair : all_pairs(count)) {
      const auto a = 2 * static_cast<std::size_t>(index(pair[0])), b = 2 * static_cast<std::size_t>(index(pair[1]));
      add_pairs(parts, {pair}, Morse{0.5, 1.4, std::hypot(X[b] - X[a], X[b + 1] - X[a + 1])});
    }
    Body body;
    body.model = std::make_unique<Model>(std::move(parts));
    return body;
  };
  const auto start = [](const Body& body) {
    State state = reference_state(*body.model);
    Random random(5);
    const auto X = body.model->reference();
    for (std::size_t i = 0; i < X.size(); ++i)
      state.velocity[i] = (i % 2 == 0 ? -0.3 * X[i + 1] : 0.3 * X[i - 1]) + random.uniform(-0.05, 0.05);
    const auto mean = mass_average(*body.model, state.velocity);
    for (std::size_t i = 0; i < X.size(); ++i) state.velocity[i] -= mean[i % 2];
    return state;
  };
  return {"cluster", make, start, 10000};
}

struct Case {
  Method method;
  Subject subject = elastic_body();
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.method.name << " on a " << c.subject.name; }

std::vector<double> steps_of(const Body& body) { return own_steps(*body.model, 0.3); }

Claims claims_of(const Case& c) {
  const Body body = c.subject.body();
  return c.method.make(*body.model, steps_of(body))->claims();
}

// ---- measures, one per claim ----

Balance balance_of(const Case& c, int smallest_steps, double safety = 0.3) {
  const Body body = c.subject.body();
  const std::vector<double> steps = own_steps(*body.model, safety);
  const auto integrator = c.method.make(*body.model, steps);
  State state = c.subject.start(body);
  return run_and_balance(*body.model, *integrator, state, smallest_steps * smallest(steps), 500);
}

// Worst order of positions and reported velocities over three halvings, at a time that is a multiple of all steps.
// Methods of high order need long steps for errors above rounding.
double order_of(const Case& c) {
  const Body body = c.subject.body();
  const double claim = claims_of(c).order;
  const double base = (claim <= 2 ? 0.02 : claim <= 4 ? 0.05 : 0.4) * smallest(own_steps(*body.model, 1.0));
  const auto make = [&](double b) {
    std::vector<double> steps;
    for (Index i = 0; i < body.model->term_count(); ++i)
      steps.push_back(b * std::array{2.0, 3.0, 5.0}[static_cast<std::size_t>(i % 3)]);
    return c.method.make(*body.model, steps);
  };
  const double t = common_multiple_near(120 * base, steps_taken(*body.model, *make(base)));
  SyncVariational fine(*body.model, gauss_action(6), base / (claim <= 2 ? 1 : 8));
  State reference = c.subject.start(body);
  fine.advance_to(reference, t);
  reference = fine.synchronized(reference, t).state;
  std::vector<double> h, u, v;
  for (double b = base; b > base / 9; b *= 0.5) {
    const auto integrator = make(b);
    State state = c.subject.start(body);
    integrator->advance_to(state, t);
    const State at = integrator->synchronized(state, t).state;
    h.push_back(b), u.push_back(largest_difference(at.displacement, reference.displacement));
    v.push_back(largest_difference(at.velocity, reference.velocity));
  }
  return std::min(slope(h, u), slope(h, v));
}

// How far the run misses its start when it goes 200.0 smallest steps, turns round and comes back.
double irreversibility_of(const Case& c) {
  const Body body = c.subject.body();
  const std::vector<double> steps = steps_of(body);
  const double t = 200 * smallest(steps);
  const State start = c.subject.start(body);
  State state = start;
  for (int way = 0; way < 2; ++way) {
    const auto integrator = c.method.make(*body.model, steps);
    integrator->advance_to(state, t);
    state = integrator->synchronized(state, t).state;
    for (double& v : state.velocity) v = -v;
    for (double& clock : state.clock) clock = 0.0;
  }
  return std::max(largest_difference(state.displacement, start.displacement),
                  largest_difference(state.velocity, start.velocity));
}

// Largest violation of A^T J A = J over all pairs of directions, by central differences (see symplectic_test.cpp).
double asymplecticity_of(const Case& c) {
  const Body body = c.subject.body();
  const Model& model = *body.model;
  const std::vector<double> steps = own_steps(model, 0.5);
  const double omega = 1.0 / smallest(steps), spacing = 1e-5, t = 10.3 * smallest(steps);
  const auto n = static_cast<Eigen::Index>(c.subject.start(body).velocity.size());
  const auto flow = [&](State state) {
    const auto integrator = c.method.make(model, steps);
    integrator->advance_to(state, t);
    return integrator->synchronized(state, t).state;
  };
  const auto scale = [&](Eigen::Index i) { return std::sqrt(model.mass()[static_cast<std::size_t>(i / 2)] * omega); };
  Eigen::MatrixXd A(2 * n, 2 * n), J = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  for (Eigen::Index j = 0; j < 2 * n; ++j) {
    const auto i = static_cast<std::size_t>(j % n);
    State up = c.subject.start(body), down = up;
    double& x_up = j < n ? up.displacement[i] : up.velocity[i];
    double& x_down = j < n ? down.displacement[i] : down.velocity[i];
    const double by = j < n ? spacing / scale(j % n) : spacing * omega / scale(j % n);
    x_up += by, x_down -= by;
    up = flow(up), down = flow(down);
    for (Eigen::Index k = 0; k < n; ++k) {
      const auto row = static_cast<std::size_t>(k);
      A(k, j) = scale(k) * (up.displacement[row] - down.displacement[row]) / (2.0 * spacing);
      A(k + n, j) = scale(k) / omega * (up.velocity[row] - down.velocity[row]) / (2.0 * spacing);
    }
  }
  J.topRightCorner(n, n).setIdentity();
  J.bottomLeftCorner(n, n) = -Eigen::MatrixXd::Identity(n, n);
  return (A.transpose() * J * A - J).cwiseAbs().maxCoeff();
}

// ---- verdicts: whether a measure lives up to a claim ----

// What is not claimed must not be kept: a claim can be too modest, too.
bool keeps(double error, Conservation claim) {
  if (claim == Conservation::exact) return error < 1e-12;
  return error > 1e-9 && (claim == Conservation::none || error < 0.1);
}
// At 0.3 of the stable step: (omega h)^2 / 8, and no trend: what drifts makes its own band.
bool keeps_energy(const Balance::Energy& energy) {
  const bool trend = energy.band > 1e-10 && std::abs(energy.drift) > 0.5 * energy.band;
  return energy.band < 0.05 && std::abs(energy.drift) < 0.01 && !trend;
}
bool is_reversible(double miss) { return miss < 1e-11; }     // 400 steps of rounding, nonlinear growth of some tens
bool is_symplectic(double defect) { return defect < 1e-6; }  // differences of spacing 1e-5
bool has_order(double order, double claim) { return std::abs(order - claim) < 0.1; }

class IntegratorClaims : public testing::TestWithParam<Case> {};

// Order 6 at longer steps: at 0.3 of the stable step its energy is as good as exact.
TEST_P(IntegratorClaims, OfMomentaAndEnergyHold) {
  const Claims claims = claims_of(GetParam());
  const Balance balance = balance_of(GetParam(), GetParam().subject.steps, claims.order == 6 ? 0.6 : 0.3);
  EXPECT_TRUE(keeps(balance.linear_momentum().error, claims.linear_momentum));
  EXPECT_TRUE(keeps(balance.angular_momentum().error, claims.angular_momentum)) << balance.angular_momentum().error;
  const Balance::Energy energy = balance.energy();
  RecordProperty("balance", fmt::format("{:.2g} {:.2g} {:.2g} {:.2g}", balance.linear_momentum().error,
                                        balance.angular_momentum().error, energy.band, energy.drift));
  EXPECT_EQ(keeps_energy(energy), claims.energy != Conservation::none) << energy.band << " " << energy.drift;
  EXPECT_EQ(energy.band < 1e-10, claims.energy == Conservation::exact) << energy.band;
}

TEST_P(IntegratorClaims, OfOrderHold) {
  const double order = order_of(GetParam());
  RecordProperty("order", std::to_string(order));
  EXPECT_TRUE(has_order(order, claims_of(GetParam()).order)) << order;
}

TEST_P(IntegratorClaims, OfReversibilityHold) {
  const double miss = irreversibility_of(GetParam());
  RecordProperty("miss", std::to_string(miss * 1e15) + "e-15");
  EXPECT_EQ(is_reversible(miss), claims_of(GetParam()).reversible) << miss;
}

TEST_P(IntegratorClaims, OfSymplecticityHold) {
  const double defect = asymplecticity_of(GetParam());
  RecordProperty("defect", std::to_string(defect * 1e9) + "e-9");
  EXPECT_EQ(is_symplectic(defect), claims_of(GetParam()).symplectic) << defect;
}

std::vector<Case> each(const std::vector<Method>& methods, const Subject& subject) {
  std::vector<Case> cases;
  for (const Method& method : methods) cases.push_back({method, subject});
  return cases;
}
std::string name_of_case(const testing::TestParamInfo<Case>& info) { return plain(info.param.method.name); }

INSTANTIATE_TEST_SUITE_P(OnABody, IntegratorClaims, testing::ValuesIn(each(every_method(), elastic_body())),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(OnACluster, IntegratorClaims, testing::ValuesIn(each(every_method(), cluster())),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(FullOnABody, IntegratorClaims,
                         testing::ValuesIn(each({symplectic_energy_momentum()}, elastic_body())), name_of_case);

// ---- over many steps ----

class EnergyOverAHundredThousandSteps : public testing::TestWithParam<Case> {};

// Neither a trend nor a band that grows.
TEST_P(EnergyOverAHundredThousandSteps, HasNoTrendIfClaimed) {
  const Balance balance = balance_of(GetParam(), 100000);
  const Claims claims = claims_of(GetParam());
  const Balance::Energy energy = balance.energy();
  RecordProperty("energy", fmt::format("{:.2g} {:.2g}", energy.band, energy.drift));
  RecordProperty("momenta",
                 fmt::format("{:.2g} {:.2g}", balance.linear_momentum().error, balance.angular_momentum().error));
  EXPECT_EQ(keeps_energy(energy), claims.energy != Conservation::none) << energy.band << " " << energy.drift;
  EXPECT_LT(balance.linear_momentum().error, 1e-12);
  // What solvers leave of the moment adds up.
  EXPECT_EQ(balance.angular_momentum().error < 1e-11, claims.angular_momentum == Conservation::exact)
      << balance.angular_momentum().error;
}

// Those that solve equations take seconds.
std::vector<Method> those_that(bool solve) {
  std::vector<Method> all = every_method();
  std::erase_if(all, [&](const Method& method) {
    const std::string& name = method.name;
    const bool solves = name.starts_with("midpoint") || name.starts_with("symmetric") || name.starts_with("gauss") ||
                        name == "lobatto 4" || name == "lobatto 6" || name == "newmark 0.25 0.5" ||
                        name == "newmark 0.3025 0.6" || name == "energy momentum";
    return solves != solve;
  });
  return all;
}
INSTANTIATE_TEST_SUITE_P(OfThree, EnergyOverAHundredThousandSteps,
                         testing::ValuesIn(each(those_that(false), cluster(3))), name_of_case);
INSTANTIATE_TEST_SUITE_P(FullOfThree, EnergyOverAHundredThousandSteps,
                         testing::ValuesIn(each(those_that(true), cluster(3))), name_of_case);

// ---- the table ----

// Every row of docs/methods.md (which is made from what methods claim in the program) names a method that tests hold to
// just these claims, and every method held has its row.
TEST(TableOfMethods, HasARowForEveryMethodAndItsClaims) {
  std::map<std::string, Method> of_row;
  for (const auto& [row, name] : std::vector<std::pair<std::string, std::string>>{
           {"`avi` |  | explicit", "avi"},
           {"`avi-implicit` | implicit_step | implicit", "avi implicit 0.5"},
           {"`newmark` |  | explicit", "newmark"},
           {"`symplectic-euler-a` |  | explicit", "symplectic euler a"},
           {"`symplectic-euler-b` |  | explicit", "symplectic euler b"},
           {"`trapezoidal` | alpha = 0.5 | explicit", "trapezoidal 0.5"},
           {"`trapezoidal` | other alpha | explicit", "trapezoidal 0.2"},
           {"`midpoint` | alpha = 0.5 | implicit", "midpoint 0.5"},
           {"`midpoint` | other alpha | implicit", "midpoint 0.3"},
           {"`symmetric-midpoint` | any alpha | implicit", "symmetric midpoint 0.25"},
           {"`gauss` | order = 2 | implicit", "gauss 2"},
           {"`gauss` | order = 4 | implicit", "gauss 4"},
           {"`gauss` | order = 6 | implicit", "gauss 6"},
           {"`lobatto` | order = 2 | explicit", "lobatto 2"},
           {"`lobatto` | order = 4 | implicit", "lobatto 4"},
           {"`lobatto` | order = 6 | implicit", "lobatto 6"},
           {"`newmark` | beta = 0.25 | implicit", "newmark 0.25 0.5"},
           {"`newmark` | beta = 0.3025, gamma = 0.6 | implicit", "newmark 0.3025 0.6"},
           {"`shake` |  | explicit", "shake"},
           {"`rattle` |  | explicit", "rattle"},
           {"`energy-momentum` | pairs of particles | implicit", "energy momentum"},
           {"`multi-domain` |  | explicit", "explicit domains"},
           {"`rk4` |  | explicit", "rk4"}}) {
    const std::vector<Method> all = every_method();
    const auto found = std::ranges::find(all, name, &Method::name);
    ASSERT_NE(found, all.end()) << name;
    of_row.emplace(row, *found);
  }
  of_row.emplace("`avi-adaptive` |  | explicit", adaptive_avi());  // held by integrator/avi_adaptive_test.cpp
  of_row.emplace("`energy-stepping` | energy_step | explicit", energy_stepping());  // by energy_stepping_test.cpp
  of_row.emplace("`force-stepping` | grid | explicit", force_stepping());           // by force_stepping_test.cpp
  const std::string reduced = "`force-stepping` | grid, reduced: two particles | explicit";
  of_row.emplace(reduced, force_stepping());
  Model::Parts two = particles(2, {0.0, 0.0, 1.0, 0.0}, {1.0, 1.0});
  add_pairs(two, all_pairs(2), LennardJones{1.0, 1.0, {}});
  const Model pair(std::move(two));
  of_row.emplace("`async-energy-stepping` | energy_step | explicit", async_energy_stepping());
  of_row.emplace("`symplectic-energy-momentum` | action = \"midpoint\" | implicit", symplectic_energy_momentum());

  const auto word = [](Conservation c) {
    return c == Conservation::exact ? "exact" : c == Conservation::bounded ? "bounded" : "no";
  };
  const auto yes = [](bool claim) { return claim ? "yes" : "no"; };
  std::ifstream file(TEMPI_SOURCE_DIR "/docs/methods.md");
  std::size_t rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `") || line.starts_with("| `method`")) continue;
    ++rows;
    const auto found =
        std::ranges::find_if(of_row, [&](const auto& entry) { return line.starts_with("| " + entry.first + " |"); });
    ASSERT_NE(found, of_row.end()) << "not held: " << line;
    const Claims c = found->first == reduced ? SteppingForce(pair, {{0.1}, false, true}, 1.0).claims()
                                             : claims_of({found->second, cluster()});
    EXPECT_EQ(line, "| " + found->first + " | " + fmt::format("{}", c.order) + " | " + word(c.linear_momentum) + " | " +
                        word(c.angular_momentum) + " | " + word(c.energy) + " | " + yes(c.symplectic) + " | " +
                        yes(c.reversible) + " |");
  }
  EXPECT_EQ(rows, of_row.size());
}

// ---- controls ----

// Balance of a run that may blow up: the verdict is then what has happened until then, which is enough to fail.
Balance balance_until_it_breaks(const Method& method) { return balance_of({method}, 100); }

TEST(WrongIntegrator, ForwardEulerFailsTheChecksOfAngularMomentumEnergyOrderReversibilityAndSymplecticity) {
  const Balance balance = balance_until_it_breaks(euler());
  EXPECT_TRUE(keeps(balance.linear_momentum().error, Conservation::exact));  // it does keep this one
  EXPECT_FALSE(keeps(balance.angular_momentum().error, Conservation::exact));
  EXPECT_FALSE(keeps_energy(balance.energy()));
  EXPECT_FALSE(has_order(order_of({euler()}), 2));
  EXPECT_FALSE(is_reversible(irreversibility_of({euler()})));
  EXPECT_FALSE(is_symplectic(asymplecticity_of({euler()})));
}

TEST(WrongIntegrator, KickingOneNodeTheWrongWayFailsTheChecksOfMomentaEnergyOrderAndSymplecticity) {
  const Balance balance = balance_until_it_breaks(wrong_sign());
  EXPECT_FALSE(keeps(balance.linear_momentum().error, Conservation::exact));
  EXPECT_FALSE(keeps(balance.angular_momentum().error, Conservation::exact));
  EXPECT_FALSE(keeps_energy(balance.energy()));
  EXPECT_FALSE(has_order(order_of({wrong_sign()}), 2));
  EXPECT_FALSE(is_symplectic(asymplecticity_of({wrong_sign()})));
}

}  // namespace
}  // namespace tempi::test
