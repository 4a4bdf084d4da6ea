// SPDX-License-Identifier: Apache-2.0
// The local energy residual R_K^j = T_K^{j+} + V_K(x^{j+1}) - T_K^{j-} - V_K(x^j) (Lew, Marsden, Ortiz, West 2004, eq.
// (97); 2003, eq. (43)).
//
// Drifts change no kinetic energy and every strike changes that of its own nodes only, so with total nodal masses
//   sum over all strikes (T^+ - T^-) = T(after the last) - T(before the first),
// and the complete residuals, j = 1 .. N_K - 1, add up to the change of the energy (2003, eqs. (38), (42)):
//   sum_K sum_j R_K^j = T_end - T_start - sum_K (T^+ - T^-)_K^{N_K} + sum_K (V_K(x^{N_K}) - V_K(x^1)) - work of loads.
#include <gtest/gtest.h>

#include "support/runs.hpp"
#include "tempi/diagnostic/energy_residual.hpp"

namespace tempi::test {
namespace {

// Passes strikes on and keeps what the sum above needs.
class Witness final : public Observer {
 public:
  explicit Witness(const Model& model, bool mollified = false)
      : model_(model), residual_(model), terms_(static_cast<std::size_t>(model.term_count())), mollified_(mollified) {}

  struct Term {
    double last_change = 0.0, first_V = 0.0, last_V = 0.0;
    std::vector<double> first_u, last_u;
    Index strikes = 0;
  };

  void on_strike(const Strike& strike) override {
    residual_.on_strike(strike);
    Term& term = terms_[static_cast<std::size_t>(index(strike.term))];
    const auto [potential, k] = model_.term(strike.term);
    // Mollified kicks look elsewhere than where nodes are.
    const double V =
        mollified_ ? strike.potential_energy : potential->energy(k, strike.state.displacement, strike.time);
    const std::vector<double> u = displacements(strike);
    if (term.strikes == 0) term.first_V = V, term.first_u = u;
    term.last_change = strike.kinetic_change, term.last_V = V, term.last_u = u;
    EXPECT_EQ(strike.update, ++term.strikes);
    EXPECT_EQ(strike.time, static_cast<double>(strike.update) * strike.step);
    if (term.strikes >= 2)
      worst_ = std::max(worst_, std::abs(residual_.last()[static_cast<std::size_t>(index(strike.term))]));
    worst_kinetic_ =
        std::max(worst_kinetic_, std::abs(strike.kinetic_before + strike.kinetic_change - kinetic(strike)));
  }

  const EnergyResidual& residual() const { return residual_; }
  const std::vector<Term>& terms() const { return terms_; }
  double worst() const { return worst_; }                  // largest |R| of one update
  double worst_kinetic() const { return worst_kinetic_; }  // largest |T^- + change - T^+|

 private:
  std::vector<double> displacements(const Strike& strike) const {
    std::vector<double> u;
    const auto d = static_cast<std::size_t>(model_.dim());
    for (const NodeId a : model_.term(strike.term).stencil())
      for (std::size_t c = 0; c < d; ++c)
        u.push_back(strike.state.displacement[static_cast<std::size_t>(index(a)) * d + c]);
    return u;
  }
  double kinetic(const Strike& strike) const {
    double T = 0.0;
    const auto d = static_cast<std::size_t>(model_.dim());
    for (const NodeId a : model_.term(strike.term).stencil())
      for (std::size_t c = 0; c < d; ++c) {
        const double v = strike.state.velocity[static_cast<std::size_t>(index(a)) * d + c];
        T += 0.5 * model_.mass(a) * v * v;
      }
    return T;
  }

  const Model& model_;
  EnergyResidual residual_;
  std::vector<Term> terms_;
  bool mollified_;
  double worst_ = 0.0, worst_kinetic_ = 0.0;
};

constexpr std::array<double, 3> g = {0.05, -0.2, 0.1};

struct Example {
  std::string name;
  std::function<Mesh()> mesh;
  bool held, loaded;
};
std::vector<Example> examples() {
  using enum CellType;
  std::vector<Example> all;
  for (const bool held : {false, true})
    for (const bool loaded : {false, true}) {
      const std::string how = std::string(held ? "_held" : "_free") + (loaded ? "_loaded" : "");
      all.push_back({"bar" + how, [] { return bar_mesh(5, 0.15, 11); }, held, loaded});
      all.push_back({"triangle3" + how, [] { return triangle_mesh(triangle3, 3, 0.15, 12); }, held, loaded});
      all.push_back({"triangle6" + how, [] { return triangle_mesh(triangle6, 2, 0.12, 13, 0.05); }, held, loaded});
      all.push_back({"tetrahedron4" + how, [] { return tetrahedron_mesh(tetrahedron4, 2, 0.15, 14); }, held, loaded});
      all.push_back({"tetrahedron10" + how, [] { return tetrahedron_mesh(tetrahedron10, 1, 0.1, 15); }, held, loaded});
    }
  return all;
}
void PrintTo(const Example& e, std::ostream* out) { *out << e.name; }

Body body_of(const Example& example) {
  return make_body_with(example.mesh(), NeoHookean{{1.3, 0.7}}, 1.2, [&](const Mesh& mesh, Model::Parts& parts) {
    if (example.held) parts.supports = held_at_rest(mesh, "left");
    if (example.loaded)
      add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.05", "-0.2", "0.1"}, mesh.dim())));
  });
}

// Kinetic energy of what is not held.
double kinetic(const Model& model, const State& state) {
  double T = 0.0;
  const auto d = static_cast<std::size_t>(model.dim());
  for (std::size_t i = 0; i < state.velocity.size(); ++i)
    T += 0.5 * model.mass()[i / d] * state.velocity[i] * state.velocity[i];
  return T;
}

// Work of gravity between a term's first and last strike: its mass shares times g times the way.
double gravity_work(const Body& body, const std::vector<Witness::Term>& terms) {
  double work = 0.0;
  const auto d = static_cast<std::size_t>(body.mesh->dim());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto share = test::masses(body.model->potential(0), static_cast<Index>(i));
    for (std::size_t k = 0; k < terms[i].last_u.size(); ++k)
      work += share[k / d] * g[k % d] * (terms[i].last_u[k] - terms[i].first_u[k]);
  }
  return work;
}

class EnergyResidualOf : public testing::TestWithParam<Example> {};

TEST_P(EnergyResidualOf, AllTermsAddUpToTheChangeOfTheEnergy) {
  const Body body = body_of(GetParam());
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    const auto integrator = method.make(*body.model, own_steps(*body.model, 0.4));
    const std::vector<double> steps = steps_taken(*body.model, *integrator);
    State state = moving_state(body, 0.1, 0.03, 5);
    integrator->advance_to(state, 1e-9 * smallest(steps));  // half a kick
    const double T_start = kinetic(*body.model, state);
    Witness witness(*body.model, method.name.find("mollified") != std::string::npos);
    integrator->advance_to(state, 200.3 * smallest(steps), witness);
    double change = kinetic(*body.model, state) - T_start, sum = 0.0, last = 0.0;
    for (const Witness::Term& term : witness.terms()) {
      last += term.last_change;
      change += term.last_V - term.first_V - term.last_change;
    }
    if (GetParam().loaded) change -= gravity_work(body, witness.terms());
    for (const double r : witness.residual().accumulated()) sum += r;
    // 200 updates of each term, each rounding energies of the size of the total: 1e-16 * 200 with room for 10.
    const double scale = std::max(T_start, kinetic(*body.model, state));
    RecordProperty(method.name, std::to_string(std::abs(sum - change) / scale * 1e15) + "e-15");
    EXPECT_LT(std::abs(sum - change), 1e-12 * scale);
    EXPECT_GT(std::abs(last), 1e-6 * scale);  // control: the pending strikes cannot be left out
  }
}

TEST_P(EnergyResidualOf, StrikesTellTheKineticEnergyBeforeAndItsChange) {
  const Body body = body_of(GetParam());
  std::vector<double> steps = own_steps(*body.model, 0.4);
  Random random(3);
  for (double& step : steps) step *= random.uniform(0.9, 1.0);  // no two strikes at once
  AviExplicit avi(*body.model, steps);
  State state = moving_state(body, 0.1, 0.03, 5);
  Witness witness(*body.model);
  avi.advance_to(state, 200.3 * smallest(steps), witness);
  EXPECT_LT(witness.worst_kinetic(), 1e-14 * std::max(1.0, kinetic(*body.model, state)));
}

// R = h^2/2 d2V/dt2 to leading order: second order per update, in every term.
TEST_P(EnergyResidualOf, OneUpdateIsOfSecondOrderInASmoothMotion) {
  const Body body = body_of(GetParam());
  for (const Method& method : methods()) {
    std::vector<double> h, worst;
    const double t_end = 60 * smallest(own_steps(*body.model, 0.2));
    for (const double safety : {0.2, 0.1, 0.05, 0.025}) {
      const auto integrator = method.make(*body.model, own_steps(*body.model, safety));
      State state = moving_state(body, 0.1, 0.03, 5);
      Witness witness(*body.model);
      integrator->advance_to(state, t_end, witness);
      h.push_back(safety), worst.push_back(witness.worst());
    }
    RecordProperty(method.name, std::to_string(slope(h, worst)));
    EXPECT_NEAR(slope(h, worst), 2.0, 0.25) << method.name;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryElement, EnergyResidualOf, testing::ValuesIn(examples()),
                         [](const auto& c) { return c.param.name; });

struct Peaks {
  double early, late;  // largest |accumulated residual| of any term, over the largest energy of any term
};

// The worst accumulated residual after 1000 and after 20000 smallest steps, over the largest energy of a term.
Peaks peaks_of(const Body& body, State state, const std::vector<double>& steps) {
  AviExplicit avi(*body.model, steps);
  EnergyResidual residual(*body.model);
  avi.advance_to(state, 1000 * smallest(steps), residual);
  const EnergyResidual::Worst early = residual.worst();
  avi.advance_to(state, 20000 * smallest(steps), residual);
  const EnergyResidual::Worst late = residual.worst();
  return {std::abs(early.accumulated) / late.largest_energy, std::abs(late.accumulated) / late.largest_energy};
}

State lively(const Example& example, const Body& body) {
  if (example.loaded) return reference_state(*body.model);
  return without_net_momentum(body, moving_state(body, 0.1, 0.03, 5));
}

class AccumulatedEnergyResidual : public testing::TestWithParam<Example> {};

// With equal steps, h/2 (dV/dt now - dV/dt then) telescopes: no growth with time.
TEST_P(AccumulatedEnergyResidual, OfEqualStepsDoesNotGrowWithTime) {
  const Body body = body_of(GetParam());
  const Peaks found =
      peaks_of(body, lively(GetParam(), body), uniform_steps(*body.model, smallest(own_steps(*body.model, 0.25))));
  RecordProperty("peaks", std::to_string(found.early) + " " + std::to_string(found.late));
  EXPECT_LT(found.late, 3.0 * found.early);  // the largest dV/dt of 20 times the time is somewhat larger; not 20 times
}

// With steps of its own, an element also feels in which phase its neighbours kick; at the papers' steps (about 0.05 of
// the stable step) that stays a few percent of its energy.
TEST_P(AccumulatedEnergyResidual, OfThePapersStepsStaysSmall) {
  const Body body = body_of(GetParam());
  const Peaks found = peaks_of(body, lively(GetParam(), body), own_steps(*body.model, 0.05));
  RecordProperty("peaks", std::to_string(found.early) + " " + std::to_string(found.late));
  EXPECT_LT(found.late, 0.1);
}

// A body that falls for ever has no bound.
std::vector<Example> bounded_examples() {
  std::vector<Example> all;
  for (const Example& example : examples())
    if (example.held || !example.loaded) all.push_back(example);
  return all;
}
INSTANTIATE_TEST_SUITE_P(EveryElement, AccumulatedEnergyResidual, testing::ValuesIn(bounded_examples()),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace tempi::test
