// SPDX-License-Identifier: Apache-2.0
// The residual against a brute-force recomputation: every strike is recorded with all displacements and velocities,
// and eq. (97) is evaluated afterwards from the record.
#include "tempi/diagnostic/energy_residual.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/meshes.hpp"
#include "tempi/force/loads.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"
#include "tempi/model/steps.hpp"

namespace tempi {
namespace {

const Material material = NeoHookean{{1.3, 0.7}};
constexpr double gravity = -0.05;

struct Recorded {
  TermId term;
  double time, kinetic_before, kinetic_change;
  std::vector<double> displacement, velocity;  // of all nodes, after the strike
};

// Passes every strike on to the residual and keeps its own record.
class Recorder final : public Observer {
 public:
  explicit Recorder(const Model& model) : residual(model) {}
  void on_strike(const Strike& s) override {
    residual.on_strike(s);
    strikes.push_back({s.term, s.time, s.kinetic_before, s.kinetic_change, s.state.displacement, s.state.velocity});
  }
  EnergyResidual residual;
  std::vector<Recorded> strikes;
};

double kinetic(const Model& model, std::span<const NodeId> nodes, const std::vector<double>& velocity) {
  const auto d = static_cast<std::size_t>(model.dim());
  double T = 0.0;
  for (const NodeId a : nodes)
    for (std::size_t c = 0; c < d; ++c) {
      const double v = velocity[static_cast<std::size_t>(index(a)) * d + c];
      T += 0.5 * model.mass(a) * v * v;
    }
  return T;
}

struct Recording {
  Recording(Mesh m, bool loaded, bool equal_steps, std::string_view held = "") : mesh(std::move(m)) {
    Model::Parts parts = test::elastic_parts(mesh, material, 2.0);
    const auto& cells = dynamic_cast<const ElasticCells&>(*parts.potentials[0]);
    g.assign(static_cast<std::size_t>(mesh.dim()), 0.0);
    if (loaded) {
      g.back() = gravity;
      std::vector<Expression> b;
      for (const double value : g) b.emplace_back(value);
      test::add_force(parts, make_gravity(mesh, cells, {}, VectorExpression(std::move(b))));
    }
    if (!held.empty()) parts.supports = test::held_at_rest(mesh, held);
    model = std::make_unique<Model>(std::move(parts));
    State state = reference_state(*model);
    test::Random random(5);
    for (double& v : state.velocity) v = random.uniform(-0.05, 0.05);
    for (const NodeId a : model->supports().held_nodes())
      for (int c = 0; c < mesh.dim(); ++c) state.velocity[static_cast<std::size_t>(index(a) * mesh.dim() + c)] = 0.0;
    const StepRule rule = equal_steps ? StepRule::uniform : StepRule::element;
    AviExplicit integrator(*model, choose_steps(*model, state.displacement, SafetyFraction{0.5}, rule, {}));
    recorder = std::make_unique<Recorder>(*model);
    integrator.advance_to(state, 3.0, *recorder);
  }

  const ElasticCells& cells() const { return dynamic_cast<const ElasticCells&>(model->potential(0)); }

  // V_K with the potential of gravity on the term's share of mass, 2003 paper eq. (9), from u = 0.
  double V(TermId term, const std::vector<double>& u) const {
    const auto [potential, k] = model->term(term);
    double sum = potential->energy(k, u, 0.0);
    const auto d = g.size();
    for (std::size_t a = 0; a < potential->stencil(k).size(); ++a)
      for (std::size_t c = 0; c < d; ++c)
        sum -= cells().mass(k, a) * g[c] * u[static_cast<std::size_t>(index(potential->stencil(k)[a])) * d + c];
    return sum;
  }

  Mesh mesh;
  std::vector<double> g;
  std::unique_ptr<Model> model;
  std::unique_ptr<Recorder> recorder;
};

struct RunCase {
  std::string name;
  bool loaded, equal_steps;
  std::string_view held;
  friend void PrintTo(const RunCase& c, std::ostream* out) { *out << c.name; }
};

class EveryRun : public testing::TestWithParam<RunCase> {
 protected:
  EveryRun()
      : run(test::triangle_mesh(CellType::triangle3, 3, 0.15, 41), GetParam().loaded, GetParam().equal_steps,
            GetParam().held) {}
  const std::vector<Recorded>& strikes() const { return run.recorder->strikes; }
  Recording run;
};
INSTANTIATE_TEST_SUITE_P(EnergyResidual, EveryRun,
                         testing::Values(RunCase{"free", false, false, ""}, RunCase{"falling", true, false, ""},
                                         RunCase{"hanging", true, false, "left"},
                                         RunCase{"free_with_ties", false, true, ""},
                                         RunCase{"hanging_with_ties", true, true, "left"}),
                         [](const auto& param) { return param.param.name; });

// T^+ - T^- from the recorded velocities: strikes of one instant share their nodes' change between them, all of it.
TEST_P(EveryRun, kinetic_changes_of_an_instant_add_up_to_that_of_all_nodes) {
  std::vector<NodeId> all;
  for (Index a = 0; a < run.model->node_count(); ++a) all.push_back(make_id<NodeId>(a));
  double before = kinetic(*run.model, all, strikes().front().velocity);
  std::size_t instants = 0;
  for (std::size_t i = 0; i < strikes().size(); ++instants) {
    double change = 0.0;
    std::size_t j = i;
    for (; j < strikes().size() && strikes()[j].time == strikes()[i].time; ++j) change += strikes()[j].kinetic_change;
    const double after = kinetic(*run.model, all, strikes()[i].velocity);
    if (i > 0) {
      EXPECT_NEAR(after - before, change, 1e-15);
    }
    before = after;
    i = j;
  }
  if (GetParam().equal_steps)
    EXPECT_EQ(instants * static_cast<std::size_t>(run.model->term_count()), strikes().size());
  else
    EXPECT_EQ(instants, strikes().size());
}

TEST_P(EveryRun, a_strike_alone_in_its_instant_changes_the_kinetic_energy_of_its_nodes) {
  std::size_t alone = 0;
  for (const Recorded& s : strikes()) {
    if (std::ranges::count(strikes(), s.time, &Recorded::time) > 1) continue;
    const double after = kinetic(*run.model, run.model->term(s.term).stencil(), s.velocity);
    EXPECT_NEAR(s.kinetic_before + s.kinetic_change, after, 1e-15);
    ++alone;
  }
  EXPECT_EQ(alone, GetParam().equal_steps ? 0 : strikes().size());
}

TEST_P(EveryRun, residual_is_that_of_the_recorded_strikes) {
  double largest = 0.0;
  for (Index i = 0; i < run.model->term_count(); ++i) {
    const auto term = make_id<TermId>(i);
    const Recorded* previous = nullptr;
    double last = 0.0, sum = 0.0, scale = 0.0;
    for (const Recorded& s : strikes()) {
      if (s.term != term) continue;
      if (previous != nullptr) {
        last = previous->kinetic_change + run.V(term, s.displacement) - run.V(term, previous->displacement);
        sum += last;
      }
      scale = std::max(scale, s.kinetic_before);
      previous = &s;
    }
    ASSERT_NE(previous, nullptr);
    const auto k = static_cast<std::size_t>(i);
    EXPECT_NEAR(run.recorder->residual.last()[k], last, 1e-14 * scale);
    EXPECT_NEAR(run.recorder->residual.accumulated()[k], sum, 1e-12 * scale);
    largest = std::max(largest, std::abs(sum));
  }
  EXPECT_GT(largest, 1e-12) << "nothing was compared";
}

TEST_P(EveryRun, worst_is_the_term_whose_accumulated_residual_was_largest_at_any_time) {
  const auto n = static_cast<std::size_t>(run.model->term_count());
  std::vector<const Recorded*> previous(n, nullptr);
  std::vector<double> sum(n, 0.0), peak(n, 0.0), energy(n, 0.0);
  EnergyResidual::Worst expected{TermId{0}, 0, 0, 0, 0, 0};
  for (const Recorded& s : strikes()) {
    const auto k = static_cast<std::size_t>(index(s.term));
    if (previous[k] != nullptr) {
      sum[k] += previous[k]->kinetic_change + run.V(s.term, s.displacement) - run.V(s.term, previous[k]->displacement);
      peak[k] = std::max(peak[k], std::abs(sum[k]));
      if (std::abs(sum[k]) > std::abs(expected.accumulated)) {
        expected.term = s.term;
        expected.time = s.time;
        expected.accumulated = sum[k];
      }
    }
    const auto [potential, element] = run.model->term(s.term);
    energy[k] = std::max(energy[k], s.kinetic_before + potential->energy(element, s.displacement, 0.0));
    previous[k] = &s;
  }
  const auto worst = run.recorder->residual.worst();
  EXPECT_EQ(worst.term, expected.term);
  EXPECT_EQ(worst.time, expected.time);
  EXPECT_NEAR(worst.accumulated, expected.accumulated, 1e-14);
  EXPECT_NEAR(worst.term_energy, energy[static_cast<std::size_t>(index(expected.term))], 1e-15);
  EXPECT_NEAR(worst.largest_energy, *std::ranges::max_element(energy), 1e-15);
  double ratio = 0.0;
  for (std::size_t k = 0; k < n; ++k) ratio = std::max(ratio, peak[k] / energy[k]);
  EXPECT_NEAR(worst.largest_ratio, ratio, 1e-10);
}

TEST(EnergyResidual, is_zero_before_a_term_has_acted_twice) {
  const auto body = test::make_body(test::bar_mesh(2), material, 1.0);
  State state = reference_state(*body.model);
  state.velocity = {0.1, 0.0, -0.1};
  EnergyResidual residual(*body.model);
  AviExplicit integrator(*body.model, {0.1, 0.1});
  integrator.advance_to(state, 0.15, residual);
  EXPECT_EQ(residual.accumulated()[0], 0.0);
  EXPECT_EQ(residual.last()[1], 0.0);
  integrator.advance_to(state, 0.25, residual);
  EXPECT_NE(residual.last()[0], 0.0);
}

TEST(EnergyResidual, of_a_body_that_only_flies_is_zero) {
  const auto body = test::make_body(test::triangle_mesh(CellType::triangle3, 2, 0.1, 3), material, 1.0);
  State state = reference_state(*body.model);
  for (std::size_t i = 0; i < state.velocity.size(); ++i) state.velocity[i] = i % 2 == 0 ? 3.0 : -2.0;
  EnergyResidual residual(*body.model);
  AviExplicit integrator(*body.model,
                         choose_steps(*body.model, state.displacement, SafetyFraction{0.5}, StepRule::element, {}));
  integrator.advance_to(state, 1.0, residual);
  for (const double r : residual.accumulated()) EXPECT_NEAR(r, 0.0, 1e-13);
}

}  // namespace
}  // namespace tempi
