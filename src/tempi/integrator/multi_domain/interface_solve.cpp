// SPDX-License-Identifier: Apache-2.0
// The velocities of the interface over a system step: Newton's method with a matrix that is kept while it serves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tempi/core/error.hpp"
#include "tempi/integrator/multi_domain/blocks.hpp"
#include "tempi/integrator/multi_domain/trial.hpp"
#include "tempi/integrator/one_step/newton.hpp"

namespace tempi {
namespace {

using Vector = Eigen::VectorXd;

constexpr double sought = 1e-14;  // of the interface's equations, relative to the largest impulse in them
constexpr double enough = 1e-12;  // where rounding lets no more
constexpr double slow = 0.05;     // residuals falling by less want a new matrix
constexpr Index dear = 200;       // a new matrix takes as long as so many trials, or longer

// Newton's method with a matrix that stays: false where residuals do not fall fast. At the pace seen the last
// correction leaves less than is sought, and is not looked at before the domains run with it.
bool converge(const StepEquations& equations, Vector& w, const std::vector<Index>& unknown, Index& iterations) {
  double before = 0.0;
  for (;; ++iterations) {
    const Vector R = equations.residual();
    const double size = R.cwiseAbs().maxCoeff() / std::max(equations.scale(), std::numeric_limits<double>::min());
    if (size <= sought) return true;
    const double pace = before > 0.0 ? size / before : 1.0;
    if (before > 0.0 && pace > slow && size <= enough) return true;  // rounding
    if (!std::isfinite(size) || (before > 0.0 && pace > slow)) return false;
    before = size;
    const Vector z = Vector(w(unknown)) + equations.correct(R);
    if (size * pace <= sought) {
      w(unknown) = z;
      ++iterations;
      return true;
    }
    if (!equations.evaluate(z)) return false;
  }
}

}  // namespace

// By the places of its unknowns.
void MultiDomainMap::make_schur(Schur& schur, const State& state, SystemStep step, Domain::Around around) const {
  DomainInterface::Matrix S = interface_.mass();
  S.conservativeResize(inner_from_.back(), inner_from_.back());
  for (std::size_t d = 0; d < all_.size(); ++d) {
    if (all_[d]->is_explicit()) continue;
    const DomainInterface::Matrix wide = distribution(d);
    S -= DomainInterface::Matrix(wide.transpose() * DomainInterface::Matrix(all_[d]->response(around)) * wide);
  }
  schur.A = block(S, unknown_);
  schur.length = step.length;
  schur.fewest = std::numeric_limits<Index>::max();
  schur.more = 0;
  schur.time = step.t0;
  schur.at = state.displacement;
  if (!schur.factors.factorise(schur.A))
    throw SolveError(
        fmt::format("the equations of the interface between domains are singular at t = {:.9g} s, with "
                    "{} unknown components, mostly in {}. Choose a smaller step, or fewer substeps.",
                    step.t0, schur.A.cols(), fmt::join(names_of(singular_components(schur.A, 3)), ", ")));
}

// "y of node 12 at (0.1, 0.2)", of unknowns by their places.
std::vector<std::string> MultiDomainMap::names_of(const std::vector<Index>& places) const {
  const Model& model = forces_.model();
  const auto d = static_cast<std::size_t>(model.dim());
  std::vector<std::string> names;
  for (const Index place : places) {
    const Index unknown = unknown_[static_cast<std::size_t>(place)];
    Index i = 0;
    if (unknown < std::ssize(interface_.psi())) {
      i = interface_.psi()[static_cast<std::size_t>(unknown)];
    } else {
      const auto next = std::ranges::upper_bound(inner_from_, unknown);
      const auto domain = static_cast<std::size_t>(next - inner_from_.begin()) - 1;
      i = interface_.parts()[domain].component_of_whole(
          all_[domain]->inner()[static_cast<std::size_t>(unknown - inner_from_[domain])]);
    }
    const std::size_t node = static_cast<std::size_t>(i) / d;
    names.push_back(fmt::format("{} of node {} at ({:.4g})", "xyz"[static_cast<std::size_t>(i) % d], node,
                                fmt::join(std::span(model.reference()).subspan(node * d, d), ", ")));
  }
  return names;
}

// Components of psi that have a support move as it does, over the step.
void MultiDomainMap::set_known(const State& state, SystemStep step, Vector& w) const {
  const auto& psi = interface_.psi();
  if (interface_.unknown().size() == psi.size()) return;
  Vector u0 = map_of(state.displacement), u1 = u0, none = u0;
  forces_.prescribe(step.t0, u0, none);
  forces_.prescribe(step.t1, u1, none);
  for (std::size_t k = 0; k < psi.size(); ++k)
    if (!std::ranges::binary_search(interface_.unknown(), static_cast<Index>(k)))
      w(static_cast<Index>(k)) = (u1(psi[k]) - u0(psi[k])) / step.length;
}

// The w that makes P - M w + sum C^T early(w) vanish, from w on.
void MultiDomainMap::solve(Trial& trial, const State& state, SystemStep step, const Vector& P, Vector& w,
                           const Schur* ready, Schur& own, Taken& taken) const {
  const auto suits = [&](const Schur& schur) { return std::abs(schur.length - step.length) <= 1e-9 * step.length; };
  if (ready == nullptr || !suits(*ready)) ready = &own;
  const bool stale = ready == &own && own.more >= dear;
  bool fresh = stale || !suits(*ready);
  const auto renew = [&] {
    make_schur(own, state, step);
    ready = &own;
    fresh = true;
  };
  const auto renew_here = [&] {  // where nobody can come back to: for this step alone
    make_schur(own, state, step, Domain::Around::last_trial);
    own.length = 0.0;
    own.at.clear();
  };
  if (fresh) renew();
  const Vector first = w;
  StepEquations equations;
  const Index n = std::ssize(interface_.psi());
  equations.evaluate = [&](const Vector& z) {
    w(unknown_) = z;
    return trial.attempt(w);
  };
  equations.fault = [&] { return trial.fault(); };
  equations.residual = [&] {
    return trial.with_inner(P - interface_.momentum(w.head(n)) + trial.unknown(trial.early()));
  };
  equations.scale = [&] {
    double largest = trial.largest_inner();
    if (P.size() > 0)
      largest = std::max({largest, P.cwiseAbs().maxCoeff(), trial.unknown(trial.early()).cwiseAbs().maxCoeff(),
                          interface_.momentum(w.head(n)).cwiseAbs().maxCoeff()});
    return largest;
  };
  equations.rounding = [&] {
    Vector sum = Vector::Zero(inner_from_.back());
    for (std::size_t d = 0; d < all_.size(); ++d)
      sum += Vector(distribution(d).cwiseAbs().transpose() * all_[d]->rounding());
    return Vector(sum(unknown_));
  };
  const bool joint = std::ranges::any_of(all_, [](const auto& domain) { return !domain->inner().empty(); });
  equations.linearised = true;
  equations.linearise = [&] {
    if (!fresh)
      renew();
    else if (joint)
      renew_here();
    return true;
  };
  equations.correct = [&](const Vector& R) -> Vector { return ready->factors.solve(R); };
  equations.resolution = forces_.resolution(map_of(state.displacement), step.length);
  equations.sought = sought;
  equations.name = "equations of the interface between domains";
  if (trial.attempt(w) && converge(equations, w, unknown_, taken.iterations)) return;
  if (!fresh) renew();
  const Vector v = map_of(taken.v), best = w;
  const StepSolution solution =
      solve_newton(equations, std::array{Vector(best(unknown_)), Vector(first(unknown_)), Vector(v(unknown_))},
                   step.t0);
  w(unknown_) = solution.z;
  taken.iterations += solution.iterations;
}

}  // namespace tempi
