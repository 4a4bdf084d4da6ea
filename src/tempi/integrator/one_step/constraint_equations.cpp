// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/constraint_equations.hpp"

#include <fmt/format.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>

#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

// What the start of a run may leave of g, relative to the constraint's length, and of J v, to the largest speed.
constexpr double start_tolerance = 1e-6;
// Sine of the angle between a gradient and the span of others below which it is taken to lie in it.
constexpr double dependence = 1e-5;

std::span<const double> span_of(const Eigen::VectorXd& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

}  // namespace

ConstraintEquations::ConstraintEquations(const Model& model)
    : model_(model), start_(find_pattern()), end_(start_), general_(false, start_), symmetric_(true, start_) {
  if (length_.size() == 0) return;
  // The symbolic part must not depend on where a run is when it is first wanted: one that goes on from a checkpoint
  // gives the same bits.
  const Matrix& Jt = gradients(Vector::Zero(model.node_count() * model.dim()), start_);
  const Matrix by_impulse = inverse_mass_.asDiagonal() * Jt;
  general_.factorise(Jt, by_impulse);
  if (symmetric_.is_bordered()) symmetric_.factorise(Jt, by_impulse);
}

ConstraintEquations::Matrix ConstraintEquations::find_pattern() {
  const Model& model = model_;
  const Index d = model.dim(), m = static_cast<Index>(constraints().size());
  const auto inverse_mass = [&](Index i) {
    const auto a = make_id<NodeId>(i / d);
    const bool held = model.supports().support_of(a, static_cast<int>(i % d)) != Supports::none;
    return held ? 0.0 : 1.0 / model.mass(a);
  };
  for (const auto& constraint : constraints())
    for (const NodeId a : constraint->stencil())
      for (Index e = 0; e < d; ++e) touched_.push_back(index(a) * d + e);
  make_distinct(touched_);
  const auto row = [&](NodeId a) { return std::ranges::lower_bound(touched_, index(a) * d) - touched_.begin(); };
  inverse_mass_.resize(std::ssize(touched_));
  std::ranges::transform(touched_, inverse_mass_.begin(), inverse_mass);
  length_.resize(m);
  external_.resize(m);
  std::vector<Eigen::Triplet<double>> entries;
  for (Index c = 0; c < m; ++c) {
    const HolonomicConstraint& constraint = *constraints()[static_cast<std::size_t>(c)];
    length_(c) = constraint.length();
    external_(c) = constraint.is_internal() ? 0.0 : 1.0;
    for (const NodeId a : constraint.stencil())
      for (Index e = 0; e < d; ++e) entries.emplace_back(row(a) + e, c, 0.0);
  }
  Matrix pattern(inverse_mass_.size(), m);
  pattern.setFromTriplets(entries.begin(), entries.end());
  for (Index c = 0; c < m; ++c) {
    auto& place = place_.emplace_back();
    const auto *first = pattern.innerIndexPtr() + pattern.outerIndexPtr()[c],
               *last = pattern.innerIndexPtr() + pattern.outerIndexPtr()[c + 1];
    for (const NodeId a : constraints()[static_cast<std::size_t>(c)]->stencil())
      place.push_back(static_cast<std::int32_t>(std::lower_bound(first, last, row(a)) - pattern.innerIndexPtr()));
  }
  return pattern;
}

ConstraintEquations::Vector ConstraintEquations::values(const Vector& u) const {
  Vector g(length_.size());
  for (Index c = 0; c < g.size(); ++c) g(c) = constraints()[static_cast<std::size_t>(c)]->value(span_of(u));
  return g;
}

const ConstraintEquations::Matrix& ConstraintEquations::gradients(const Vector& u, Matrix& Jt) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  std::vector<double> gradient;
  for (std::size_t c = 0; c < constraints().size(); ++c) {
    gradient.resize(place_[c].size() * d);
    constraints()[c]->gradient(span_of(u), gradient);
    for (std::size_t a = 0; a < place_[c].size(); ++a) std::copy_n(&gradient[a * d], d, Jt.valuePtr() + place_[c][a]);
  }
  return Jt;
}

void ConstraintEquations::set_impulse(const Matrix& Jt, const Vector& lambda, Impulse& impulse) const {
  for (Vector* p : {&impulse.all, &impulse.external})
    if (p->size() == 0) p->setZero(model_.node_count() * model_.dim());
  impulse.all(touched_) = Jt * lambda;
  impulse.external(touched_) = Jt * lambda.cwiseProduct(external_);
}

void ConstraintEquations::add_response(const Impulse& impulse, Vector& v) const {
  v(touched_) += inverse_mass_.cwiseProduct(impulse.all(touched_));
}

// The unknown z is lambda, R = -g / length; A = h J(u1) W J(u)^T is -dR/dz but for the lengths.
void ConstraintEquations::leap(const Vector& u, double h, double t0, const std::function<void(Vector& u)>& place,
                               Leap& leap) const {
  leap.iterations = 0;
  place(leap.u);
  const Matrix& Jt = gradients(u, start_);
  set_impulse(Jt, Vector::Zero(length_.size()), leap.impulse);
  if (length_.size() == 0) return;
  const Matrix by_impulse = inverse_mass_.asDiagonal() * Jt;
  const Vector v = leap.v(touched_);
  Vector R;
  StepEquations equations;
  equations.evaluate = [&](const Vector& z) {
    set_impulse(Jt, z, leap.impulse);
    leap.v(touched_) = v;
    add_response(leap.impulse, leap.v);
    leap.u(touched_) = u(touched_) + h * leap.v(touched_);
    place(leap.u);
    R = -values(leap.u).cwiseQuotient(length_);
    return R.allFinite();
  };
  equations.residual = [&] { return R; };
  equations.scale = [] { return 1.0; };
  equations.name = "constraint equations";
  equations.measure = "the constraints' lengths";
  const double largest_response = h * inverse_mass_.maxCoeff();
  if (largest_response > 0.0) equations.resolution = 1e-15 * u(touched_).cwiseAbs().maxCoeff() / largest_response;
  equations.linearise = [&] { return general_.factorise(gradients(leap.u, end_), by_impulse); };
  equations.correct = [&](const Vector& r) { return general_.solve(r.cwiseProduct(length_) / h); };
  try {
    leap.iterations = solve_newton(equations, std::array{Vector(Vector::Zero(length_.size()))}, t0).iterations;
  } catch (const SolveError& error) {
    Index worst = 0;
    R.cwiseAbs().maxCoeff(&worst);
    throw SolveError(fmt::format("{} Farthest from being kept is {}.", error.what(),
                                 constraints()[static_cast<std::size_t>(worst)]->describe()));
  }
}

ConstraintEquations::Vector ConstraintEquations::multipliers(const Matrix& Jt, const Vector& rate, double t) const {
  if (rate.size() == 0) return rate;
  if (!symmetric_.factorise(Jt, inverse_mass_.asDiagonal() * Jt))
    throw SolveError(fmt::format(
        "the constraints have become dependent on each other at t = {:.9g} s (J M^-1 J^T is singular). Look for parts "
        "that are stretched straight or folded flat, and remove a constraint.",
        t));
  return symmetric_.solve(-rate);
}

const ConstraintEquations::Impulse& ConstraintEquations::project(const Vector& u, Vector& v, double t) const {
  const Matrix& Jt = gradients(u, end_);
  set_impulse(Jt, multipliers(Jt, Jt.transpose() * Vector(v(touched_)), t), projection_);
  add_response(projection_, v);
  return projection_;
}

// By a central difference along v: exact for distances, to about 1e-6 where a surface bends over the shortest length.
ConstraintEquations::Vector ConstraintEquations::curvature(const Vector& u, const Vector& v) const {
  const double speed = v.cwiseAbs().maxCoeff();
  if (speed == 0.0) return Vector::Zero(length_.size());
  const double spacing = 1e-3 * length_.minCoeff() / speed;
  const Vector of_touched = v(touched_);
  const Vector ahead = gradients(u + spacing * v, end_).transpose() * of_touched;
  const Vector behind = gradients(u - spacing * v, end_).transpose() * of_touched;
  return (ahead - behind) / (2.0 * spacing);
}

ConstraintEquations::Vector ConstraintEquations::forces(const Vector& u, const Vector& v, const Vector& a,
                                                        double t) const {
  if (length_.size() == 0) return Vector::Zero(u.size());
  const Vector turning = curvature(u, v);
  const Matrix& Jt = gradients(u, start_);
  Vector all = Vector::Zero(u.size());
  all(touched_) = Jt * multipliers(Jt, Jt.transpose() * Vector(a(touched_)) + turning, t);
  return all;
}

void ConstraintEquations::make_consistent(Vector& u, Vector& v) const {
  if (length_.size() == 0) return;
  const auto name = [&](Index c) { return constraints()[static_cast<std::size_t>(c)]->describe(); };
  const auto largest = [](const Vector& x) {  // the first of them, or one that is not finite
    Index c = 0;
    for (Index i = 0; i < x.size(); ++i)
      if (!(std::abs(x(i)) <= std::abs(x(c))) && !std::isnan(x(c))) c = i;
    return c;
  };
  const Vector g = values(u);
  const Index far = largest(g.cwiseQuotient(length_));
  if (!(std::abs(g(far)) <= start_tolerance * length_(far)))
    throw InputError(
        fmt::format("{} does not keep its constraint at the start (g = {:.6g} m, of the length {:.6g} m; must be below "
                    "{} of it). Give initial positions that do, or correct the constraint.",
                    name(far), g(far), length_(far), start_tolerance));
  require_independent(gradients(u, start_));
  Leap nearest{u, Vector::Zero(u.size()), {}, 0};
  leap(
      u, 1.0, 0.0, [](Vector&) {}, nearest);
  u = nearest.u;

  const Vector rate = gradients(u, start_).transpose() * Vector(v(touched_));
  const double speed = v.cwiseAbs().maxCoeff();
  const Index fast = largest(rate);
  if (!(std::abs(rate(fast)) <= start_tolerance * speed))
    throw InputError(
        fmt::format("the initial velocities change {} at {:.6g} m/s (must be 0: below {} of the largest speed, {:.6g} "
                    "m/s). Take from them the part along its gradient.",
                    name(fast), rate(fast), start_tolerance, speed));
  project(u, v, 0.0);
}

// The pivots of J W J^T, made of diagonal one, are the squared sines of the angles between each gradient and the span
// of those eliminated before it. The shift keeps zero pivots from stopping the factorisation.
void ConstraintEquations::require_independent(const Matrix& Jt) const {
  const auto name = [&](Index c) { return constraints()[static_cast<std::size_t>(c)]->describe(); };
  Matrix columns = inverse_mass_.cwiseSqrt().asDiagonal() * Jt;
  for (Index c = 0; c < columns.cols(); ++c) {
    const double size = columns.col(c).norm();
    if (!(size > 0.0) || !std::isfinite(size))
      throw InputError(
          fmt::format("{} cannot be kept (nothing that is free to move changes it). Remove the constraint, or the "
                      "supports that hold its nodes.",
                      name(c)));
    columns.col(c) /= size;
  }
  const auto depends = [&](Index c) {
    throw InputError(
        fmt::format("the constraints are not independent at the start ({} follows from others). Remove it, or one of "
                    "those.",
                    name(c)));
  };
  if (MultiplierSystem all(true, columns); all.is_bordered()) {
    // By inverse iteration the least eigenvalue, and who has a part in its vector.
    Vector z = Vector::LinSpaced(columns.cols(), 1.0, 2.0);
    double least = all.factorise(columns, columns) ? 1.0 : 0.0;
    for (int i = 0; i < 4 && least > 0.0; ++i) {
      const Vector next = all.solve(z / z.norm());
      least = next.allFinite() ? 1.0 / next.norm() : 0.0;
      if (least > 0.0) z = next;
    }
    Index worst = 0;
    z.cwiseAbs().maxCoeff(&worst);
    if (!(least > dependence * dependence)) depends(worst);
    return;
  }
  Eigen::SimplicialLDLT<Matrix> factors;
  factors.setShift(1e-14);
  factors.compute(Matrix(columns.transpose() * columns));
  const Vector pivots = factors.vectorD();
  for (Index k = 0; k < pivots.size(); ++k)
    if (!(pivots(k) > dependence * dependence)) depends(factors.permutationPinv().indices()(k));
}

}  // namespace tempi
