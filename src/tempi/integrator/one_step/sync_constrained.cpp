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
void ConstrainedMap::leap(const Stage& from, const Eigen::Ref<const Vector>& v, double t0, double h,
                          ConstraintEquations::Leap& way) const {
  way.u.resize(v.size());
  way.v.resize(v.size());
  each_piece(v.size(), [&](Index i, Index n) {
    way.v.segment(i, n) =
        v.segment(i, n) + 0.5 * h * from.force.segment(i, n).cwiseQuotient(forces_.mass().segment(i, n));
    way.u.segment(i, n) = from.u.segment(i, n) + h * way.v.segment(i, n);
  });
  const auto place = [&](Vector& u1) {
    for (const Index i : forces_.held()) u1(i) = from.u(i);  // where they are at rest
    forces_.place(t0 + h, u1);
  };
  constraints_.leap(from.u, h, t0, place, way);
  newton_iterations_ += way.iterations;
}

// A large body's vectors come from afar: the velocities at the start stay where they are, in the state, and those on
// the way become those at the end.
void ConstrainedMap::step(State& state, double t0, double h) const {
  Stage &start = start_, &end = end_;
  const auto v = map_of(state.velocity);
  if (forces_.model().has_forces()) start.v = v;
  forces_.require(forces_.begin(state.displacement, start, t0));
  leap(start, v, t0, h, way_);
  std::swap(end.u, way_.u);
  // Forces that depend on velocities get them to second order, v_1 = 2 v_1/2 - v_0.
  if (forces_.model().has_dampers()) {
    end.v = 2.0 * way_.v - v;
    forces_.prescribe(t0 + h, end.u, end.v);
  }
  forces_.require(forces_.finish(end, t0 + h));
  std::swap(end.v, way_.v);
  end.v += 0.5 * h * end.force.cwiseQuotient(forces_.mass());
  forces_.prescribe(t0 + h, end.u, end.v);
  const Impulse& last = find_velocity(end, t0 + h, h);

  book(state, start, v, way_.impulse, h);
  book(state, end, end.v, last, h);
  map_of(state.displacement) = end.u;
  map_of(state.velocity) = end.v;
  std::swap(end.v, way_.v);
  forces_.keep(end, t0 + h);
}

// Adds to end.v what the constraints' second impulse gives.
const ConstrainedMap::Impulse& ConstrainedMap::find_velocity(Stage& end, double t1, double h) const {
  if (velocity_ == ConstrainedVelocity::projected) return constraints_.project(end.u, end.v, t1);
  // v_3/2 = v_1/2 + M^{-1} (h f_1 + J_1^T lambda): the mean of both takes half of lambda.
  leap(end, end.v, t1, h, beyond_);
  beyond_.impulse.all *= 0.5;
  beyond_.impulse.external *= 0.5;
  constraints_.add_response(beyond_.impulse, end.v);
  return beyond_.impulse;
}

// What loads, supports and constraints give at one end of the step.
void ConstrainedMap::book(State& state, const Stage& stage, const Eigen::Ref<const Vector>& v, const Impulse& impulse,
                          double h) const {
  const auto v0 = map_of(state.velocity);
  forces_.book_forces(state, stage, 0.5 * h);
  forces_.book_reactions(state, forces_.held(), stage.u, [&](Index, Index i) {
    const double change = forces_.mass()(i) * (end_.v(i) - v0(i));  // over all of the step
    const double given = 0.5 * (change - h * stage.force(i)) - impulse.all(i);
    return StageForces::Reaction{given, given * v(i)};
  });
  const std::size_t d = static_cast<std::size_t>(forces_.model().dim());
  for (auto touched = constraints_.touched(); !touched.empty(); touched = touched.subspan(d)) {
    const auto p = impulse.external.segment(touched.front(), static_cast<Index>(d));
    if (p.isZero(0.0)) continue;
    std::array<double, 3> given{};
    std::copy(p.begin(), p.end(), given.begin());
    const auto a = make_id<NodeId>(touched.front() / static_cast<Index>(d));
    state.constraints.add(forces_.position(a, stage.u), given, 0.0);
  }
}

void ConstrainedMap::add_constraint_forces(Stage& stage, double t) const {
  Vector a = stage.force.cwiseQuotient(forces_.mass());
  a(forces_.held()) = forces_.held_accelerations(t);
  stage.force += constraints_.forces(stage.u, stage.v, a, t);
}

}  // namespace tempi
