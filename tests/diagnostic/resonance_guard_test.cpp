// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/resonance_guard.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/chains.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using namespace test;

// A chain with steps that are so large a part of its elements' own, and a sample of it at rest, where a force is felt
// at every node.
struct Watched {
  Chain chain = with_one_short_bar();
  Steps steps;
  TickLattice lattice;
  std::vector<double> nodal;
  Snapshot snapshot;

  explicit Watched(double safety) : steps(chain.steps(safety, own)) {
    const Model& model = *chain.body.model;
    lattice = {steps.tick, std::vector<std::int32_t>(steps.ticks.begin(), steps.ticks.end())};
    nodal = nodal_stable_steps(model, reference_state(model).displacement);
    snapshot = {0.0, reference_state(model), std::vector<double>(model.reference().size(), 1.0), 0.0};
  }
  StepTrial trial() const {
    return try_steps(*chain.body.model, snapshot.state.displacement, lattice, nodal, {.duration = 1e3});
  }
};

TEST(ResonanceGuard, says_where_steps_resonate_that_are_all_within_their_own_limits) {
  const Watched w(0.5);
  ResonanceGuard guard(*w.chain.body.model, w.lattice, Coupling::plain, w.nodal, 1.0, 1);
  EXPECT_EQ(guard.verdict(1e3), "");  // nothing seen yet
  guard.look(w.snapshot, 1e300, 1e3);
  ASSERT_TRUE(w.trial().grows);
  EXPECT_NE(guard.verdict(1e3).find("grows by 0.028 per longest step"), std::string::npos) << guard.verdict(1e3);
}

TEST(ResonanceGuard, does_not_call_a_step_beyond_its_own_limit_a_resonance) {
  const Watched w(1.2);
  ResonanceGuard guard(*w.chain.body.model, w.lattice, Coupling::plain, w.nodal, 1.0, 1);
  guard.look(w.snapshot, 1e300, 1e3);
  ASSERT_TRUE(w.trial().grows);
  EXPECT_EQ(guard.verdict(1e3), "");
}

TEST(ResonanceGuard, looks_closer_when_the_smallest_scales_have_grown_tenfold) {
  Watched w(0.5);
  ResonanceGuard guard(*w.chain.body.model, w.lattice, Coupling::plain, w.nodal, 1.0, 1);
  guard.look(w.snapshot, 1.0, 1e3);
  for (double& f : w.snapshot.force) f *= 3.0;  // energies nine times as large
  EXPECT_NO_THROW(guard.look(w.snapshot, 1.0, 1e3));
  for (double& f : w.snapshot.force) f *= 1.1;
  EXPECT_THROW(guard.look(w.snapshot, 1.0, 1e3), SolveError);
}

// A load that sets in lifts all energies alike: it is tried once. Growth of the smallest scales alone is tried again.
TEST(ResonanceGuard, tries_again_only_where_the_share_of_the_smallest_scales_has_grown) {
  Watched w(0.5);
  const auto energy = [&] {  // of the smallest scales of this sample
    double sum = 0.0;
    for (std::size_t a = 0; a < w.nodal.size(); ++a)
      if (std::isfinite(w.nodal[a]))
        sum += std::pow(w.snapshot.force[a] * w.nodal[a], 2) / w.chain.body.model->mass()[a];
    return 0.125 * sum;
  };
  TickLattice uniform = w.lattice;  // steps that do not resonate: the first trial finds nothing
  uniform.ticks.assign(uniform.ticks.size(), 1);
  ResonanceGuard guard(*w.chain.body.model, w.lattice, Coupling::plain, w.nodal, 0.0,
                       1);  // of a short run, which pays the least there is
  guard.look(w.snapshot, 1e300, 1e3);
  TickLattice& steps = w.lattice;  // the guard sees these
  const TickLattice resonant = steps;
  steps = uniform;
  for (double& f : w.snapshot.force) f *= 4.0;
  EXPECT_NO_THROW(guard.look(w.snapshot, 100.0 * energy(), 1e3));  // tried: sound
  steps = resonant;
  for (double& f : w.snapshot.force) f *= 4.0;
  EXPECT_NO_THROW(guard.look(w.snapshot, 100.0 * energy(), 1e3));  // sixteen times the energy, the same share
  EXPECT_THROW(guard.look(w.snapshot, 20.0 * energy(), 1e3), SolveError);
}

}  // namespace
}  // namespace tempi
