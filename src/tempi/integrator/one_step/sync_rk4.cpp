// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/sync_rk4.hpp"

#include <array>
#include <utility>

namespace tempi {

void Rk4Map::step(State& state, double t0, double h) const {
  constexpr std::array<double, 4> at = {0.0, 0.5, 0.5, 1.0}, weight = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  const auto u0 = map_of(std::as_const(state.displacement)), v0 = map_of(std::as_const(state.velocity));
  for (std::size_t k = 0; k < 4; ++k) {
    Stage& stage = stages_[k];
    if (k == 0) {
      stage.u = u0;
      stage.v = v0;
    } else {
      const Stage& last = stages_[k - 1];
      stage.u = u0 + at[k] * h * last.v;
      stage.v = v0 + at[k] * h * last.force.cwiseQuotient(forces_.mass());
    }
    const double t = t0 + at[k] * h;
    forces_.prescribe(t, stage.u, stage.v);
    forces_.require(forces_.evaluate_once(stage, t));
  }
  const auto mean = [&](Vector Stage::*x) {  // over the step; exact where all are alike
    return ((stages_[0].*x) + 2.0 * ((stages_[1].*x) + (stages_[2].*x)) + (stages_[3].*x)) / 6.0;
  };
  Vector &u1 = end_.u, &v1 = end_.v;
  u1 = u0 + h * mean(&Stage::v);
  v1 = v0 + h * mean(&Stage::force).cwiseQuotient(forces_.mass());
  forces_.prescribe(t0 + h, u1, v1);

  for (std::size_t k = 0; k < 4; ++k) forces_.book_forces(state, stages_[k], weight[k] * h);
  // Supports give m a - f at every stage, and what the quadrature of m a leaves of m (v1 - v0) at the end.
  if (!forces_.held().empty()) {
    rest_.resize(std::ssize(forces_.held()));
    for (Index k = 0; k < rest_.size(); ++k) {
      const Index i = forces_.held()[static_cast<std::size_t>(k)];
      rest_(k) = forces_.mass()(i) * (v1(i) - v0(i));
    }
    for (std::size_t s = 0; s < 4; ++s) {
      const Stage& stage = stages_[s];
      const Vector& acceleration = forces_.held_accelerations(t0 + at[s] * h);
      forces_.book_reactions(state, forces_.held(), stage.u, [&](Index k, Index i) {
        const double inertia = weight[s] * h * forces_.mass()(i) * acceleration(k);
        const double impulse = inertia - weight[s] * h * stage.force(i);
        rest_(k) -= inertia;
        return StageForces::Reaction{impulse, impulse * stage.v(i)};
      });
    }
    forces_.book_reactions(state, forces_.held(), u1, [&](Index k, Index i) {
      return StageForces::Reaction{rest_(k), rest_(k) * v1(i)};
    });
  }
  map_of(state.displacement) = u1;
  map_of(state.velocity) = v1;
}

}  // namespace tempi
