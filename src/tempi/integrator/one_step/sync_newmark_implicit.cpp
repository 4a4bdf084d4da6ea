// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/sync_newmark_implicit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tempi/core/error.hpp"

namespace tempi {

NewmarkMap::NewmarkMap(const Model& model, double step, double beta, double gamma)
    : forces_(model, step), beta_(beta), gamma_(gamma) {
  if (!(beta >= 0.0 && beta <= 0.5)) throw InputError(fmt::format("beta = {} (must be from 0 to 0.5).", beta));
  if (!(gamma >= 0.0 && gamma <= 1.0)) throw InputError(fmt::format("gamma = {} (must be from 0 to 1).", gamma));
}

Claims NewmarkMap::claims() const {
  const bool even = gamma_ == 0.5, canonical = even && beta_ == 0.0;
  const Conservation band = even ? Conservation::bounded : Conservation::none;
  return {even ? 2.0 : 1.0, Conservation::exact, canonical ? Conservation::exact : band, band, canonical, even};
}

void NewmarkMap::step(State& state, double t0, double h) const {
  Stage start{map_of(state.displacement), map_of(state.velocity), {}, {}}, end;
  forces_.require(forces_.evaluate(start, t0));
  find_end(start, end, t0 + h, h);
  const Vector impulse = h * ((1.0 - gamma_) * start.force + gamma_ * end.force);
  end.v = start.v + impulse.cwiseQuotient(forces_.mass());
  forces_.prescribe(t0 + h, end.u, end.v);

  forces_.book_forces(state, start, (1.0 - gamma_) * h);
  forces_.book_forces(state, end, gamma_ * h);
  for (const auto& [stage, weight] : {std::pair(&start, 1.0 - gamma_), std::pair(&end, gamma_)})
    forces_.book_reactions(state, forces_.held(), stage->u, [&, &stage = *stage, weight = weight](Index, Index i) {
      const double given = weight * (forces_.mass()(i) * (end.v(i) - start.v(i)) - h * stage.force(i));
      return StageForces::Reaction{given, given * stage.v(i)};
    });
  map_of(state.displacement) = end.u;
  map_of(state.velocity) = end.v;
}

// The unknown is z = (q1 - q0) / h:   R = M v0 + h (1/2 - beta) f0 + h beta f1 - M z,
// A = M + beta h^2 K(q1) + gamma h C(q1). Dampers get v1 as z implies it; where beta = 0, see find_end_velocity.
void NewmarkMap::find_end(const Stage& start, Stage& end, double t1, double h) const {
  const Vector p0 = forces_.mass().cwiseProduct(start.v), known = p0 + (0.5 - beta_) * h * start.force;
  Vector u1 = start.u, v1 = start.v;
  forces_.prescribe(t1, u1, v1);
  const auto place = [&](const Vector& z) {
    const Vector f1 = beta_ > 0.0 ? Vector((forces_.mass().cwiseProduct(z) - known) / (beta_ * h)) : start.force;
    end.u = start.u + h * z;
    end.v = start.v + h * ((1.0 - gamma_) * start.force + gamma_ * f1).cwiseQuotient(forces_.mass());
    for (const Index i : forces_.held()) end.u(i) = u1(i), end.v(i) = v1(i);
    return beta_ == 0.0 ? forces_.evaluate_undamped(end, t1) : forces_.evaluate(end, t1);
  };
  if (beta_ == 0.0) {
    forces_.require(place(known.cwiseQuotient(forces_.mass())));
    if (forces_.model().has_dampers()) find_end_velocity(start, end, t1, h);
    return;
  }

  std::array<Vector, 2> guesses = {start.v, Vector::Zero(start.v.size())};
  for (Vector& guess : guesses)
    for (const Index i : forces_.held()) guess(i) = (u1(i) - start.u(i)) / h;
  if (!matrix_)
    matrix_ =
        std::make_unique<StepMatrix>(forces_.model(), forces_.mass(), forces_.held(), SparseFactors::Kind::symmetric);
  Vector R;
  Admissibility last;
  StepEquations equations;
  equations.evaluate = [&](const Vector& z) {
    last = place(z);
    R = known + beta_ * h * end.force - forces_.mass().cwiseProduct(z);
    for (const Index i : forces_.held()) R(i) = 0.0;
    return last.holds();
  };
  equations.fault = [&] { return last.fault; };
  equations.residual = [&] { return R; };
  equations.scale = [&] {
    return std::max(
        {p0.cwiseAbs().maxCoeff(), h * start.force.cwiseAbs().maxCoeff(), h * end.force.cwiseAbs().maxCoeff()});
  };
  equations.rounding = [&] { return Vector(beta_ * h * matrix_->stiffness().rounding_of_forces(span_of(end.u), t1)); };
  equations.resolution = forces_.resolution(start.u, h);
  equations.linearise = [&] {
    const auto u = span_of(end.u);
    matrix_->stiffness()(u, t1);
    const auto& derivative = matrix_->stiffness().add_damping(u, t1, gamma_ / (beta_ * h));
    return matrix_->factorise(derivative, beta_ * h * h);
  };
  equations.correct = [&](const Vector& r) { return matrix_->solve(r); };
  forces_.counted(last_solution_, [&] { return solve_newton(equations, guesses, t1 - h, &last_solution_); });
}

// beta = 0: positions are known, (M + gamma h C) v1 = M v0 + h [(1 - gamma) f0 + gamma (f1 without dampers)] is linear.
void NewmarkMap::find_end_velocity(const Stage& start, Stage& end, double t1, double h) const {
  const Vector held = end.v;
  end.v = start.v + h * ((1.0 - gamma_) * start.force + gamma_ * end.force).cwiseQuotient(forces_.mass());
  for (const Index i : forces_.held()) end.v(i) = held(i);
  forces_.damp(span_of(end.u), t1, gamma_ * h, end.v);
  forces_.add_dampings(end, t1);
}

}  // namespace tempi
