// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/softened.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

// Stencils of the library's terms have at most 10 nodes in 3-D: storage on the stack.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 30, 30>;
using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 30, 1>;
using Points = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 10, 10>;  // columns

constexpr double sought = 1e-14;  // residual over the largest force
constexpr double enough = 1e-9;   // where rounding lets no more
constexpr std::size_t most_iterations = 60;
constexpr int most_halvings = 40;

// Displacements of all nodes, as potentials want them. A term reads those of its own nodes: no others are ever set.
std::span<double> room_for_displacements(std::size_t size) {
  thread_local std::vector<double> u;
  if (u.size() < size) u.resize(size);
  return std::span(u).first(size);
}

// One term at positions x + d, and the equations R(d) = dV/dx (x + d) + D d = 0, D = M / tau^2; d = 0 where held.
class LocalProblem {
 public:
  LocalProblem(const LocalPotential& potential, Index k, double t, Vector x, Vector D, Vector free, std::size_t size)
      : potential_(potential), k_(k), t_(t), x_(std::move(x)), D_(std::move(D)), free_(std::move(free)) {
    u_ = room_for_displacements(size);
    place(d_ = Vector::Zero(x_.size()));
  }

  // From d on; false: see trouble().
  bool solve(const Vector& start, double resolution) {
    iterations_ = 0;
    if (!evaluate(start)) return false;
    for (;;) {
      const double scale = std::max(g_.cwiseAbs().maxCoeff(), D_.cwiseProduct(d_).cwiseAbs().maxCoeff());
      const double size = R_.cwiseAbs().maxCoeff() / (scale > 0.0 ? scale : 1.0);
      history_[iterations_++] = size;
      if (size <= sought) return true;
      if (iterations_ == most_iterations || !std::isfinite(size)) return false;
      const Vector correction = -factorise().solve(R_);
      const double largest = correction.cwiseAbs().maxCoeff();
      if (largest <= resolution) return true;
      const int halvings = size <= enough ? 0 : most_halvings;  // nothing but rounding is left to gain
      if (!search(correction, halvings)) return size <= enough || largest <= 100.0 * resolution;
    }
  }

  std::string trouble() const {
    if (iterations_ == 0) return "it is inverted where the iteration begins";
    const auto last = std::span(history_).first(iterations_).last(std::min<std::size_t>(5, iterations_));
    return fmt::format("residuals relative to its largest force after {} iterations: ..., {:.2g}", iterations_,
                       fmt::join(last, ", "));
  }

  double merit_at(const Vector& d) {
    place(d_ = d);
    return merit();
  }

  // Of the d last placed or found:
  double admissibility() const { return admissibility_; }
  const Vector& gradient() const { return g_; }
  std::span<const double> displacements() const { return u_; }
  // V + d D d / 2
  double merit() const { return potential_.energy(k_, u_, t_) + 0.5 * d_.dot(D_.cwiseProduct(d_)); }
  Matrix hessian() const {
    Matrix K = Matrix::Zero(x_.size(), x_.size());
    potential_.add_hessian(k_, u_, t_, {K.data(), static_cast<std::size_t>(K.size())});
    return K;
  }
  // K + D among the free components, 1 on the diagonal elsewhere. Where that is not positive definite D is enlarged
  // until it is: the correction then still leads downhill.
  Eigen::LLT<Matrix> factorise() const {
    const Matrix K = free_.asDiagonal() * hessian() * free_.asDiagonal();
    Matrix A = K;
    Eigen::LLT<Matrix> factors;
    for (double part = 1.0; part < 1e9; part *= 4.0) {
      A.diagonal() = K.diagonal() + (free_.array() > 0.0).select(part * D_, 1.0).matrix();
      factors.compute(A);
      if (factors.info() == Eigen::Success) break;
    }
    return factors;
  }

 private:
  void place(const Vector& d) {
    const auto n = static_cast<std::size_t>(potential_.dim());
    const auto stencil = potential_.stencil(k_);
    for (std::size_t a = 0; a < stencil.size(); ++a)
      for (std::size_t c = 0; c < n; ++c) {
        const auto i = static_cast<Index>(a * n + c);
        u_[ordinal(stencil[a]) * n + c] = x_(i) + d(i);
      }
  }

  bool evaluate(const Vector& d) {
    place(d_ = d);
    g_ = Vector::Zero(d.size());
    admissibility_ = potential_.add_gradient(k_, u_, t_, {g_.data(), static_cast<std::size_t>(g_.size())});
    R_ = free_.cwiseProduct(g_ + D_.cwiseProduct(d));
    return admissibility_ > 0.0 && std::isfinite(admissibility_);
  }

  // Moves d along the correction, halved until the residual is halved or the merit function falls, but no more often
  // than told; false: by nothing.
  bool search(const Vector& correction, int most) {
    const Vector before = d_;
    const double R_before = R_.norm(), slope = R_.dot(correction);
    double part = 1.0;
    for (int halvings = 0; halvings <= most; ++halvings, part *= 0.5) {
      const Vector moved = before + part * correction;
      if (!evaluate(moved)) continue;
      if (R_.norm() <= 0.5 * R_before) return true;
      const double merit_before = merit_at(before);
      if (merit_at(moved) < merit_before + 1e-4 * part * slope) return true;
    }
    evaluate(before);
    return false;
  }

  const LocalPotential& potential_;
  Index k_;
  double t_;
  Vector x_, D_, free_;  // free_: 1 or 0
  std::span<double> u_;
  Vector d_, g_, R_;
  double admissibility_ = 1.0;
  std::array<double, most_iterations> history_{};  // of residuals
  std::size_t iterations_ = 0;
};

class Softened final : public LocalPotential {
 public:
  Softened(const LocalPotential& original, std::span<const double> reference, Softening softening)
      : original_(original), reference_(reference.begin(), reference.end()), softening_(std::move(softening)) {
    TEMPI_ASSERT(static_cast<Index>(softening_.times.size()) == original.size());
    for (Index k = 0; k < size(); ++k) first_.push_back(first_.back() + stencil(k).size());
    TEMPI_ASSERT(softening_.shares.size() == first_.back());
  }

  Index size() const override { return original_.size(); }
  int dim() const override { return original_.dim(); }
  std::span<const NodeId> stencil(Index k) const override { return original_.stencil(k); }
  std::string describe(Index k) const override { return original_.describe(k); }
  double mass(Index k, std::size_t a) const override {
    return softening_.shares[first_[static_cast<std::size_t>(k)] + a];
  }

  double energy(Index k, std::span<const double> u, double t) const override {
    if (time(k) == 0.0) return original_.energy(k, u, t);
    return solved(k, u, t).merit();
  }

  double add_gradient(Index k, std::span<const double> u, double t, std::span<double> g) const override {
    if (time(k) == 0.0) return original_.add_gradient(k, u, t, g);
    if (!gather(k, u).allFinite()) return std::numeric_limits<double>::quiet_NaN();
    const LocalProblem problem = solved(k, u, t);
    for (std::size_t i = 0; i < g.size(); ++i) g[i] += problem.gradient()(static_cast<Index>(i));
    return problem.admissibility();
  }

  // K - K (K + D)^-1 K = D (K + D)^-1 K, the inverse among the free components.
  void add_hessian(Index k, std::span<const double> u, double t, std::span<double> H) const override {
    if (time(k) == 0.0) return original_.add_hessian(k, u, t, H);
    const LocalProblem problem = solved(k, u, t);
    const Matrix K = problem.hessian(), B = free_components(k).asDiagonal() * K;
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> sum(H.data(), K.rows(),
                                                                                           K.cols());
    sum += K - B.transpose() * problem.factorise().solve(B);
  }

  // Between the shares the term is softened with; held components count as free, here as everywhere.
  double stable_step(Index k, std::span<const double> u, std::span<const double> shares) const override {
    if (time(k) == 0.0) return original_.stable_step(k, u, shares);
    return std::hypot(original_.stable_step(k, solved(k, u, 0.0).displacements(), shares), 2.0 * time(k));
  }
  bool step_is_stable(Index k, std::span<const double> u, std::span<const double> shares, double step) const override {
    if (time(k) == 0.0) return original_.step_is_stable(k, u, shares, step);
    if (step <= 2.0 * time(k)) return true;
    const double left = std::sqrt((step - 2.0 * time(k)) * (step + 2.0 * time(k)));
    return original_.step_is_stable(k, solved(k, u, 0.0).displacements(), shares, left);
  }

 private:
  double time(Index k) const { return softening_.times[static_cast<std::size_t>(k)]; }

  Vector gather(Index k, std::span<const double> values) const {
    const auto d = static_cast<Index>(dim());
    const auto nodes = stencil(k);
    Vector local(static_cast<Index>(nodes.size()) * d);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (Index c = 0; c < d; ++c)
        local(static_cast<Index>(a) * d + c) = values[static_cast<std::size_t>(index(nodes[a]) * d + c)];
    return local;
  }

  Vector free_components(Index k) const {
    const auto d = static_cast<Index>(dim());
    const auto nodes = stencil(k);
    Vector free = Vector::Ones(static_cast<Index>(nodes.size()) * d);
    for (Index i = 0; i < free.size() && !softening_.held.empty(); ++i)
      if (softening_.held[static_cast<std::size_t>(index(nodes[static_cast<std::size_t>(i / d)]) * d + i % d)] != 0)
        free(i) = 0.0;
    return free;
  }

  // Largest distance from the first node, by component [m].
  double extent(Index k) const {
    const Vector X = gather(k, reference_);
    double largest = 0.0;
    for (Index i = 0; i < X.size(); ++i) largest = std::max(largest, std::abs(X(i) - X(i % dim())));
    return largest;
  }

  // d that brings the term from x into its reference shape, moved and turned to where it fits x best.
  Vector into_shape(Index k, const Vector& u, const Vector& D) const {
    const auto d = static_cast<Index>(dim()), nodes = u.size() / d;
    const Vector X = gather(k, reference_), x = X + u;
    const Eigen::Map<const Points> from(X.data(), d, nodes), to(x.data(), d, nodes), all(D.data(), d, nodes);
    const Points weight = all.topRows(1) / all.row(0).sum();
    const Points A = from.colwise() - (from * weight.transpose()).col(0);
    const Points B = to.colwise() - (to * weight.transpose()).col(0);
    const Points turn = (B * weight.row(0).asDiagonal()) * A.transpose();
    const Eigen::JacobiSVD<Points> svd(turn, Eigen::ComputeFullU | Eigen::ComputeFullV);
    Points V = svd.matrixV();
    if (svd.matrixU().determinant() * V.determinant() < 0.0) V.col(d - 1) *= -1.0;
    const Points y = svd.matrixU() * V.transpose() * A;
    return (y - B).reshaped();
  }

  // The local problem at its solution y, sought from x or from the reference shape, whichever is lower, then from the
  // other.
  LocalProblem solved(Index k, std::span<const double> u, double t) const {
    const Vector x = gather(k, u), free = free_components(k);
    Vector D(x.size());
    for (Index i = 0; i < D.size(); ++i) D(i) = mass(k, static_cast<std::size_t>(i / dim())) / (time(k) * time(k));
    LocalProblem problem(original_, k, t, x, D, free, u.size());
    const double resolution = 1e-15 * (x.cwiseAbs().maxCoeff() + extent(k));  // what displacements and strains round to
    const Vector nowhere = Vector::Zero(x.size()), shape = free.cwiseProduct(into_shape(k, x, D));
    const bool from_x = problem.merit_at(nowhere) <= problem.merit_at(shape);
    if (problem.solve(from_x ? nowhere : shape, resolution)) return problem;
    const std::string first = problem.trouble();
    if (problem.solve(from_x ? shape : nowhere, resolution)) return problem;
    throw SolveError(
        fmt::format("the implicit equations of {} are not solved at t = {:.9g} s (from its {} shape, {}; from its {} "
                    "shape, {}). Choose a smaller step or alpha.",
                    describe(k), t, from_x ? "present" : "reference", first, from_x ? "reference" : "present",
                    problem.trouble()));
  }

  const LocalPotential& original_;
  std::vector<double> reference_;
  Softening softening_;
  std::vector<std::size_t> first_{0};  // where each term's shares begin, and the end
};

}  // namespace

std::unique_ptr<Potential> soften(const LocalPotential& potential, std::span<const double> reference,
                                  Softening softening) {
  return std::make_unique<Softened>(potential, reference, std::move(softening));
}

}  // namespace tempi
