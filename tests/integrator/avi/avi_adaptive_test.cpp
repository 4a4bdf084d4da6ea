// SPDX-License-Identifier: Apache-2.0
// Adaptive AVI: the local equation of energy seen from outside, limits in which it is another method, momenta, order.
#include "tempi/integrator/avi/avi_adaptive.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/pair_cases.hpp"
#include "support/runs.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/integrator/one_step/sync_symplectic_energy_momentum.hpp"
#include "tempi/potential/wells.hpp"

namespace tempi::test {
namespace {

Body free_body(int dim) {
  return make_body(dim == 2 ? triangle_mesh(CellType::triangle3, 3, 0.15, 12)
                            : tetrahedron_mesh(CellType::tetrahedron4, 1, 0.15, 15),
                   NeoHookean{{1.3, 0.7}}, 1.2);
}
// Sorts the residuals that diagnostic/energy_residual.hpp finds by whether the method says it solved for them.
class Witness final : public Observer {
 public:
  Witness(const Model& model, const AviAdaptive* method) : residual_(model), method_(method) {}
  void on_strike(const Strike& strike) override {
    residual_.on_strike(strike);
    if (strike.update == 1) return;
    energy = std::max(energy, strike.kinetic_before + strike.potential_energy);
    const double R = std::abs(residual_.last()[static_cast<std::size_t>(index(strike.term))]);
    const bool accepted = method_ != nullptr && method_->adaption().accepted > accepted_;
    if (accepted) ++accepted_;
    (accepted ? solved : unsolved).push_back(R);
  }
  Index count() const { return accepted_; }
  std::vector<double> accumulated() const { return residual_.accumulated(); }

  std::vector<double> solved, unsolved;  // |R_K^j| [J]
  double energy = 0.0;                   // largest T_K + V_K [J]

 private:
  EnergyResidual residual_;
  const AviAdaptive* method_;
  Index accepted_ = 0;
};

TEST(AviAdaptive, SolvesTheEquationOfEnergyOfEveryStrikeItAccepts) {
  for (const bool loaded : {false, true}) {
    const Body body = loaded ? loaded_body(2) : free_body(2);
    const std::vector<double> steps = own_steps(*body.model, 0.2);
    AviAdaptive method(*body.model, steps, {0.5, 2.0}, WithoutRoot::nominal_step, Residuals::forgotten);
    Witness witness(*body.model, &method);
    State state = moving_state(body, 0.3, 0.05, 5);
    method.advance_to(state, 200 * smallest(steps), witness);
    EXPECT_LT(largest(witness.solved), 1e-14 * witness.energy);
    EXPECT_GT(largest(witness.unsolved), 1e-5 * witness.energy);
    EXPECT_GT(witness.solved.size(), 500u);
    EXPECT_EQ(static_cast<Index>(witness.unsolved.size()), method.adaption().without_root);
    for (Index i = 0; i < body.model->term_count(); ++i)
      EXPECT_NEAR(witness.accumulated()[static_cast<std::size_t>(i)], method.accumulated_residual(make_id<TermId>(i)),
                  1e-13 * witness.energy);
    RecordProperty(loaded ? "loaded" : "free",
                   fmt::format("solved {} to {:.2g}, not {} to {:.2g}", witness.solved.size(),
                               largest(witness.solved) / witness.energy, witness.unsolved.size(),
                               largest(witness.unsolved) / witness.energy));
    // Control: fixed steps do not solve it.
    AviExplicit fixed(*body.model, steps);
    Witness other(*body.model, nullptr);
    state = moving_state(body, 0.3, 0.05, 5);
    fixed.advance_to(state, 200 * smallest(steps), other);
    std::ranges::nth_element(other.unsolved,
                             other.unsolved.begin() + static_cast<std::ptrdiff_t>(other.unsolved.size() / 2));
    EXPECT_GT(other.unsolved[other.unsolved.size() / 2], 1e-10 * other.energy);
  }
}

// Whatever was left over before, an accepted strike leaves its term without any.
TEST(AviAdaptive, PaysBackWhatItCarriesAtEveryStrikeItAccepts) {
  const Body body = loaded_body(2);
  const std::vector<double> steps = own_steps(*body.model, 0.2);
  AviAdaptive method(*body.model, steps, {0.5, 2.0});
  Witness witness(*body.model, &method);
  State state = moving_state(body, 0.3, 0.05, 5);
  method.advance_to(state, 200 * smallest(steps), witness);
  EXPECT_LT(method.adaption().largest_residual_accepted, 1e-14 * witness.energy);
  EXPECT_GT(method.adaption().accepted, 300);
  EXPECT_GT(method.adaption().without_root, 100);
  EXPECT_GT(largest(witness.solved), 1e-5 * witness.energy);  // the strikes themselves are not balanced then
}

TEST(AviAdaptive, WithoutFreedomIsAvi) {
  const Body body = loaded_body(2);
  const std::vector<double> steps = own_steps(*body.model, 0.3);
  const double t = 300.5 * smallest(steps);
  AviAdaptive adaptive(*body.model, steps, {1.0, 1.0});
  AviAdaptive free(*body.model, steps, {0.5, 2.0});
  AviExplicit avi(*body.model, steps);
  std::vector<State> ends;
  for (Integrator* method : std::initializer_list<Integrator*>{&avi, &adaptive, &free}) {
    State state = moving_state(body, 0.1, 0.02, 5);
    method->advance_to(state, t);
    ends.push_back(method->synchronized(state, t).state);
  }
  EXPECT_LT(largest_difference(ends[0].displacement, ends[1].displacement), 1e-13);
  EXPECT_LT(largest_difference(ends[0].velocity, ends[1].velocity), 1e-12);
  EXPECT_GT(largest_difference(ends[0].displacement, ends[2].displacement), 1e-6);  // control: freedom is used
  for (Index i = 0; i < body.model->term_count(); ++i)
    EXPECT_EQ(adaptive.updates(make_id<TermId>(i)), avi.updates(make_id<TermId>(i)));
}

// One term: the same equation as for the whole, with the right-endpoint rule, as long as it has solutions.
TEST(AviAdaptive, OfOneTermIsTheSymplecticEnergyMomentumMethodOfTheRightEndpoint) {
  Model::Parts parts = particles(1, {0.0}, {0.6});
  parts.add(make_wells(parts.reference, 1, {NodeId{0}}, {{1.7}, {}}));
  const Model model(std::move(parts));
  const double h = 0.01;
  State state = reference_state(model);
  state.displacement = {0.5}, state.velocity = {-0.4};
  State same = state;
  same.velocity[0] -= 0.5 * h * 1.7 / 0.6 * state.displacement[0];  // the starting half kick
  AviAdaptive adaptive(model, {h});
  SyncSymplecticEnergyMomentum method(model, h, trapezoidal_action(1.0));
  for (double t = 0.1 * h; t < 10.0; t += 0.1 * h) {
    adaptive.advance_to(state, t);
    method.advance_to(same, t);
    if (method.map().adaption().without_solution + adaptive.adaption().without_root > 0) break;
    ASSERT_NEAR(state.clock[0], same.clock[0], 1e-9);
    ASSERT_NEAR(state.velocity[0], same.velocity[0], 1e-9);
  }
  EXPECT_GT(method.map().adaption().without_solution + adaptive.adaption().without_root, 0);
  EXPECT_GT(adaptive.adaption().accepted, 10);
  EXPECT_GT(adaptive.adaption().largest, 1.5);
  RecordProperty("accepted", static_cast<int>(adaptive.adaption().accepted));
}

TEST(AviAdaptive, KeepsItsMomentaToRounding) {
  for (const int dim : {2, 3})
    for (const WithoutRoot without_root : {WithoutRoot::nominal_step, WithoutRoot::least_residual}) {
      const Body body = free_body(dim);
      const std::vector<double> steps = own_steps(*body.model, 0.2);
      AviAdaptive method(*body.model, steps, {0.5, 2.0}, without_root);
      State state = without_net_momentum(body, moving_state(body, 0.3, 0.03, 5));
      const Balance balance = run_and_balance(*body.model, method, state, 100 * smallest(steps), 50);
      EXPECT_LT(balance.linear_momentum().error, 1e-13);
      EXPECT_LT(balance.angular_momentum().error, 1e-13);
      EXPECT_LT(balance.energy().band, 0.05);
      EXPECT_GT(method.adaption().largest, 1.5);
      EXPECT_LT(method.adaption().smallest, 0.7);
    }
}

// Claims no energy, and rightly: strikes without a root bring what fixed steps do not.
TEST(AviAdaptive, HeatsWhatFixedStepsLeaveAloneIfResidualsAreForgotten) {
  const Body body = free_body(2);
  const std::vector<double> steps = own_steps(*body.model, 0.2);
  const double t = 1000 * smallest(steps);
  AviAdaptive adaptive(*body.model, steps, {0.5, 2.0}, WithoutRoot::nominal_step, Residuals::forgotten);
  AviAdaptive carrying(*body.model, steps, {0.5, 2.0});
  AviExplicit fixed(*body.model, steps);
  State state = moving_state(body, 0.3, 0.05, 5), other = state, third = state;
  const auto carried = run_and_balance(*body.model, carrying, third, t, 100).energy();
  const auto heated = run_and_balance(*body.model, adaptive, state, t, 100).energy();
  const auto kept = run_and_balance(*body.model, fixed, other, t, 100).energy();
  const double gain = adaptive.adaption().gain_without_root / heated.reference;
  RecordProperty("energy", fmt::format("{:.3g} {:.3g}, gain {:.3g}, {} {}", heated.drift, kept.drift, gain,
                                       adaptive.adaption().accepted, adaptive.adaption().without_root));
  EXPECT_GT(heated.drift, 0.01);
  EXPECT_LT(std::abs(carried.drift), 0.3 * heated.drift);
  EXPECT_GT(heated.drift, 10.0 * std::abs(kept.drift));
  EXPECT_NEAR(gain, (heated.final - heated.initial) / heated.reference, 0.2 * gain);
}

TEST(AviAdaptive, BooksWhatLoadsAndSupportsGive) {
  const Body body = loaded_body(2);
  const std::vector<double> steps = own_steps(*body.model, 0.2);
  AviAdaptive method(*body.model, steps, {0.5, 2.0});
  State state = moving_state(body, 0.1, 0.02, 5);
  const Balance balance = run_and_balance(*body.model, method, state, 300 * smallest(steps), 100);
  EXPECT_LT(balance.linear_momentum().error, 1e-13);
  EXPECT_LT(balance.angular_momentum().error, 1e-13);
}

TEST(AviAdaptive, HasOrderOne) {
  const Body body = free_body(2);
  const std::vector<double> nominal = own_steps(*body.model, 0.2);
  const double t = 40 * smallest(nominal);
  std::vector<double> sizes, u, v;
  AviExplicit fine(*body.model, uniform_steps(*body.model, smallest(nominal) / 32));
  State exact = moving_state(body, 0.3, 0.05, 5);
  fine.advance_to(exact, t);
  exact = fine.synchronized(exact, t).state;
  for (double size = 1.0; size > 0.05; size *= 0.5) {
    std::vector<double> steps = nominal;
    for (double& step : steps) step *= size;
    AviAdaptive method(*body.model, steps, {0.5, 2.0});
    State state = moving_state(body, 0.3, 0.05, 5);
    method.advance_to(state, t);
    state = method.synchronized(state, t).state;
    sizes.push_back(size);
    u.push_back(largest_difference(state.displacement, exact.displacement));
    v.push_back(largest_difference(state.velocity, exact.velocity));
    RecordProperty(fmt::format("at_{}", size), fmt::format("{:.3g} {:.3g}", u.back(), v.back()));
  }
  RecordProperty("order", fmt::format("{:.3f} {:.3f}", slope(sizes, u), slope(sizes, v)));
  EXPECT_NEAR(slope(sizes, u), 1.0, 0.3);
  EXPECT_NEAR(slope(sizes, v), 1.0, 0.3);
}

TEST(AviAdaptive, RefusesBoundsOutOfRangeAndACheckpointWithOthers) {
  const Body body = free_body(2);
  const std::vector<double> steps = own_steps(*body.model, 0.2);
  for (const StepBounds bounds : {StepBounds{0.0, 2.0}, StepBounds{1.5, 2.0}, StepBounds{0.5, 0.5}})
    EXPECT_THROW(AviAdaptive(*body.model, steps, bounds), InputError);
}

}  // namespace
}  // namespace tempi::test
