// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/static_equilibrium.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tempi/core/archive.hpp"
#include "tempi/core/error.hpp"

namespace tempi {

void StaticMap::step(State& state, double t0, double h) const {
  Stage start{map_of(state.displacement), Vector::Zero(forces_.mass().size()), {}, {}}, end;
  forces_.require(forces_.evaluate(start, t0));
  if (!found_ || found_->t0 != t0 || found_->h != h || found_->from != start.u) {
    found_.reset();
    found_ = find(start.u, t0, h);
  }
  end = {found_->u, Vector::Zero(start.u.size()), {}, {}};
  forces_.require(forces_.evaluate(end, t0 + h));
  const Vector along = end.u - start.u;
  for (Stage* stage : {&start, &end}) {
    stage->v = along / h;
    forces_.book_forces(state, *stage, 0.5 * h);
    forces_.book_reactions(state, forces_.held(), stage->u, [&](Index, Index i) {
      return StageForces::Reaction{-0.5 * h * stage->force(i), -0.5 * stage->force(i) * along(i)};
    });
  }
  map_of(state.displacement) = end.u;
  std::ranges::fill(state.velocity, 0.0);
}

StaticMap::Found StaticMap::find(const Vector& from, double t0, double h) const {
  const double t1 = t0 + h;
  Vector placed = from, moving = Vector::Zero(from.size());
  forces_.prescribe(t1, placed, moving);
  Stage end{placed, Vector::Zero(from.size()), {}, {}};
  if (!matrix_) {
    Vector ones = Vector::Zero(from.size());
    for (const Index i : forces_.held()) ones(i) = 1.0;
    matrix_ = std::make_unique<StepMatrix>(forces_.model(), ones, forces_.held(), SparseFactors::Kind::symmetric);
  }
  Admissibility last;
  Vector R;
  bool singular = false;
  Vector astray = Vector::Zero(from.size());
  double extent = 0.0;
  for (const double X : forces_.model().reference()) extent = std::max(extent, std::abs(X));
  const double farthest = 1e6 * extent;  // in one iteration: what is left of a singular matrix is rounding
  StepEquations equations;
  equations.name = "equations of equilibrium";
  equations.measure = "the largest force";
  equations.sought = 1e-13;
  equations.whole_first = true;  // what bends far is first stretched by a correction
  equations.evaluate = [&](const Vector& z) {
    end.u = z;
    for (const Index i : forces_.held()) end.u(i) = placed(i);
    last = forces_.evaluate(end, t1);
    R = end.force;
    for (const Index i : forces_.held()) R(i) = 0.0;
    return last.holds();
  };
  equations.fault = [&] { return last.fault; };
  equations.residual = [&] { return R; };
  // Loads and what supports hold them with; of a body that nothing strains whatever there is.
  equations.scale = [&] { return std::max(end.force.cwiseAbs().maxCoeff(), end.load.cwiseAbs().maxCoeff()); };
  equations.rounding = [&] { return matrix_->stiffness().rounding_of_forces(span_of(end.u), t1); };
  equations.resolution = 1e-15 * std::max(from.cwiseAbs().maxCoeff(), placed.cwiseAbs().maxCoeff());
  equations.linearise = [&] {
    singular = !matrix_->factorise(matrix_->stiffness()(span_of(end.u), t1), 1.0);
    if (singular) return false;
    const Vector dz = matrix_->solve(R);  // a matrix that is singular but for rounding has factors
    singular = !(dz.cwiseAbs().maxCoeff() < farthest);
    if (singular) astray = dz;
    return !singular;
  };
  equations.correct = [&](const Vector& r) { return matrix_->solve(r); };
  // From where the body is, with supports moved; or from where a linear body would go, so that an element beside a
  // support that moves far is not turned inside out before anything else has moved.
  std::vector<Vector> guesses;
  if (Stage begun{from, end.v, {}, {}};
      (placed - from).cwiseAbs().maxCoeff() > 0.0 && forces_.evaluate(begun, t1).holds()) {
    const auto& K = matrix_->stiffness()(span_of(from), t1);
    Vector R0 = begun.force - K * (placed - from);
    for (const Index i : forces_.held()) R0(i) = 0.0;
    if (matrix_->factorise(K, 1.0)) guesses.push_back(placed + matrix_->solve(R0));
  }
  guesses.push_back(placed);
  try {
    const StepSolution solution = solve_newton(equations, guesses, t0);
    return {from, end.u, t0, h, solution.iterations};
  } catch (const SolveError& e) {
    if (singular) throw SolveError(fmt::format("at t = {:.9g} s {}", t1, not_held(astray)));
    throw SolveError(
        fmt::format("{} (load step from t = {:.9g} s to {:.9g} s.) Take more load_steps, or look whether the "
                    "load is beyond what the body carries.",
                    e.what(), t0, t1));
  }
}

std::string StaticMap::not_held(const Vector& correction) const {
  const Model& model = forces_.model();
  Index i = 0;
  correction.cwiseAbs().maxCoeff(&i);
  const auto d = static_cast<std::size_t>(model.dim());
  const auto X = model.reference().subspan(static_cast<std::size_t>(i) / d * d, d);
  return fmt::format(
      "the body may move without force, node {} at ({:.4g}) farthest. Hold it by [[fix]] so that it can neither move "
      "nor turn, every part of it; if it is held, it buckles here.",
      i / model.dim(), fmt::join(X, ", "));
}

void StaticMap::take_step(State& state, double t0, double t1) {
  step(state, t0, t1 - t0);
  iterations_ += found_->iterations;
  most_iterations_ = std::max(most_iterations_, found_->iterations);
  ++steps_;
}

Integrator::Measures StaticMap::measures() const {
  return {{"newton_iterations", steps_ > 0 ? static_cast<double>(iterations_) / static_cast<double>(steps_) : 0.0},
          {"most_newton_iterations", static_cast<double>(most_iterations_)}};
}

void StaticMap::save(ArchiveWriter& archive) const {
  archive.put("counts", std::array{iterations_, most_iterations_, steps_});
  archive.put("found", found_.has_value());
  if (!found_) return;
  const auto put = [&](std::string_view name, const Vector& u) {
    archive.put(name, std::vector<double>(u.begin(), u.end()));
  };
  put("found_from", found_->from);
  put("found_at", found_->u);
  archive.put("found_step", std::array{found_->t0, found_->h});
  archive.put("found_by", found_->iterations);
}

void StaticMap::load(ArchiveReader& archive) {
  std::array<Index, 3> counts{};
  archive.get("counts", counts);
  bool has_found = false;
  archive.get("found", has_found);
  std::optional<Found> found;
  if (has_found) {
    std::vector<double> from(static_cast<std::size_t>(forces_.mass().size())), u(from.size());
    std::array<double, 2> step{};
    Index iterations = 0;
    archive.get("found_from", from);
    archive.get("found_at", u);
    archive.get("found_step", step);
    archive.get("found_by", iterations);
    found = Found{map_of(from), map_of(u), step[0], step[1], iterations};
  }
  found_ = std::move(found);
  iterations_ = counts[0];
  most_iterations_ = counts[1];
  steps_ = counts[2];
}

}  // namespace tempi
