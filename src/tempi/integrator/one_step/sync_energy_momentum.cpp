// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/sync_energy_momentum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tempi/core/error.hpp"
#include "tempi/integrator/one_step/discrete_gradient.hpp"

namespace tempi {
namespace {

bool has_only_pairs(const Model& model) {
  for (Index k = 0; k < model.term_count(); ++k)
    if (model.term(make_id<TermId>(k)).stencil().size() != 2) return false;
  return true;
}

}  // namespace

EnergyMomentumMap::EnergyMomentumMap(const Model& model, double step)
    : forces_(model, step), angular_momentum_(has_only_pairs(model) ? Conservation::exact : Conservation::none) {
  for (Index p = 0; p < model.potential_count(); ++p)
    if (model.potential(p).as_local() == nullptr)
      throw InputError(fmt::format(
          "energy-momentum cannot integrate {} (its discrete gradients are of terms of few nodes). Give each pair a "
          "term of its own, or choose another method.",
          model.potential(p).describe(0)));
}

// The unknown is z = (q1 - q0) / h, the mean velocity:   R = M (v0 - z) + h f/2,   A = M + h^2/2 dDG/dq1 + h/2 C.
void EnergyMomentumMap::step(State& state, double t0, double h) const {
  const double t = t0 + 0.5 * h;  // of the midpoint; potentials that depend on time are taken there
  const Vector v0 = map_of(state.velocity), p0 = forces_.mass().cwiseProduct(v0);
  DiscreteGradient gradient(forces_.model(), map_of(state.displacement), t);
  Stage middle;
  Vector u1 = gradient.u0(), v1 = v0;
  forces_.prescribe(t0 + h, u1, v1);
  std::array<Vector, 2> guesses = {v0, Vector::Zero(v0.size())};
  for (Vector& guess : guesses)
    for (const Index i : forces_.held()) guess(i) = (u1(i) - gradient.u0()(i)) / h;
  if (!matrix_)
    matrix_ =
        std::make_unique<StepMatrix>(forces_.model(), forces_.mass(), forces_.held(), SparseFactors::Kind::general);

  StepEquations equations;
  Admissibility last;
  equations.sought = 0.0;
  equations.fault = [&] { return last.fault; };
  equations.evaluate = [&](const Vector& z) {
    gradient.move_to(h * z);
    middle.u = gradient.middle();
    middle.v = z;
    last = evaluate_middle(gradient, middle, t);
    return last.holds();
  };
  equations.residual = [&] {
    Vector R = p0 - forces_.mass().cwiseProduct(middle.v) + 0.5 * h * middle.force;
    for (const Index i : forces_.held()) R(i) = 0.0;
    return R;
  };
  equations.rounding = [&] { return Vector(0.5 * h * matrix_->stiffness().rounding_of_forces(span_of(middle.u), t)); };
  equations.scale = [&] { return std::max(p0.cwiseAbs().maxCoeff(), h * middle.force.cwiseAbs().maxCoeff()); };
  equations.linearise = [&] {
    AssembledStiffness& stiffness = matrix_->stiffness();
    stiffness.assemble([&](TermId term, std::span<double> H) { gradient.add_derivative(term, H); });
    const auto& derivative = stiffness.add_damping(span_of(middle.u), t, 1.0 / h);
    return matrix_->factorise(derivative, 0.5 * h * h);
  };
  equations.correct = [&](const Vector& R) { return matrix_->solve(R); };
  iterations_ += solve_newton(equations, guesses, t0, &last_solution_).iterations;

  forces_.book_forces(state, middle, h);
  Vector u = gradient.u1(), v = v0 + h * middle.force.cwiseQuotient(forces_.mass());
  forces_.book_reactions(state, forces_.held(), middle.u, [&](Index, Index i) {
    const double inertia = forces_.mass()(i) * (v1(i) - v0(i)), force = h * middle.force(i);
    return StageForces::Reaction{inertia - force, 0.5 * inertia * (v0(i) + v1(i)) - force * middle.v(i)};
  });
  for (const Index i : forces_.held()) u(i) = u1(i), v(i) = v1(i);
  map_of(state.displacement) = u;
  map_of(state.velocity) = v;
}

Admissibility EnergyMomentumMap::evaluate_middle(DiscreteGradient& gradient, Stage& middle, double t) const {
  const auto d = static_cast<std::size_t>(forces_.model().dim());
  middle.force = middle.load = middle.damping = Vector::Zero(middle.u.size());
  Admissibility worst;
  std::vector<double> g(forces_.model().largest_stencil() * d), q(g.size(), 0.0);
  for (Index k = 0; k < forces_.model().term_count(); ++k) {
    const auto term = make_id<TermId>(k);
    const auto nodes = forces_.model().term(term).stencil();
    const auto local_g = std::span(g).first(nodes.size() * d), local_q = std::span(q).first(nodes.size() * d);
    const double J = gradient(term, local_g);
    if (worst.holds()) worst = {term, J};
    if (!worst.holds() && worst.fault.empty()) {
      const auto [potential, i] = forces_.model().term(term);
      worst.fault = potential->fault(i, span_of(gradient.u1()), t, J);
    }
    if (forces_.model().has_forces())
      forces_.kick_drift().load_impulses(term, span_of(middle.u), span_of(middle.v), t, 1.0, local_q);
    for (std::size_t i = 0; i < local_g.size(); ++i) {
      const auto global = index(nodes[i / d]) * forces_.model().dim() + static_cast<Index>(i % d);
      middle.force(global) += local_q[i] - local_g[i];
      middle.load(global) += local_q[i];
    }
    forces_.add_damping(term, middle, t);
  }
  return worst;
}

}  // namespace tempi
