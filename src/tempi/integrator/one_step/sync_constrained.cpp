// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/sync_constrained.hpp"

namespace tempi {

ConstrainedMap::ConstrainedMap(const Model& model, ConstrainedVelocity velocity, double step)
    : forces_(model, step, ConstraintsKept::by_the_integrator), velocity_(velocity), constraints_(model) {}

void ConstrainedMap::start(State& state) const {
  OneStepMap::start(state);
  Vector u = map_of(state.displacement), v = map_of(state.velocity);
  constraints_.make_consistent(u, v);
  map_of(state.displacement) = u;
  map_of(state.velocity) = v;
}

// Half a kick, and the way to where the constraints hold.
ConstraintEquations::Leap ConstrainedMap::leap(const Vector& u, const Vector& v, const Vector& force, double t0,
                                               double h) const {
  const Vector kicked = v + 0.5 * h * force.cwiseQuotient(forces_.mass());
  Vector unused = v;
  auto result = constraints_.leap(u, kicked, h, t0, [&](Vector& u1) {
    for (const Index i : forces_.held()) u1(i) = u(i);  // where they are at rest
    forces_.prescribe(t0 + h, u1, unused);
  });
  newton_iterations_ += result.iterations;
  return result;
}

void ConstrainedMap::step(State& state, double t0, double h) const {
  Stage start{map_of(state.displacement), map_of(state.velocity), {}, {}};
  forces_.require(forces_.evaluate(start, t0));
  const ConstraintEquations::Leap way = leap(start.u, start.v, start.force, t0, h);
  // Forces that depend on velocities get them to second order, v_1 = 2 v_1/2 - v_0.
  Stage end{way.u, 2.0 * way.v - start.v, {}, {}};
  forces_.prescribe(t0 + h, end.u, end.v);
  forces_.require(forces_.evaluate(end, t0 + h));
  end.v = way.v + 0.5 * h * end.force.cwiseQuotient(forces_.mass());
  forces_.prescribe(t0 + h, end.u, end.v);
  const Impulse last = find_velocity(end, t0 + h, h);

  const Vector change = forces_.mass().cwiseProduct(end.v - start.v);
  book(state, start, way.impulse, change, h);
  book(state, end, last, change, h);
  map_of(state.displacement) = end.u;
  map_of(state.velocity) = end.v;
}

// Adds to end.v what the constraints' second impulse gives.
ConstrainedMap::Impulse ConstrainedMap::find_velocity(Stage& end, double t1, double h) const {
  if (velocity_ == ConstrainedVelocity::projected) return constraints_.project(end.u, end.v, t1);
  // v_3/2 = v_1/2 + M^{-1} (h f_1 + J_1^T lambda): the mean of both takes half of lambda.
  Impulse half = leap(end.u, end.v, end.force, t1, h).impulse;
  half.all *= 0.5;
  half.external *= 0.5;
  end.v += constraints_.response(half);
  return half;
}

// What loads, supports and constraints give at one end of the step, `change` being that of momentum over all of it.
void ConstrainedMap::book(State& state, const Stage& stage, const Impulse& impulse, const Vector& change,
                          double h) const {
  forces_.book_forces(state, stage, 0.5 * h);
  for (const Index i : forces_.held()) {
    const double given = 0.5 * (change(i) - h * stage.force(i)) - impulse.all(i);
    forces_.book_reaction(state, i, stage.u, given, given * stage.v(i));
  }
  const Index d = forces_.model().dim();
  for (Index a = 0; a < forces_.model().node_count(); ++a) {
    const auto p = impulse.external.segment(a * d, d);
    if (p.isZero(0.0)) continue;
    std::array<double, 3> given{};
    std::copy(p.begin(), p.end(), given.begin());
    state.constraints.add(forces_.position(make_id<NodeId>(a), stage.u), given, 0.0);
  }
}

void ConstrainedMap::add_constraint_forces(Stage& stage, double t) const {
  Vector a = stage.force.cwiseQuotient(forces_.mass());
  for (const Index i : forces_.held()) a(i) = forces_.held_acceleration(i, t);
  stage.force += constraints_.forces(stage.u, stage.v, a, t);
}

}  // namespace tempi
