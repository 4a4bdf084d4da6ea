// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/discrete_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tempi {
namespace {

// Of the gradient of a pair, across the line between its nodes: with more, it depends on more than the distance.
constexpr double most_across = 1e-8;
// What rounding may leave of V(u1) - V(u0) - g.dq, in units of its parts.
constexpr double rounding = 8.0 * std::numeric_limits<double>::epsilon();
// Relative change of r^2 below which the derivative of a pair's is taken at its limit.
constexpr double near_limit = 1e-6;
// The Gauss points between -1 and 1, 1/sqrt(3).
constexpr double gauss = 0.57735026918962576451;

}  // namespace

DiscreteGradient::DiscreteGradient(const Model& model, Vector u0, double t)
    : model_(model), t_(t), u0_(std::move(u0)), dq_(Vector::Zero(u0_.size())), u1_(u0_), middle_(u0_), probe_(u0_) {
  const std::span u(u0_.data(), static_cast<std::size_t>(u0_.size()));
  for (Index i = 0; i < model.term_count(); ++i) {
    const auto [potential, k] = model.term(make_id<TermId>(i));
    energy_.push_back(potential->energy(k, u, t));
  }
}

void DiscreteGradient::move_to(const Vector& dq) {
  dq_ = dq;
  u1_ = u0_ + dq;
  middle_ = probe_ = u0_ + 0.5 * dq;
}

double DiscreteGradient::operator()(TermId id, std::span<double> g) { return evaluate(id, g).admissibility; }

std::vector<double> DiscreteGradient::local(const Model::Term& term, const Vector& u) const {
  std::vector<double> values;
  for (const NodeId a : term.stencil())
    for (Index c = 0; c < model_.dim(); ++c) values.push_back(u(index(a) * model_.dim() + c));
  return values;
}

DiscreteGradient::Quotient DiscreteGradient::evaluate(TermId id, std::span<double> g) {
  const auto term = model_.term(id);
  const auto dim = static_cast<std::size_t>(model_.dim()), nodes = term.stencil().size();
  const auto dq = local(term, dq_), u0 = local(term, u0_), u1 = local(term, u1_);
  Quotient quotient{gradient(term, u1_, g), 0.0, 0.0, false};
  if (!(quotient.admissibility > 0.0)) return quotient;
  d_.assign(g.size(), 0.0);
  quotient.central = nodes == 2 && is_central(term, g, quotient.admissibility);
  if (!quotient.central) {
    quotient.admissibility = gradient(term, middle_, g);
    d_ = dq;
    for (std::size_t c = 0; c < dim && nodes > 1; ++c) {
      double mean = 0.0;
      for (std::size_t i = c; i < d_.size(); i += dim) mean += d_[i] / static_cast<double>(nodes);
      for (std::size_t i = c; i < d_.size(); i += dim) d_[i] -= mean;
    }
  }
  const double V0 = energy_[ordinal(id)];
  const double V1 = term.potential->energy(term.k, {u1_.data(), static_cast<std::size_t>(u1_.size())}, t_);
  double gained = V1 - V0, parts = std::abs(V0) + std::abs(V1);
  for (std::size_t i = 0; i < g.size(); ++i) {
    gained -= g[i] * dq[i];
    quotient.denominator += d_[i] * dq[i];
    parts += std::abs(g[i]) * (std::abs(u0[i]) + std::abs(u1[i]) + (quotient.central ? std::abs(d_[i]) : 0.0));
  }
  if (std::abs(gained) <= rounding * parts || quotient.denominator == 0.0) return quotient;
  quotient.value = gained / quotient.denominator;
  for (std::size_t i = 0; i < g.size(); ++i) g[i] += quotient.value * d_[i];
  return quotient;
}

//   K/2 + c P + d (dc/du1)^T,   K at the midpoint, c the quotient, P dq = d,
//   dc/du1 = [dV(u1) - g - K dq/2 - 2 c d] / (d.dq)
void DiscreteGradient::add_derivative(TermId id, std::span<double> derivative) {
  const auto term = model_.term(id);
  const std::size_t n = term.stencil().size() * static_cast<std::size_t>(model_.dim());
  std::vector<double> DG(n), K(n * n, 0.0), row(n);
  const Quotient quotient = evaluate(id, DG);
  if (quotient.central) return add_pair_derivative(term, quotient, DG, derivative);
  term.potential->as_local()->add_hessian(term.k, {middle_.data(), static_cast<std::size_t>(middle_.size())}, t_, K);
  for (std::size_t i = 0; i < n * n; ++i) derivative[i] += 0.5 * K[i];
  if (quotient.value == 0.0) return;
  const auto dq = local(term, dq_);
  gradient(term, u1_, row);
  for (std::size_t i = 0; i < n; ++i) {
    row[i] -= DG[i] + quotient.value * d_[i];  // g = DG - c d
    for (std::size_t j = 0; j < n; ++j) row[i] -= 0.5 * K[i * n + j] * dq[j];
  }
  const auto dim = static_cast<std::size_t>(model_.dim()), nodes = term.stencil().size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) derivative[i * n + j] += d_[i] * row[j] / quotient.denominator;
    derivative[i * n + i] += quotient.value;
    for (std::size_t j = i % dim; j < n && nodes > 1; j += dim)
      derivative[i * n + j] -= quotient.value / static_cast<double>(nodes);
  }
}

// DG_b = f w, f = [V(r1) - V(r0)] / (w.dw), dw = w1 - w0:   dDG_b/dw1 = f/2 I + k w w1^T,
//   k = [V'(r1)/r1 - f] / (w.dw), or its limit (V''(r1) - f) / (2 r1^2)
void DiscreteGradient::add_pair_derivative(const Model::Term& term, const Quotient& quotient,
                                           std::span<const double> DG, std::span<double> derivative) const {
  const Index dim = model_.dim();
  const auto n = static_cast<std::size_t>(2 * dim);
  const auto dq = local(term, dq_);
  std::vector<double> g(n), H(n * n, 0.0);
  gradient(term, u1_, g);
  const Eigen::Map<const Vector> w(d_.data() + dim, dim), f_w(DG.data() + dim, dim), g_b(g.data() + dim, dim);
  Vector w1 = w;
  for (Index c = 0; c < dim; ++c)
    w1(c) += 0.5 * (dq[static_cast<std::size_t>(dim + c)] - dq[static_cast<std::size_t>(c)]);
  const double f = f_w.dot(w) / w.squaredNorm();
  double k = (g_b.dot(w1) / w1.squaredNorm() - f) / quotient.denominator;
  if (std::abs(quotient.denominator) < near_limit * w1.squaredNorm()) {
    term.potential->as_local()->add_hessian(term.k, {u1_.data(), static_cast<std::size_t>(u1_.size())}, t_, H);
    const Eigen::Map<const Eigen::MatrixXd> K(H.data(), 2 * dim, 2 * dim);
    k = (w1.dot(K.bottomRightCorner(dim, dim) * w1) / w1.squaredNorm() - f) / (2.0 * w1.squaredNorm());
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const Index a = static_cast<Index>(i) % dim, b = static_cast<Index>(j) % dim;
      const double value = (a == b ? 0.5 * f : 0.0) + k * w(a) * w1(b);
      derivative[i * n + j] += (static_cast<Index>(i) < dim) == (static_cast<Index>(j) < dim) ? value : -value;
    }
}

double DiscreteGradient::gradient(const Model::Term& term, const Vector& u, std::span<double> g) const {
  std::ranges::fill(g, 0.0);
  return term.potential->add_gradient(term.k, {u.data(), static_cast<std::size_t>(u.size())}, t_, g);
}

// Whether the force acts along the line between the nodes; if so, g and d.
bool DiscreteGradient::is_central(const Model::Term& term, std::span<double> g, double& admissibility) {
  const Index dim = model_.dim(), a = index(term.stencil()[0]) * dim, b = index(term.stencil()[1]) * dim;
  const Eigen::Map<const Vector> X(model_.reference().data(), u0_.size());
  using Small = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 3, 1>;
  const Small w = X.segment(b, dim) - X.segment(a, dim) + (middle_.segment(b, dim) - middle_.segment(a, dim));
  const Small dw = dq_.segment(b, dim) - dq_.segment(a, dim);
  const double w2 = w.squaredNorm();
  if (!(w2 > 0.0)) return false;
  const Eigen::Map<const Vector> g_b(g.data() + dim, dim);
  double f = 0.0;
  for (const double side : {-gauss, gauss}) {
    const double x = (0.25 * dw.squaredNorm() + side * w.dot(dw)) / w2;  // r^2 / w^2 - 1 at the Gauss point
    const double stretch = x / (1.0 + std::sqrt(1.0 + x));               // r / |w| - 1
    probe_.segment(a, dim) -= 0.5 * stretch * w;
    probe_.segment(b, dim) += 0.5 * stretch * w;
    admissibility = gradient(term, probe_, g);
    probe_.segment(a, dim) = middle_.segment(a, dim);
    probe_.segment(b, dim) = middle_.segment(b, dim);
    if (!(admissibility > 0.0)) return true;
    const double along = g_b.dot(w) / w2;
    if ((g_b - along * w).norm() > most_across * g_b.norm()) return false;
    f += 0.5 * along / (1.0 + stretch);
  }
  for (Index c = 0; c < dim; ++c) {
    const auto i = static_cast<std::size_t>(c), j = i + static_cast<std::size_t>(dim);
    d_[j] = w(c), d_[i] = -w(c);
    g[j] = f * w(c), g[i] = -g[j];
  }
  return true;
}

}  // namespace tempi
