// SPDX-License-Identifier: Apache-2.0
// Dampers in the engines: the same bits from any number of threads and through checkpoints, the same sums under
// observation, the state left behind by a failure, solutions of the coupled system.
#include "tempi/integrator/dampers.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <sstream>

#include "support/damping.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy_residual.hpp"

namespace tempi::test {
namespace {

// Viscous cells with drag and gravity, held at one side, in the plane.
Body held_body(int n = 3, const Viscosity& viscosity = {0.1, 0.05}) {
  return make_body_with(triangle_mesh(CellType::triangle3, n, 0.15, 12), NeoHookean{{1.3, 0.7}}, 1.2,
                        [&](const Mesh& mesh, Model::Parts& parts) {
                          if (viscosity.shear > 0.0) host(parts, make_kelvin_voigt(cells_of(parts), viscosity));
                          host_drag(parts, 0.02);
                          std::vector<Index> all(static_cast<std::size_t>(cells_of(parts).size()));
                          std::iota(all.begin(), all.end(), 0);
                          host(parts, make_gravity(mesh, cells_of(parts), all, formulas({"0", "-0.1"}, 2)).force);
                          parts.supports = held_at_rest(mesh, "left");
                        });
}
State shaking(const Body& body) { return moving_state(body, 0.1, 0.05, 5); }

TEST(Dampers, GiveTheSameBitsOnAnyNumberOfThreads) {
  const Body body = held_body(24);  // enough terms to be shared
  const TickLattice lattice = lattice_of(own_steps(*body.model, 0.4), LatticeRule::powers_of_two);
  std::vector<State> states;
  for (const int threads : {1, 2, 3}) {
    AviLattice avi(*body.model, lattice, {.threads = threads});
    State state = shaking(body);
    avi.advance_to(state, 0.2);
    states.push_back(avi.synchronized(state, 0.2).state);
    EXPECT_TRUE(same_bits(states[0], states.back())) << threads;
  }
  EXPECT_LT(states[0].damping.work.value(), 0.0);
}

// Drags are solved exactly by both. (Viscous cells are not: lattice_dampers_test.cpp.)
TEST(Dampers, OnALatticeDoWhatTheQueueDoes) {
  const Body body = held_body(3, {});
  const TickLattice lattice = lattice_of(own_steps(*body.model, 0.4), LatticeRule::powers_of_two);
  AviLattice fast(*body.model, lattice);
  AviExplicit slow(*body.model, steps_taken(*body.model, fast));
  State a = shaking(body), b = shaking(body);
  EnergyResidual of_a(*body.model), of_b(*body.model);
  fast.advance_to(a, 10.0, of_a);
  slow.advance_to(b, 10.0, of_b);
  EXPECT_LT(largest_difference(a.displacement, b.displacement), 1e-12);
  EXPECT_LT(largest_difference(a.velocity, b.velocity), 1e-12);
  EXPECT_NEAR(a.damping.work.value(), b.damping.work.value(), 1e-12);
  EXPECT_NEAR(a.supports[0].impulse[1].value(), b.supports[0].impulse[1].value(), 1e-12);
  EXPECT_LT(largest_difference(of_a.accumulated(), of_b.accumulated()), 1e-12);
}

// What dampers take is no error of the method: the residual stays as small as without them.
TEST(Dampers, LeaveTheLocalEnergyResidualSmall) {
  const Body body = held_body();
  AviExplicit avi(*body.model, own_steps(*body.model, 0.2));
  State state = shaking(body);
  EnergyResidual residual(*body.model);
  avi.advance_to(state, 10.0, residual);
  EXPECT_LT(std::abs(residual.worst().accumulated), 0.02 * -state.damping.work.value());
}

class DampedMethod : public testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Methods, DampedMethod, testing::ValuesIn(all_methods()),
                         [](const auto& each) { return plain(each.param.name); });

TEST_P(DampedMethod, GoesOnFromACheckpointAndUnderObservationWithTheSameBits) {
  const Body body = held_body(2);
  const auto make = [&] { return GetParam().make(*body.model, own_steps(*body.model, 0.4)); };
  State expected = shaking(body), state = shaking(body), loaded = reference_state(*body.model), seen = shaking(body);
  const auto whole = make(), first = make(), second = make(), observed = make();
  whole->advance_to(expected, 3.0);
  first->advance_to(state, 1.3);
  std::stringstream file;
  ArchiveWriter writer(file);
  state.save(writer);
  first->save(writer);
  ArchiveReader reader(file);
  loaded.load(reader);
  second->load(reader);
  second->advance_to(loaded, 3.0);
  EXPECT_TRUE(same_bits(loaded, expected));
  EXPECT_LT(loaded.damping.work.value(), -1e-4);
  EnergyResidual residual(*body.model);
  observed->advance_to(seen, 3.0, residual);
  EXPECT_TRUE(same_motion(seen, expected));
  EXPECT_TRUE(same_bits(seen.damping, expected.damping));
}

// (M + sum dt C / 2) w = M (v- + v_P) / 2 with dense matrices, held components known.
TEST(Dampers, ActWithTheMeanVelocityOfTheCoupledSystem) {
  for (const double stiff : {1.0, 1e4}) {
    const Body body = make_body_with(triangle_mesh(CellType::triangle3, 2, 0.15, 12), NeoHookean{{1.3, 0.7}}, 1.2,
                                     [&](const Mesh& mesh, Model::Parts& parts) {
                                       host(parts, make_kelvin_voigt(cells_of(parts), {0.1 * stiff, 0.05 * stiff}));
                                       parts.supports = held_at_rest(mesh, "left");
                                     });
    const Model& model = *body.model;
    const KickDrift kick_drift(model, 1e-3);
    Dampers dampers(model, kick_drift);
    State state = shaking(body);
    kick_drift.start(state);
    const State before = state;
    dampers.begin();
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(18, 18);
    const auto dt = [](Index k) { return 0.1 + 0.05 * static_cast<double>(k % 3); };
    for (Index k = 0; k < model.term_count(); ++k) {
      const auto term = make_id<TermId>(k);
      dampers.announce(state, term, dt(k));
      model.each_damping_piece(term, state.displacement, 0.0,
                               [&](std::span<const NodeId> nodes, std::span<const double> C) {
                                 for (Index i = 0; i < 6; ++i)
                                   for (Index j = 0; j < 6; ++j)
                                     A(index(nodes[static_cast<std::size_t>(i / 2)]) * 2 + i % 2,
                                       index(nodes[static_cast<std::size_t>(j / 2)]) * 2 + j % 2) +=
                                         0.5 * dt(k) * C[static_cast<std::size_t>(i * 6 + j)];
                               });
    }
    Eigen::VectorXd b(18);
    for (Index i = 0; i < 18; ++i) {
      const NodeId a = make_id<NodeId>(i / 2);
      if (model.supports().holds(a)) continue;
      state.velocity[static_cast<std::size_t>(i)] += 0.01 * std::sin(static_cast<double>(i));  // some other kick
    }
    for (Index i = 0; i < 18; ++i) {
      const auto at = static_cast<std::size_t>(i);
      A(i, i) += model.mass(make_id<NodeId>(i / 2));
      b(i) = 0.5 * model.mass(make_id<NodeId>(i / 2)) * (before.velocity[at] + state.velocity[at]);
      if (!model.supports().holds(make_id<NodeId>(i / 2))) continue;
      A.row(i).setZero(), A(i, i) = 1.0, b(i) = before.velocity[at];
    }
    const Eigen::VectorXd w = A.partialPivLu().solve(b);
    dampers.act(state, 0.0);
    double largest_error = 0.0;
    for (Index i = 0; i < 18; ++i) {
      const auto at = static_cast<std::size_t>(i);
      largest_error = std::max(largest_error, std::abs(0.5 * (before.velocity[at] + state.velocity[at]) - w(i)));
    }
    EXPECT_LT(largest_error, 1e-15 * std::sqrt(stiff) * 10) << stiff;
  }
}

// A term whose element inverts does not act, nor do its dampers; those that were struck before it keep their kicks.
TEST(Dampers, AreLeftWholeByAFailure) {
  const Body body = make_body_with(bar_mesh(2), NeoHookean{{1.3, 0.7}}, 1.2, [](const Mesh&, Model::Parts& parts) {
    host(parts, make_kelvin_voigt(cells_of(parts), {0.1, 0.05}));
  });
  State state = reference_state(*body.model);
  state.velocity[2] = -1e3;  // the last node runs through its neighbour
  for (const Method& method : methods()) {
    State s = state;
    const auto integrator = method.make(*body.model, uniform_steps(*body.model, 0.01));
    EXPECT_THROW(integrator->advance_to(s, 1.0), SolveError) << method.name;
    EXPECT_TRUE(std::isfinite(largest(s.velocity))) << method.name;
    const Momenta p = momenta(*body.model, s), p0 = momenta(*body.model, state);
    EXPECT_NEAR(p.linear[0], p0.linear[0], 1e-10) << method.name;
  }
}

// Turns velocities instead of taking them, which no damper may: its equations are not symmetric, and conjugate
// gradients do not solve them. Engines that want its matrix do not get it.
class Gyroscope final : public Force {
 public:
  explicit Gyroscope(std::span<const NodeId> nodes) : nodes_(nodes.begin(), nodes.end()) {}
  Index size() const override { return 1; }
  std::span<const NodeId> stencil(Index) const override { return nodes_; }
  void add_impulse(Index, std::span<const double>, std::span<const double> v, double t, double dt,
                   std::span<double> p) const override {
    if (t == 0.0) return;  // lets the starting half kick pass
    for (std::size_t i = 0; i < p.size(); i += 2) {
      const std::size_t at = static_cast<std::size_t>(index(nodes_[i / 2])) * 2;
      p[i] -= dt * 1e6 * v[at + 1];
      p[i + 1] += dt * 1e6 * v[at];
    }
  }
  bool is_damper() const override { return true; }
  void add_damping(Index k, std::span<const double> u, double t, std::span<double> C) const override {
    if (t > 0.0) Force::add_damping(k, u, t, C);
  }

 private:
  std::vector<NodeId> nodes_;
};

TEST(Dampers, ThatAreNotSolvedLeaveNoKicksAndNoUpdates) {
  const Body body =
      make_body_with(triangle_mesh(CellType::triangle3, 2, 0.15, 12), NeoHookean{{1.3, 0.7}}, 1.2,
                     [](const Mesh& mesh, Model::Parts& parts) {
                       parts.supports = held_at_rest(mesh, "left");
                       std::vector<Index> all(static_cast<std::size_t>(cells_of(parts).size()));
                       std::iota(all.begin(), all.end(), 0);
                       host(parts, make_gravity(mesh, cells_of(parts), all, formulas({"0", "-1"}, 2)).force);
                       host(parts, std::make_unique<Gyroscope>(cells_of(parts).stencil(2)), 2);
                     });
  const std::vector<double> steps = uniform_steps(*body.model, 0.01);
  AviExplicit queue(*body.model, steps);
  AviLattice lattice(*body.model, lattice_of(steps, LatticeRule::powers_of_two));
  SyncNewmark newmark(*body.model, 0.01);
  for (Integrator* avi :
       {static_cast<Integrator*>(&queue), static_cast<Integrator*>(&lattice), static_cast<Integrator*>(&newmark)}) {
    State state = shaking(body);
    avi->advance_to(state, 0.005);  // the starting half kick
    const State before = state;
    EXPECT_THROW(avi->advance_to(state, 0.015), SolveError) << avi->name();
    EXPECT_LT(largest_difference(state.velocity, before.velocity), 1e-14);
    EXPECT_GT(largest_difference(state.displacement, before.displacement), 1e-4);  // drifted, as promised
    for (Index i = 0; i < body.model->term_count(); ++i) EXPECT_EQ(avi->updates(make_id<TermId>(i)), 0) << avi->name();
  }
}

}  // namespace
}  // namespace tempi::test
